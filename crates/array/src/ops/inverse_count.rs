//! `1 / (number of elements along axes - ddof)`, by which a sum is multiplied to be a mean.
//!
//! Where shapes are known it is a plain number. It is an op for functions that are compiled once for all shapes.

use smallvec::smallvec;

use crate::array::{Array, call_one};
use crate::dtype::Dtype;
use crate::error::Result;
use crate::op::{At, Key, Op, Sizes, Specs};
use crate::ops::reduce::AxisList;
use crate::scalar::Operand;
use crate::shape::{Shape, Spec};

/// The number as an array of no axes, of a type.
pub(crate) fn inverse_count(x: &Array, axes: AxisList, ddof: i32, dtype: Dtype) -> Result<Array> {
    call_one(InverseCount { axes, ddof, dtype }, [x.clone()])
}

/// The number, for an array of this shape.
pub(crate) fn value(shape: &[i32], axes: &[usize], ddof: i32) -> f64 {
    let count: f64 = axes.iter().map(|&axis| shape[axis] as f64).product();
    1.0 / (count - ddof as f64).max(0.0)
}

#[derive(Debug)]
struct InverseCount {
    axes: AxisList,
    ddof: i32,
    dtype: Dtype,
}

impl Op for InverseCount {
    fn name(&self) -> &'static str {
        "inverse_count"
    }

    fn key(&self, key: &mut Key) {
        key.int(self.ddof as i64);
        key.word(self.dtype as u64);
        self.axes.iter().for_each(|&axis| key.word(axis as u64));
    }

    fn infer(&self, _: &[&Spec]) -> Result<Specs> {
        Ok(smallvec![Spec::new(Shape::new(), self.dtype)])
    }

    fn decompose(&self, inputs: &[Array]) -> Result<Option<Vec<Array>>> {
        let value = value(inputs[0].shape(), &self.axes, self.ddof);
        Ok(Some(vec![value.operand().to_array(self.name(), Some(self.dtype))?]))
    }

    fn vjp(&self, _: &At<'_>, _: &[Array]) -> Result<Vec<Option<Array>>> {
        Ok(vec![None])
    }

    fn sizes(&self) -> Sizes {
        Sizes::Any
    }
}
