//! `grad` and `value_and_grad`.

use std::cell::RefCell;

use pumice::Array;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use super::{Transform, Transformed};
use crate::array::PyArray;
use crate::error::{Answer, Failure, hold, value_error};
use crate::tree;

/// Which arguments derivatives are taken of, and whether the value is given too.
pub(super) struct Gradient {
    numbers: Vec<i64>,
    names: Vec<String>,
    with_value: bool,
}

impl Gradient {
    fn name(&self) -> &'static str {
        if self.with_value { "value_and_grad" } else { "grad" }
    }

    fn new(numbers: Option<&Bound<'_, PyAny>>, names: Option<&Bound<'_, PyAny>>, with_value: bool) -> Answer<Gradient> {
        let names = match names {
            None => Vec::new(),
            Some(names) if names.is_instance_of::<PyString>() => vec![names.extract()?],
            Some(names) => names.extract()?,
        };
        let numbers = match numbers {
            None if names.is_empty() => vec![0],
            None => Vec::new(),
            Some(numbers) => numbers.extract::<i64>().map(|n| vec![n]).or_else(|_| numbers.extract())?,
        };
        let gradient = Gradient { numbers, names, with_value };
        gradient.refuse_odd_numbers()?;
        Ok(gradient)
    }

    fn refuse_odd_numbers(&self) -> Answer<()> {
        let name = self.name();
        if self.numbers.is_empty() && self.names.is_empty() {
            return Err(value_error(format!("[{name}] an argument must be named but none is.")));
        }
        for (at, &n) in self.numbers.iter().enumerate() {
            if n < 0 {
                return Err(value_error(format!(
                    "[{name}] the number of an argument must not be negative but is {n}."
                )));
            }
            if self.numbers[..at].contains(&n) {
                return Err(value_error(format!("[{name}] arguments must differ but {n} comes twice.")));
            }
        }
        Ok(())
    }

    pub(super) fn call<'py>(
        &self,
        function: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> Answer<Bound<'py, PyAny>> {
        let py = args.py();
        let wanted = self.wanted(args, kwargs)?;
        let primals = tree::only_arrays(wanted.as_any())?;
        let result = RefCell::new(None);
        let traced = |inputs: &[Array]| {
            hold((|| {
                let filled = tree::filled(wanted.as_any(), &mut inputs.iter().cloned())?;
                let given = self.run(function, args, kwargs, filled.cast::<PyTuple>()?)?;
                let value = self.value(&given)?;
                result.replace(Some(given));
                Ok(vec![value])
            })())
        };
        let all: Vec<usize> = (0..primals.len()).collect();
        let (_, gradients) = pumice::value_and_grad(traced, &all)(&primals)?;
        let gradients = tree::filled(wanted.as_any(), &mut gradients.into_iter())?;
        let gradients = self.arranged(gradients.cast::<PyTuple>()?)?;
        match self.with_value {
            false => Ok(gradients),
            true => {
                let value = result.take().expect("the function was called");
                Ok(PyTuple::new(py, [value, gradients])?.into_any())
            }
        }
    }

    /// The arguments of which derivatives are taken, those by number before those by name.
    fn wanted<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> Answer<Bound<'py, PyTuple>> {
        let name = self.name();
        let mut wanted = Vec::new();
        for &n in &self.numbers {
            let argument = args.get_item(n as usize).map_err(|_| {
                let count = args.len();
                value_error(format!("[{name}] argument {n} must be given but there are {count} positional ones."))
            })?;
            wanted.push(argument);
        }
        for key in &self.names {
            let argument = kwargs.and_then(|kwargs| kwargs.get_item(key).transpose()).transpose()?;
            let missing = || value_error(format!("[{name}] argument '{key}' must be given by name but is not."));
            wanted.push(argument.ok_or_else(missing)?);
        }
        Ok(PyTuple::new(args.py(), wanted)?)
    }

    /// Calls the function with other arguments in place of those that derivatives are taken of.
    fn run<'py>(
        &self,
        function: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
        with: &Bound<'py, PyTuple>,
    ) -> Answer<Bound<'py, PyAny>> {
        let py = args.py();
        let mut given: Vec<_> = args.iter().collect();
        let named = kwargs.map_or_else(|| Ok(PyDict::new(py)), |kwargs| kwargs.copy())?;
        let (by_number, by_name): (Vec<_>, Vec<_>) = {
            let mut all: Vec<_> = with.iter().collect();
            let rest = all.split_off(self.numbers.len());
            (all, rest)
        };
        by_number.into_iter().zip(&self.numbers).for_each(|(argument, &n)| given[n as usize] = argument);
        for (argument, key) in by_name.into_iter().zip(&self.names) {
            named.set_item(key, argument)?;
        }
        Ok(function.call(PyTuple::new(py, given)?, Some(&named))?)
    }

    /// The value that derivatives are taken of: what the function gives, or the first of a tuple.
    fn value(&self, given: &Bound<'_, PyAny>) -> Answer<Array> {
        let refusal = || -> Failure {
            let found = given.get_type();
            value_error(format!("[{}] the function must give a scalar array but gives {found}.", self.name()))
        };
        let first = match given.cast_exact::<PyTuple>() {
            Ok(tuple) if self.with_value => tuple.get_item(0).map_err(|_| refusal())?,
            _ => given.clone(),
        };
        Ok(first.cast::<PyArray>().map_err(|_| refusal())?.get().array())
    }

    /// Gradients as callers want them: alone, as a tuple, or beside a dictionary of those by name.
    fn arranged<'py>(&self, gradients: &Bound<'py, PyTuple>) -> Answer<Bound<'py, PyAny>> {
        let py = gradients.py();
        let by_number = match self.numbers.len() {
            0 => py.None().into_bound(py),
            1 => gradients.get_item(0)?,
            n => gradients.get_slice(0, n).into_any(),
        };
        if self.names.is_empty() {
            return Ok(by_number);
        }
        let by_name = PyDict::new(py);
        for (i, key) in self.names.iter().enumerate() {
            by_name.set_item(key, gradients.get_item(self.numbers.len() + i)?)?;
        }
        Ok(PyTuple::new(py, [by_number, by_name.into_any()])?.into_any())
    }
}

/// A function that gives the gradient of a function's scalar result.
#[pyfunction]
#[pyo3(signature = (fun, argnums=None, argnames=None))]
fn grad(
    fun: Bound<'_, PyAny>,
    argnums: Option<&Bound<'_, PyAny>>,
    argnames: Option<&Bound<'_, PyAny>>,
) -> Answer<Transformed> {
    Ok(Transformed::new(fun, Transform::Gradient(Gradient::new(argnums, argnames, false)?))?)
}

/// A function that gives a function's value and the gradient of its first, scalar, result.
#[pyfunction]
#[pyo3(signature = (fun, argnums=None, argnames=None))]
fn value_and_grad(
    fun: Bound<'_, PyAny>,
    argnums: Option<&Bound<'_, PyAny>>,
    argnames: Option<&Bound<'_, PyAny>>,
) -> Answer<Transformed> {
    Ok(Transformed::new(fun, Transform::Gradient(Gradient::new(argnums, argnames, true)?))?)
}

/// Adds the functions.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(grad, module)?)?;
    module.add_function(wrap_pyfunction!(value_and_grad, module)?)
}
