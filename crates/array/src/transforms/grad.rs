//! `grad` and `value_and_grad`: how a function's scalar result changes with its inputs.

use crate::array::Array;
use crate::error::{Error, Result};
use crate::ops::full::ones_like;
use crate::shape::display;
use crate::transforms::tracing::traced;
use crate::transforms::vjp::{or_zeros, pull};

/// The derivatives of a function's first result, which must be a scalar, with respect to the inputs of these numbers.
pub fn grad<F>(f: F, argnums: &[usize]) -> impl Fn(&[Array]) -> Result<Vec<Array>>
where
    F: Fn(&[Array]) -> Result<Vec<Array>>,
{
    let argnums = argnums.to_vec();
    move |inputs| Ok(differentiate("grad", &f, &argnums, inputs)?.1)
}

/// What a function gives, and the derivatives of its first result, which must be a scalar, with respect to the inputs of these
/// numbers.
pub fn value_and_grad<F>(f: F, argnums: &[usize]) -> impl Fn(&[Array]) -> Result<(Vec<Array>, Vec<Array>)>
where
    F: Fn(&[Array]) -> Result<Vec<Array>>,
{
    let argnums = argnums.to_vec();
    move |inputs| differentiate("value_and_grad", &f, &argnums, inputs)
}

fn differentiate(
    name: &str,
    f: &dyn Fn(&[Array]) -> Result<Vec<Array>>,
    argnums: &[usize],
    inputs: &[Array],
) -> Result<(Vec<Array>, Vec<Array>)> {
    check_argnums(name, argnums, inputs.len())?;
    let mut given = inputs.to_vec();
    for &i in argnums {
        given[i] = inputs[i].to_tracer()?;
    }
    let outputs = traced(|| f(&given))?;
    let wanted = |arrays: &[Array]| argnums.iter().map(|&i| arrays[i].clone()).collect::<Vec<_>>();
    let value = scalar(name, &outputs)?;
    let found = pull(&wanted(&given), std::slice::from_ref(value), vec![ones_like(value)?])?;
    let gradients = or_zeros(found, &wanted(inputs))?;
    Ok((outputs, gradients))
}

fn check_argnums(name: &str, argnums: &[usize], count: usize) -> Result<()> {
    if argnums.is_empty() {
        return Err(Error::Value(format!("[{name}] argnums must name an input but is empty.")));
    }
    for (at, &i) in argnums.iter().enumerate() {
        if i >= count {
            return Err(Error::Value(format!("[{name}] argnums must be below the {count} inputs but has {i}.")));
        }
        if argnums[..at].contains(&i) {
            return Err(Error::Value(format!("[{name}] argnums must differ but has {i} twice.")));
        }
    }
    Ok(())
}

fn scalar<'a>(name: &str, outputs: &'a [Array]) -> Result<&'a Array> {
    match outputs.first() {
        Some(value) if value.ndim() == 0 => Ok(value),
        Some(value) => {
            let shape = display(value.shape());
            Err(Error::Value(format!("[{name}] the function must give a scalar but gives shape {shape}.")))
        }
        None => Err(Error::Value(format!("[{name}] the function must give a scalar but gives nothing."))),
    }
}
