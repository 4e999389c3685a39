//! `checkpoint`: a function whose intermediate results are computed again for its derivatives instead of being kept.

use std::sync::Arc;

use crate::array::Array;
use crate::error::Result;
use crate::ops::depends::depends;
use crate::transforms::{CustomFunction, vjp};

/// The function, taking less memory under `grad` and `vjp`: it is run again when its derivatives are computed.
pub fn checkpoint<F>(f: F) -> impl Fn(&[Array]) -> Result<Vec<Array>>
where
    F: Fn(&[Array]) -> Result<Vec<Array>> + Send + Sync + 'static,
{
    let f = Arc::new(f);
    let again = f.clone();
    let function = CustomFunction::new(move |inputs| f(inputs)).vjp(move |inputs, cotangents, _| {
        // Not before the cotangents are there, or everything would be kept after all.
        let inputs = depends(inputs, cotangents)?;
        Ok(vjp(|inputs: &[Array]| again(inputs), &inputs, cotangents)?.1)
    });
    move |inputs| function.call(inputs)
}
