//! `custom_function`: a function with rules of its own for transforms.

use std::sync::{Arc, Mutex, PoisonError};

use pumice::{Array, CustomFunction};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use super::{call_apart, together};
use crate::error::{Answer, hold, value_error};
use crate::tree;

/// A function with rules of its own for `vjp`, `jvp` and `vmap`, each given by a decorator of that name.
#[pyclass(name = "custom_function", module = "mlx.core", frozen, weakref)]
struct PyCustomFunction {
    function: Py<PyAny>,
    rules: Mutex<Rules>,
}

#[derive(Default)]
struct Rules {
    vjp: Option<Py<PyAny>>,
    jvp: Option<Py<PyAny>>,
    vmap: Option<Py<PyAny>>,
}

impl PyCustomFunction {
    fn set(slf: Py<Self>, set: impl FnOnce(&mut Rules)) -> Py<Self> {
        set(&mut slf.get().rules.lock().unwrap_or_else(PoisonError::into_inner));
        slf
    }
}

#[pymethods]
impl PyCustomFunction {
    #[new]
    fn new(f: Py<PyAny>) -> PyCustomFunction {
        PyCustomFunction { function: f, rules: Mutex::default() }
    }

    /// The rule from primals, cotangents and outputs to the cotangents of the primals.
    fn vjp(slf: Py<Self>, f: Py<PyAny>) -> Py<Self> {
        Self::set(slf, |rules| rules.vjp = Some(f))
    }

    /// The rule from primals and tangents to the tangents of the outputs.
    fn jvp(slf: Py<Self>, f: Py<PyAny>) -> Py<Self> {
        Self::set(slf, |rules| rules.jvp = Some(f))
    }

    /// The rule from inputs and their axes to outputs and theirs.
    fn vmap(slf: Py<Self>, f: Py<PyAny>) -> Py<Self> {
        Self::set(slf, |rules| rules.vmap = Some(f))
    }

    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> Answer<Bound<'py, PyAny>> {
        let py = args.py();
        let given = together(args, kwargs)?;
        let inputs = tree::arrays(given.as_any())?;
        let call = Arc::new(Call {
            function: self.function.clone_ref(py),
            given: tree::outline(given.as_any())?.unbind(),
            result: Mutex::default(),
        });
        let outputs = self.with_rules(py, call.clone()).call(&inputs)?;
        tree::filled(call.result(py)?.bind(py), &mut outputs.into_iter())
    }
}

/// A call: the structure of its arguments and, when it was made, of its result.
struct Call {
    function: Py<PyAny>,
    given: Py<PyAny>,
    result: Mutex<Option<Py<PyAny>>>,
}

impl Call {
    fn run(&self, inputs: &[Array]) -> pumice::Result<Vec<Array>> {
        Python::attach(|py| {
            hold((|| {
                let filled = tree::filled(self.given.bind(py), &mut inputs.iter().cloned())?;
                let found = call_apart(self.function.bind(py), &filled)?;
                let outputs = tree::arrays(&found)?;
                let outline = tree::outline(&found)?.unbind();
                *self.result.lock().unwrap_or_else(PoisonError::into_inner) = Some(outline);
                Ok(outputs)
            })())
        })
    }

    fn result(&self, py: Python<'_>) -> Answer<Py<PyAny>> {
        let result = self.result.lock().unwrap_or_else(PoisonError::into_inner);
        let result = result.as_ref().map(|result| result.clone_ref(py));
        result.ok_or_else(|| value_error("[custom_function] the function must have been called but was not."))
    }

    /// Arrays as the function's positional arguments, alone if there is one.
    fn arguments<'py>(&self, py: Python<'py>, arrays: &[Array]) -> Answer<Bound<'py, PyAny>> {
        let both = tree::filled(self.given.bind(py), &mut arrays.iter().cloned())?;
        Ok(tree::unwrapped(both.get_item(0)?.cast::<PyTuple>()?)?)
    }

    /// Arrays in the structure of what the function gave.
    fn results<'py>(&self, py: Python<'py>, arrays: &[Array]) -> Answer<Bound<'py, PyAny>> {
        tree::filled(self.result(py)?.bind(py), &mut arrays.iter().cloned())
    }
}

impl PyCustomFunction {
    fn with_rules(&self, py: Python<'_>, call: Arc<Call>) -> CustomFunction {
        let rules = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
        let own = call.clone();
        let mut function = CustomFunction::new(move |inputs| own.run(inputs));
        if let Some(rule) = &rules.vjp {
            let (rule, call) = (rule.clone_ref(py), call.clone());
            function = function.vjp(move |primals, cotangents, outputs| {
                Python::attach(|py| {
                    hold((|| {
                        let given =
                            (call.arguments(py, primals)?, call.results(py, cotangents)?, call.results(py, outputs)?);
                        tree::arrays(&rule.bind(py).call1(given)?)
                    })())
                })
            });
        }
        if let Some(rule) = &rules.jvp {
            let (rule, call) = (rule.clone_ref(py), call.clone());
            function = function.jvp(move |primals, tangents| {
                Python::attach(|py| {
                    hold((|| {
                        let given = (call.arguments(py, primals)?, call.arguments(py, tangents)?);
                        tree::arrays(&rule.bind(py).call1(given)?)
                    })())
                })
            });
        }
        if let Some(rule) = &rules.vmap {
            let (rule, call) = (rule.clone_ref(py), call);
            function =
                function.vmap(move |inputs, axes| Python::attach(|py| hold(mapped(py, &rule, &call, inputs, axes))));
        }
        function
    }
}

type Mapped = Vec<(Array, Option<usize>)>;

fn mapped(py: Python<'_>, rule: &Py<PyAny>, call: &Call, inputs: &[Array], axes: &[Option<usize>]) -> Answer<Mapped> {
    let given = call.arguments(py, inputs)?;
    let places = match axes {
        [one] => one.into_pyobject(py)?.into_any(),
        several => PyTuple::new(py, several)?.into_any(),
    };
    let found = rule.bind(py).call1((given, places))?;
    let (outputs, places) = (found.get_item(0)?, found.get_item(1)?);
    let outputs = tree::arrays(&outputs)?;
    let is_tree = places.is_instance_of::<PyTuple>() || places.is_instance_of::<PyList>();
    let places: Vec<Option<usize>> = match is_tree {
        true => places.extract()?,
        false => vec![places.extract()?; outputs.len()],
    };
    Ok(outputs.into_iter().zip(places).collect())
}

/// Adds the class.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyCustomFunction>()
}
