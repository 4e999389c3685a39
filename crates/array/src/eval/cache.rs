//! What evaluation made once and uses again: compiled kernels and block programs, by their exact keys.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use pumice_kernel::Kernel;

use crate::cpu::block::BlockProgram;
use crate::device::the_gpu;
use crate::error::Result;
use crate::eval::hash::BuildWordHasher;
use crate::launch::{Build, Compiled, PendingCompiled};
use crate::op::Key;

type Table<T> = OnceLock<RwLock<HashMap<Key, T, BuildWordHasher>>>;

static KERNELS: Table<Found> = OnceLock::new();
static PROGRAMS: Table<Arc<BlockProgram>> = OnceLock::new();

/// A kernel that is there, or that the driver is compiling.
#[derive(Clone)]
pub(crate) enum Found {
    Ready(Compiled),
    Pending(Arc<PendingCompiled>),
}

/// The compiled kernel of a key; waits for the driver.
pub(crate) fn kernel(key: &Key, build: impl FnOnce() -> Result<Kernel>) -> Result<Compiled> {
    let kernel = match find(&KERNELS, key) {
        Some(Found::Ready(kernel)) => return Ok(kernel),
        Some(Found::Pending(pending)) => pending.wait()?,
        None => the_gpu()?.compile(&build()?, build_kind())?,
    };
    insert(&KERNELS, key, Found::Ready(kernel.clone()));
    Ok(kernel)
}

/// The kernel of a key, if it is there; otherwise the driver compiles it in the background from now on.
pub(crate) fn kernel_later(key: &Key, build: impl FnOnce() -> Result<Kernel>) -> Result<Found> {
    let pending = match find(&KERNELS, key) {
        Some(Found::Ready(kernel)) => return Ok(Found::Ready(kernel)),
        Some(Found::Pending(pending)) => pending,
        None => Arc::new(the_gpu()?.compile_later(&build()?, build_kind())?),
    };
    let found = if pending.ready() { Found::Ready(pending.wait()?) } else { Found::Pending(pending) };
    insert(&KERNELS, key, found.clone());
    Ok(found)
}

/// The block program of a key.
pub(crate) fn program(key: &Key, build: impl FnOnce() -> Result<Kernel>) -> Result<Arc<BlockProgram>> {
    if let Some(program) = find(&PROGRAMS, key) {
        return Ok(program);
    }
    let program = Arc::new(BlockProgram::new(&build()?)?);
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

/// `PUMICE_CHECKED=1` tests every index of the built-in kernels too.
fn build_kind() -> Build {
    static CHECKED: OnceLock<bool> = OnceLock::new();
    match CHECKED.get_or_init(|| std::env::var_os("PUMICE_CHECKED").is_some_and(|v| v == "1")) {
        true => Build::Checked,
        false => Build::Fast,
    }
}
