//! The element-wise ops of one array: a table, a row each.
//!
//! A row says what the op does to a scalar, which is all that the kernels, the fused kernels and the CPU need, and what its
//! derivative is, from which vjp and jvp follow.

mod composed;
pub(super) mod double;
mod stop_gradient;
mod table;

use smallvec::smallvec;

use crate::array::{Array, call_known, call_one};
use crate::device::DeviceKind;
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::op::{At, Element, Host, Key, Lowering, Map, Op, OpRef, Place, Sizes, Specs, borrow_inputs};
use crate::ops::astype::astype;
use crate::ops::catalogue::{Case, Entry, Sample};
use crate::ops::full::zeros_like;
use crate::shape::Spec;
use crate::typed::Typed;

pub use composed::{NanToNum, degrees, nan_to_num, radians, round_to};
pub use stop_gradient::stop_gradient;
pub use table::*;

/// The derivative times what it is asked for: `(x, result, g) → g · ∂result/∂x`.
type Derivative = fn(&Array, &Array, &Array) -> Result<Array>;

/// One op.
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// One line that says what it gives.
    pub doc: &'static str,
    /// The types it takes; others are the user's error.
    pub dtypes: &'static [Dtype],
    /// Whether an array of a type is its own result.
    pub keeps: fn(Dtype) -> bool,
    /// The type it computes in, from the type of its operand.
    pub computes: fn(Dtype) -> Dtype,
    /// The type of its results, from the type it computes in.
    pub gives: fn(Dtype) -> Dtype,
    /// What it does to a scalar of the type it computes in.
    pub scalar: for<'k> fn(Typed<'k>) -> Typed<'k>,
    /// What it does to a double, where the kernel language has no word for that.
    pub double: Option<fn(f64) -> f64>,
    /// The derivative; none where the result does not change with the operand.
    pub derivative: Option<Derivative>,
    /// The cotangent of the operand, where it is not the derivative's conjugate times the result's.
    pub backward: Option<Derivative>,
    /// Where the check's samples lie.
    pub range: (f64, f64),
}

/// What most rows have in common: the type stays as it is.
const NUMBERS: Row = Row {
    name: "",
    doc: "",
    dtypes: &Dtype::ALL,
    keeps: |_| false,
    computes: |dtype| dtype,
    gives: |dtype| dtype,
    scalar: |x| x,
    double: None,
    derivative: None,
    backward: None,
    range: (-2.0, 2.0),
};

/// Every type but complex64.
const REAL: &[Dtype] = Dtype::ALL.split_at(13).0;

impl Row {
    /// Calls the op.
    pub fn call(&'static self, x: &Array) -> Result<Array> {
        let (name, dtype) = (self.name, x.dtype());
        if !self.dtypes.contains(&dtype) {
            return Err(Error::Value(format!("[{name}] x must have a type it is defined for but has {dtype}.")));
        }
        if (self.keeps)(dtype) {
            return Ok(x.clone());
        }
        let x = astype(x, (self.computes)(dtype))?;
        let result = self.result(x.spec());
        call_known(self, smallvec![x], result)
    }

    /// What it gives for an array of this shape and type.
    fn result(&self, x: &Spec) -> Spec {
        x.with_dtype((self.gives)(x.dtype))
    }

    /// The row itself, in the table.
    fn lasting(&self) -> &'static Row {
        TABLE.iter().find(|row| row.name == self.name).expect("rows are made in the table alone")
    }
}

impl Op for Row {
    fn name(&self) -> &'static str {
        self.name
    }

    fn key(&self, _: &mut Key) {}

    fn infer(&self, inputs: &[&Spec]) -> Result<Specs> {
        let [x] = borrow_inputs(self.name(), inputs)?;
        Ok(smallvec![self.result(x)])
    }

    fn vjp(&self, at: &At<'_>, cotangents: &[Array]) -> Result<Vec<Option<Array>>> {
        let (x, y) = (&at.inputs[0], &at.outputs[0]);
        let cotangent = match (self.backward, self.derivative) {
            (Some(backward), _) => Some(backward(x, y, &cotangents[0])?),
            (None, Some(derivative)) => Some(transposed(&cotangents[0], |g| derivative(x, y, g))?),
            _ => None,
        };
        Ok(vec![cotangent])
    }

    fn jvp(&self, at: &At<'_>, tangents: &[Option<Array>]) -> Result<Vec<Array>> {
        match (&tangents[0], self.derivative) {
            (Some(tangent), Some(derivative)) => Ok(vec![derivative(&at.inputs[0], &at.outputs[0], tangent)?]),
            _ => Ok(vec![zeros_like(&at.outputs[0])?]),
        }
    }

    fn vmap(&self, inputs: &[Array], axes: &[Option<usize>]) -> Result<Vec<(Array, Option<usize>)>> {
        Ok(vec![(call_one(OpRef::Static(self.lasting()), [inputs[0].clone()])?, axes[0])])
    }

    fn sizes(&self) -> Sizes {
        Sizes::Any
    }

    fn lower(&self, place: &Place<'_>) -> Lowering<'_> {
        let doubles = place.inputs[0].dtype == Dtype::F64 && place.device == DeviceKind::Cpu;
        if doubles && self.double.is_some() { Lowering::Host(self as &dyn Host) } else { Lowering::Map(self) }
    }
}

/// The transpose of `g ↦ g · d`, applied: `g · conj(d)`.
pub(super) fn transposed(g: &Array, linear: impl FnOnce(&Array) -> Result<Array>) -> Result<Array> {
    match g.dtype() {
        Dtype::C64 => conjugate(&linear(&conjugate(g)?)?),
        _ => linear(g),
    }
}

impl Map for Row {
    fn map<'k>(&self, _: &Element<'k>, inputs: &[Typed<'k>]) -> Typed<'k> {
        (self.scalar)(inputs[0])
    }
}

impl std::fmt::Debug for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

pub(super) fn entries() -> Vec<Entry> {
    let rows = TABLE.iter().map(|row| Entry { name: row.name, doc: row.doc, cases: cases(row) });
    rows.chain(composed::entries()).chain(stop_gradient::entries()).collect()
}

fn cases(row: &'static Row) -> Vec<Case> {
    let case = |name: &str, shape: &[i32]| Case {
        name: name.into(),
        inputs: vec![Sample::within(shape, row.range.0, row.range.1)],
        dtypes: row.dtypes,
        call: Box::new(move |x| Ok(vec![row.call(&x[0])?])),
        differentiable: row.derivative.is_some(),
    };
    vec![case("matrix", &[3, 5]), case("scalar", &[]), case("empty", &[0, 2])]
}
