//! Python's numbers without a type of their own, and elements as Python's numbers.

use half::{bf16, f16};
use pumice::scalar::Weak;
use pumice::{Complex64, Dtype};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyComplex;

/// A number of Python's.
#[derive(Clone, Copy, Debug)]
pub enum Number {
    /// A bool.
    Bool(bool),
    /// An int.
    Int(i64),
    /// A float.
    Float(f64),
    /// A complex number.
    Complex(Complex64),
}

impl Number {
    /// As Pumice's ops take it: it has the type of the array beside it.
    pub fn weak(self) -> Weak<'static> {
        match self {
            Number::Bool(b) => Weak::Bool(b),
            Number::Int(n) => Weak::Int(n),
            Number::Float(x) => Weak::Float(x),
            Number::Complex(z) => Weak::Complex(z),
        }
    }

    /// The type of an array of numbers.
    pub fn dtype_of(numbers: &[Number]) -> Dtype {
        let own = |number: &Number| match number {
            Number::Bool(_) => Dtype::Bool,
            Number::Int(n) if i32::try_from(*n).is_ok() => Dtype::I32,
            Number::Int(_) => Dtype::I64,
            Number::Float(_) => Dtype::F32,
            Number::Complex(_) => Dtype::C64,
        };
        numbers.iter().map(own).reduce(Dtype::promote).unwrap_or(Dtype::F32)
    }

    fn float(self) -> f64 {
        match self {
            Number::Bool(b) => b as u8 as f64,
            Number::Int(n) => n as f64,
            Number::Float(x) => x,
            Number::Complex(z) => z.re as f64,
        }
    }

    /// Whole numbers wrap when they are stored in fewer bits, as C's do; what no integer is becomes the least one.
    fn int(self, dtype: Dtype) -> i64 {
        let Number::Int(n) = self else {
            let x = self.float().trunc();
            let narrow = dtype.size() < 4 || dtype == Dtype::I32;
            let (least, beyond) = if narrow { (i32::MIN as i64, 2f64.powi(31)) } else { (i64::MIN, 2f64.powi(63)) };
            return if (-beyond..beyond).contains(&x) { x as i64 } else { least };
        };
        n
    }
}

/// The bytes of numbers as elements of a type.
pub fn bytes_of(numbers: &[Number], dtype: Dtype) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(numbers.len() * dtype.size());
    for &number in numbers {
        match dtype {
            Dtype::Bool => bytes.push((number.float() != 0.0) as u8),
            Dtype::F16 => bytes.extend(f16::from_f64(number.float()).to_le_bytes()),
            Dtype::BF16 => bytes.extend(bf16::from_f64(number.float()).to_le_bytes()),
            Dtype::F32 => bytes.extend((number.float() as f32).to_le_bytes()),
            Dtype::F64 => bytes.extend(number.float().to_le_bytes()),
            Dtype::C64 => {
                let im = if let Number::Complex(z) = number { z.im } else { 0.0 };
                bytes.extend((number.float() as f32).to_le_bytes());
                bytes.extend(im.to_le_bytes());
            }
            _ => bytes.extend_from_slice(&number.int(dtype).to_le_bytes()[..dtype.size()]),
        }
    }
    bytes
}

/// The element that bytes are, as a number of Python's.
pub fn element(py: Python<'_>, bytes: &[u8], dtype: Dtype) -> PyResult<Py<PyAny>> {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    let bits = u64::from_le_bytes(word);
    match dtype {
        Dtype::Bool => (bits != 0).into_py_any(py),
        Dtype::F16 => f16::from_bits(bits as u16).to_f64().into_py_any(py),
        Dtype::BF16 => bf16::from_bits(bits as u16).to_f64().into_py_any(py),
        Dtype::F32 => (f32::from_bits(bits as u32) as f64).into_py_any(py),
        Dtype::F64 => f64::from_bits(bits).into_py_any(py),
        Dtype::C64 => {
            let (re, im) = (f32::from_bits(bits as u32), f32::from_bits((bits >> 32) as u32));
            PyComplex::from_doubles(py, re as f64, im as f64).into_py_any(py)
        }
        dtype if dtype.is_signed() => {
            let unused = 64 - 8 * dtype.size() as u32;
            ((bits << unused) as i64 >> unused).into_py_any(py)
        }
        _ => bits.into_py_any(py),
    }
}
