//! Keys: made from a seed, split into more, and the one each thread has of its own.

use std::cell::RefCell;
use std::time::{SystemTime, UNIX_EPOCH};

use super::bits::bits;
use crate::array::Array;
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::ops::gather::take_one;
use crate::shape::display;

thread_local! {
    static STATE: RefCell<Option<Array>> = const { RefCell::new(None) };
}

/// The key of a seed.
pub fn key(seed: u64) -> Result<Array> {
    Array::from_slice(&[(seed >> 32) as u32, seed as u32], &[2])
}

/// Sets the calling thread's key, which calls without a key are made from.
pub fn seed(seed: u64) -> Result<()> {
    let key = key(seed)?;
    STATE.with_borrow_mut(|state| *state = Some(key));
    Ok(())
}

/// Forgets the calling thread's key: the next call without a key begins from the clock.
pub(crate) fn forget() {
    STATE.with_borrow_mut(|state| *state = None);
}

/// The calling thread's key.
pub fn state() -> Result<Array> {
    match STATE.with_borrow(Clone::clone) {
        Some(state) => Ok(state),
        None => {
            seed(milliseconds())?;
            state()
        }
    }
}

/// Makes another key the calling thread's.
pub fn set_state(key: &Array) -> Result<()> {
    check("random", key)?;
    STATE.with_borrow_mut(|state| *state = Some(key.clone()));
    Ok(())
}

/// New keys made from one: an array of shape (num, 2).
pub fn split(key: &Array, num: i32) -> Result<Array> {
    bits(&[num, 2], 4, Some(key))
}

/// The given key, or a new one split from the thread's.
pub(super) fn given_or_next(key: Option<&Array>) -> Result<Array> {
    match key {
        Some(key) => Ok(key.clone()),
        None => next(),
    }
}

fn next() -> Result<Array> {
    let both = split(&state()?, 2)?;
    let after = take_one(&both, 0, Some(0))?;
    STATE.with_borrow_mut(|state| *state = Some(after));
    take_one(&both, 1, Some(0))
}

/// What a thread's key is made from before anybody seeds it, as in MLX.
fn milliseconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

/// Refuses what is no key.
pub(super) fn check(op: &str, key: &Array) -> Result<()> {
    if key.dtype() != Dtype::U32 {
        return Err(Error::Value(format!("[{op}] the key must be uint32 but is {}.", key.dtype())));
    }
    if key.shape() != [2] {
        let shape = display(key.shape());
        return Err(Error::Value(format!("[{op}] the key must have shape (2,) but has {shape}.")));
    }
    Ok(())
}
