//! Arrays of other libraries through DLPack.

use pumice::Array;
use pyo3::prelude::*;

use crate::error::{Answer, value_error};

/// The array that an object with `__dlpack__` holds, copied.
pub fn import(object: &Bound<'_, PyAny>) -> Answer<Array> {
    Err(value_error(format!("[from_dlpack] {} cannot be read.", object.get_type())))
}
