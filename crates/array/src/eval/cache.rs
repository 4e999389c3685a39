//! What evaluation made once and uses again: compiled kernels and block programs, by their exact keys.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use pumice_kernel::Kernel;

use crate::cpu::block::BlockProgram;
use crate::device::the_gpu;
use crate::error::Result;
use crate::launch::{Build, Compiled};
use crate::op::Key;

type Table<T> = OnceLock<RwLock<HashMap<Key, T>>>;

static KERNELS: Table<Compiled> = OnceLock::new();
static PROGRAMS: Table<Arc<BlockProgram>> = OnceLock::new();

/// The compiled kernel of a key.
pub(crate) fn kernel(key: &Key, build: impl FnOnce() -> Result<Kernel>) -> Result<Compiled> {
    find_or_make(&KERNELS, key, || the_gpu()?.compile(&build()?, build_kind()))
}

/// The block program of a key.
pub(crate) fn program(key: &Key, build: impl FnOnce() -> Result<Kernel>) -> Result<Arc<BlockProgram>> {
    find_or_make(&PROGRAMS, key, || Ok(Arc::new(BlockProgram::new(&build()?)?)))
}

fn find_or_make<T: Clone>(table: &'static Table<T>, key: &Key, make: impl FnOnce() -> Result<T>) -> Result<T> {
    let table = table.get_or_init(RwLock::default);
    if let Some(found) = table.read().unwrap_or_else(PoisonError::into_inner).get(key) {
        return Ok(found.clone());
    }
    let made = make()?;
    table.write().unwrap_or_else(PoisonError::into_inner).insert(key.clone(), made.clone());
    Ok(made)
}

/// `PUMICE_CHECKED=1` tests every index of the built-in kernels too.
fn build_kind() -> Build {
    static CHECKED: OnceLock<bool> = OnceLock::new();
    match CHECKED.get_or_init(|| std::env::var_os("PUMICE_CHECKED").is_some_and(|v| v == "1")) {
        true => Build::Checked,
        false => Build::Fast,
    }
}
