//! `compile`: a function that is run once per kind of arguments; what it did with them is done again without it.
//!
//! A kind is the tree's structure, its constants, the arrays' shapes and types, and the stream. Captured state is one
//! more argument, and what becomes of it one more result. A shapeless function is run again for other sizes only where what it did
//! holds sizes (a reshape, a slice).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use pumice::Array;
use pumice::transforms::{Program, Programs};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

use super::{Transform, Transformed, call_apart, together};
use crate::array::PyArray;
use crate::captured;
use crate::error::{Answer, hold, value_error};
use crate::tree;

static DISABLED: LazyLock<AtomicBool> = LazyLock::new(|| std::env::var_os("MLX_DISABLE_COMPILE").is_some().into());

/// What a compiled function captures, and what it did for each kind of arguments.
pub(super) struct Compile {
    inputs: Option<Py<PyAny>>,
    outputs: Option<Py<PyAny>>,
    programs: Programs<Vec<Mark>, Arc<Outline>>,
}

/// What a tree is but for its arrays.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Mark {
    Tree(usize, usize),
    Text(String),
    Int(i64),
    Float(u64),
    Bool(bool),
    Nothing,
    Array,
}

/// The structure of what a function gave, and how many arrays it holds.
struct Outline {
    result: Py<PyAny>,
    results: usize,
}

impl Compile {
    pub(super) fn call<'py>(
        &self,
        function: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> Answer<Bound<'py, PyAny>> {
        let py = args.py();
        let given = together(args, kwargs)?;
        let mut marks = Vec::new();
        mark(given.as_any(), &mut marks)?;
        let mut inputs = tree::arrays(given.as_any())?;
        let own = inputs.len();
        if let Some(state) = &self.inputs {
            inputs.extend(captured::read(state.bind(py))?);
        }
        // Transforms must see what the function does to what they follow.
        if DISABLED.load(Ordering::Relaxed) || inputs.iter().any(Array::is_tracer) {
            return Ok(function.call(args, kwargs)?);
        }
        let trace = || self.trace(function, given.as_any(), &inputs, own);
        let (program, outline) = self.programs.find_or(marks, &inputs, trace)?;
        let mut outputs = program.call(&inputs);
        let state = outputs.split_off(outline.results);
        if let Some(captured) = &self.outputs {
            captured::write(captured.bind(py), &state)?;
        }
        tree::filled(outline.result.bind(py), &mut outputs.into_iter())
    }

    /// Runs the function with arrays that have no values, in its arguments and in the state that it captures.
    fn trace<'py>(
        &self,
        function: &Bound<'py, PyAny>,
        given: &Bound<'py, PyAny>,
        inputs: &[Array],
        own: usize,
    ) -> Answer<(Program, Arc<Outline>)> {
        let py = given.py();
        let result = std::cell::RefCell::new(None);
        let traced = |traces: &[Array]| {
            hold((|| {
                let filled = tree::filled(given, &mut traces[..own].iter().cloned())?;
                if let Some(state) = &self.inputs {
                    captured::write(state.bind(py), &traces[own..])?;
                }
                let found = call_apart(function, &filled)?;
                let mut outputs = tree::arrays(&found)?;
                result.replace(Some((tree::outline(&found)?.unbind(), outputs.len())));
                if let Some(state) = &self.outputs {
                    outputs.extend(captured::read(state.bind(py))?);
                }
                Ok(outputs)
            })())
        };
        let program = self.programs.trace(&traced, inputs);
        if let Some(state) = &self.inputs {
            captured::write(state.bind(py), &inputs[own..])?;
        }
        let program = program?;
        let (result, results) = result.take().expect("the function was called");
        Ok((program, Arc::new(Outline { result, results })))
    }
}

/// Notes what a tree of arguments is.
fn mark(tree: &Bound<'_, PyAny>, marks: &mut Vec<Mark>) -> Answer<()> {
    let node = |marks: &mut Vec<Mark>, n: usize| marks.push(Mark::Tree(tree.get_type().as_ptr() as usize, n));
    if tree.is_instance_of::<PyArray>() {
        marks.push(Mark::Array);
    } else if let Ok(tuple) = tree.cast::<PyTuple>() {
        node(marks, tuple.len());
        tuple.iter().try_for_each(|item| mark(&item, marks))?;
    } else if let Ok(list) = tree.cast::<PyList>() {
        node(marks, list.len());
        list.iter().try_for_each(|item| mark(&item, marks))?;
    } else if let Ok(dict) = tree.cast::<PyDict>() {
        node(marks, dict.len());
        dict.iter().try_for_each(|(key, item)| {
            mark(&key, marks)?;
            mark(&item, marks)
        })?;
    } else {
        marks.push(constant(tree)?);
    }
    Ok(())
}

fn constant(leaf: &Bound<'_, PyAny>) -> Answer<Mark> {
    Ok(match leaf {
        _ if leaf.is_none() => Mark::Nothing,
        _ if leaf.is_instance_of::<PyBool>() => Mark::Bool(leaf.extract()?),
        _ if leaf.is_instance_of::<PyInt>() => Mark::Int(leaf.extract()?),
        _ if leaf.is_instance_of::<PyFloat>() => Mark::Float(leaf.extract::<f64>()?.to_bits()),
        _ if leaf.is_instance_of::<PyString>() => Mark::Text(leaf.extract()?),
        _ => {
            let found = leaf.get_type();
            return Err(value_error(format!(
                "[compile] arguments must be trees of arrays, numbers, strings or None but hold {found}."
            )));
        }
    })
}

/// A function that is run once per kind of arguments; where it is shapeless, arrays of other sizes are of the same kind.
#[pyfunction]
#[pyo3(signature = (fun, inputs=None, outputs=None, shapeless=false))]
fn compile(
    fun: Bound<'_, PyAny>,
    inputs: Option<Py<PyAny>>,
    outputs: Option<Py<PyAny>>,
    shapeless: bool,
) -> Answer<Transformed> {
    let compile = Compile { inputs, outputs, programs: Programs::new(shapeless) };
    Ok(Transformed::new(fun, Transform::Compile(compile))?)
}

/// Makes compiled functions plain ones.
#[pyfunction]
fn disable_compile() {
    DISABLED.store(true, Ordering::Relaxed);
}

/// Makes compiled functions compiled ones again.
#[pyfunction]
fn enable_compile() {
    DISABLED.store(false, Ordering::Relaxed);
}

/// Adds the functions.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(compile, module)?)?;
    module.add_function(wrap_pyfunction!(disable_compile, module)?)?;
    module.add_function(wrap_pyfunction!(enable_compile, module)?)
}
