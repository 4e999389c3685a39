//! The array's operators: Python's numbers take the array's type, and what is no operand is refused as MLX does.

// The slots that #[pymethods] writes for methods of a macro count as ours.
#![allow(unsafe_op_in_unsafe_fn)]

use pumice::scalar::{Operand, Weak};
use pumice::{Array, Result};
use pyo3::basic::CompareOp;
use pyo3::prelude::*;
use pyo3::types::PyBool;

use pumice::ops::{binary, matmul, unary};

use crate::array::{Given, PyArray};
use crate::convert::{Value, value};
use crate::error::{Answer, type_error, value_error};

type Binary = fn(&Value, &Value) -> Result<Array>;

/// The op on an array and an object, in this order.
fn apply(op: Binary, verb: &str, array: &PyArray, other: &Bound<'_, PyAny>) -> Answer<PyArray> {
    let (a, b) = operands(verb, array, other)?;
    Ok(op(&a, &b)?.into())
}

/// The op on an object and an array, in this order.
fn reflected(op: Binary, verb: &str, array: &PyArray, other: &Bound<'_, PyAny>) -> Answer<PyArray> {
    let (a, b) = operands(verb, array, other)?;
    Ok(op(&b, &a)?.into())
}

/// The object becomes the op's result.
fn in_place(op: Binary, verb: &str, array: &PyArray, other: &Bound<'_, PyAny>) -> Answer<()> {
    let (a, b) = operands(verb, array, other)?;
    array.replace(op(&a, &b)?);
    Ok(())
}

fn operands(verb: &str, array: &PyArray, other: &Bound<'_, PyAny>) -> Answer<(Value, Value)> {
    let array = array.array();
    match value(other)? {
        Some(Value::Foreign(other)) => {
            let other = pumice::ops::astype::astype(&other, array.dtype())?;
            Ok((Value::Array(array), Value::Array(other)))
        }
        Some(other) => Ok((Value::Array(array), other)),
        None => Err(refusal(verb, other)),
    }
}

fn refusal(verb: &str, other: &Bound<'_, PyAny>) -> crate::error::Failure {
    if other.is_none() {
        return type_error(format!("[{verb}] an array or a number is expected beside an array but None was given."));
    }
    let name = other.get_type().name().map_or_else(|_| "object".to_string(), |name| name.to_string());
    value_error(format!("Cannot perform {verb} on an mlx.core.array and {name}"))
}

/// The op on whole numbers only: operators refuse others as invalid arguments.
fn apply_whole(op: Binary, verb: &str, array: &PyArray, other: &Bound<'_, PyAny>) -> Answer<PyArray> {
    refuse_inexact(verb, array, other)?;
    apply(op, verb, array, other)
}

fn in_place_whole(op: Binary, verb: &str, array: &PyArray, other: &Bound<'_, PyAny>) -> Answer<()> {
    refuse_inexact(verb, array, other)?;
    in_place(op, verb, array, other)
}

fn refuse_inexact(verb: &str, array: &PyArray, other: &Bound<'_, PyAny>) -> Answer<()> {
    let (a, b) = operands(verb, array, other)?;
    let inexact = |value: &Value| match value.operand() {
        Weak::Array(array) => array.dtype().is_inexact(),
        Weak::Float(_) | Weak::Complex(_) => true,
        _ => false,
    };
    match inexact(&a) || inexact(&b) {
        true => Err(value_error(format!("Floating point types not allowed with {verb}."))),
        false => Ok(()),
    }
}

/// Integers divided in place would no longer be integers.
fn divide_in_place(array: &PyArray, other: &Bound<'_, PyAny>) -> Answer<()> {
    if !array.array().dtype().is_inexact() {
        return Err(value_error("In place division cannot cast to non-floating point type."));
    }
    in_place(|a, b| binary::divide(a, b), "division", array, other)
}

/// Operators, their reflections and their forms in place, each by the binary op of one name.
macro_rules! operators {
    ($($op:ident $verb:literal
        $(, forward $forward:ident)? $(, reflected $reflected:ident)? $(, in_place $in_place:ident)?
        $(, whole $whole:ident $whole_in_place:ident)?;
    )*) => {
        #[pymethods]
        impl PyArray {
            $(
                $(fn $forward(&self, other: &Bound<'_, PyAny>) -> Answer<PyArray> {
                    apply(|a, b| binary::$op(a, b), $verb, self, other)
                })?
                $(fn $reflected(&self, other: &Bound<'_, PyAny>) -> Answer<PyArray> {
                    reflected(|a, b| binary::$op(a, b), $verb, self, other)
                })?
                $(fn $in_place(&self, other: &Bound<'_, PyAny>) -> Answer<()> {
                    in_place(|a, b| binary::$op(a, b), $verb, self, other)
                })?
                $(fn $whole(&self, other: &Bound<'_, PyAny>) -> Answer<PyArray> {
                    apply_whole(|a, b| binary::$op(a, b), $verb, self, other)
                }

                fn $whole_in_place(&self, other: &Bound<'_, PyAny>) -> Answer<()> {
                    in_place_whole(|a, b| binary::$op(a, b), $verb, self, other)
                })?
            )*
        }
    };
}

operators! {
    add "addition", forward __add__, reflected __radd__, in_place __iadd__;
    subtract "subtraction", forward __sub__, reflected __rsub__, in_place __isub__;
    multiply "multiplication", forward __mul__, reflected __rmul__, in_place __imul__;
    divide "division", forward __truediv__, reflected __rtruediv__;
    divide "division", forward __div__, reflected __rdiv__;
    floor_divide "floor division", forward __floordiv__, reflected __rfloordiv__, in_place __ifloordiv__;
    remainder "modulus", forward __mod__, reflected __rmod__, in_place __imod__;
    bitwise_and "bitwise and", whole __and__ __iand__;
    bitwise_or "bitwise or", whole __or__ __ior__;
    bitwise_xor "bitwise xor", whole __xor__ __ixor__;
    left_shift "left shift", whole __lshift__ __ilshift__;
    right_shift "right shift", whole __rshift__ __irshift__;
}

#[pymethods]
impl PyArray {
    fn __pow__(&self, other: &Bound<'_, PyAny>, modulo: &Bound<'_, PyAny>) -> Answer<PyArray> {
        refuse_modulo(modulo)?;
        apply(|a, b| binary::power(a, b), "power", self, other)
    }

    fn __rpow__(&self, other: &Bound<'_, PyAny>, modulo: &Bound<'_, PyAny>) -> Answer<PyArray> {
        refuse_modulo(modulo)?;
        reflected(|a, b| binary::power(a, b), "power", self, other)
    }

    fn __ipow__(&self, other: &Bound<'_, PyAny>, modulo: &Bound<'_, PyAny>) -> Answer<()> {
        refuse_modulo(modulo)?;
        in_place(|a, b| binary::power(a, b), "power", self, other)
    }

    fn __itruediv__(&self, other: &Bound<'_, PyAny>) -> Answer<()> {
        divide_in_place(self, other)
    }

    fn __matmul__(&self, other: Given) -> Answer<PyArray> {
        Ok(matmul::matmul(&self.array(), &other.0)?.into())
    }

    fn __imatmul__(&self, other: Given) -> Answer<()> {
        self.replace(matmul::matmul(&self.array(), &other.0)?);
        Ok(())
    }

    fn __neg__(&self) -> Answer<PyArray> {
        Ok(unary::negative(&self.array())?.into())
    }

    fn __pos__(&self) -> PyArray {
        self.array().into()
    }

    fn __abs__(&self) -> Answer<PyArray> {
        Ok(unary::abs(&self.array())?.into())
    }

    fn __invert__(&self) -> Answer<PyArray> {
        Ok(unary::bitwise_invert(&self.array())?.into())
    }

    fn __richcmp__(&self, other: &Bound<'_, PyAny>, compare: CompareOp) -> Answer<Py<PyAny>> {
        let py = other.py();
        let (op, verb): (Binary, &str) = match compare {
            CompareOp::Lt => (|a, b| binary::less(a, b), "less than"),
            CompareOp::Le => (|a, b| binary::less_equal(a, b), "less than or equal"),
            CompareOp::Gt => (|a, b| binary::greater(a, b), "greater than"),
            CompareOp::Ge => (|a, b| binary::greater_equal(a, b), "greater than or equal"),
            CompareOp::Eq => (|a, b| binary::equal(a, b), "equality"),
            CompareOp::Ne => (|a, b| binary::not_equal(a, b), "inequality"),
        };
        let asks_identity = matches!(compare, CompareOp::Eq | CompareOp::Ne);
        if asks_identity && !other.is_none() && value(other)?.is_none() {
            let differ = matches!(compare, CompareOp::Ne);
            return Ok(PyBool::new(py, differ).to_owned().into_any().unbind());
        }
        Ok(Py::new(py, apply(op, verb, self, other)?)?.into_any())
    }
}

fn refuse_modulo(modulo: &Bound<'_, PyAny>) -> Answer<()> {
    if modulo.is_none() { Ok(()) } else { Err(type_error("[power] arrays have no power modulo a number.")) }
}
