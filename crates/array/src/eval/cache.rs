//! What evaluation made once and uses again: compiled kernels and block programs, by their exact keys.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use pumice_kernel::Kernel;

use crate::cpu::block::BlockProgram;
use crate::debug;
use crate::device::the_gpu;
use crate::error::Result;
use crate::eval::hash::BuildWordHasher;
use crate::eval::switches;
use crate::launch::{Build, Compiled, PendingCompiled};
use crate::op::Key;

type Table<T> = OnceLock<RwLock<HashMap<Key, T, BuildWordHasher>>>;

/// By their builds: fast, checked.
static KERNELS: [Table<Found>; 2] = [const { OnceLock::new() }; 2];
static PROGRAMS: Table<Arc<BlockProgram>> = OnceLock::new();

/// A kernel that is there, or that the driver is compiling.
#[derive(Clone)]
pub(crate) enum Found {
    Ready(Compiled),
    Pending(Arc<PendingCompiled>),
}

/// The compiled kernel of a key; waits for the driver.
pub(crate) fn kernel(key: &Key, build: impl FnOnce() -> Result<Kernel>) -> Result<Compiled> {
    let kernel = match find(kernels(), key) {
        Some(Found::Ready(kernel)) => return Ok(kernel),
        Some(Found::Pending(pending)) => pending.wait()?,
        None => the_gpu()?.compile(&build()?, build_kind())?,
    };
    insert(kernels(), key, Found::Ready(kernel.clone()));
    Ok(kernel)
}

/// The kernel of a key, if it is there; otherwise the driver compiles it in the background from now on.
pub(crate) fn kernel_later(key: &Key, build: impl FnOnce() -> Result<Kernel>) -> Result<Found> {
    let pending = match find(kernels(), key) {
        Some(Found::Ready(kernel)) => return Ok(Found::Ready(kernel)),
        Some(Found::Pending(pending)) => pending,
        None => Arc::new(the_gpu()?.compile_later(&build()?, build_kind())?),
    };
    let found = if pending.ready() { Found::Ready(pending.wait()?) } else { Found::Pending(pending) };
    insert(kernels(), key, found.clone());
    Ok(found)
}

/// The block program of a key.
pub(crate) fn program(key: &Key, build: impl FnOnce() -> Result<Kernel>) -> Result<Arc<BlockProgram>> {
    if let Some(program) = find(&PROGRAMS, key) {
        return Ok(program);
    }
    let kernel = build()?;
    debug::say(debug::KERNELS, || kernel.to_string());
    let program = Arc::new(BlockProgram::new(&kernel)?);
    insert(&PROGRAMS, key, program.clone());
    Ok(program)
}

fn find<T: Clone>(table: &'static Table<T>, key: &Key) -> Option<T> {
    let table = table.get_or_init(RwLock::default);
    table.read().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
}

fn insert<T>(table: &'static Table<T>, key: &Key, value: T) {
    let table = table.get_or_init(RwLock::default);
    table.write().unwrap_or_else(PoisonError::into_inner).insert(key.clone(), value);
}

fn kernels() -> &'static Table<Found> {
    &KERNELS[switches::checked() as usize]
}

fn build_kind() -> Build {
    if switches::checked() { Build::Checked } else { Build::Fast }
}

/// The first index out of bounds that a checked kernel met since this was last asked. Whoever waits for results asks: until then
/// nobody can know. Of two threads that wait, either may be told.
pub(crate) fn violations() -> Result<()> {
    if !switches::checked() {
        return Ok(());
    }
    let table = kernels().get_or_init(RwLock::default).read().unwrap_or_else(PoisonError::into_inner);
    let mut ready = table.values().filter_map(|found| match found {
        Found::Ready(kernel) => Some(kernel),
        Found::Pending(_) => None,
    });
    ready.try_for_each(|kernel| kernel.report(the_gpu()?.stream()))
}
