//! The element-wise ops of two arrays: a table, a row each.
//!
//! A row says what the op does to two scalars of one type, which is all that the kernels, the fused kernels and the CPU need, and
//! what its two derivatives are, from which vjp and jvp follow. Operands are promoted to one type and broadcast to one shape
//! before the op sees them.

mod composed;
mod double;
mod table;

use smallvec::smallvec;

use crate::array::{Array, Inputs, call_known, call_one};
use crate::device::DeviceKind;
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::op::{At, Element, Host, Key, Lowering, Map, Op, OpRef, Place, Sizes, Specs, borrow_inputs};
use crate::ops::astype::astype;
use crate::ops::broadcast_to::broadcast_together;
use crate::ops::catalogue::{Case, Entry, Sample};
use crate::ops::full::zeros_like;
use crate::ops::unary::transposed;
use crate::scalar::{Operand, Weak, pair};
use crate::shape::{Spec, display};
use crate::typed::Typed;

pub use composed::{Close, allclose, array_equal, divmod, isclose};
pub use table::*;

/// A derivative with respect to one operand, times what it is asked for: `(a, b, result, g) → g · ∂result/∂operand`.
type Partial = fn(&Array, &Array, &Array, &Array) -> Result<Array>;

/// One op.
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// One line that says what it gives.
    pub doc: &'static str,
    /// The types that the operands may be promoted to; others are the user's error.
    pub dtypes: &'static [Dtype],
    /// The kind of that error.
    pub refuses: fn(String) -> Error,
    /// The type it computes in, from the promoted type of its operands.
    pub computes: fn(Dtype) -> Dtype,
    /// The type of its results, from the type it computes in.
    pub gives: fn(Dtype) -> Dtype,
    /// What it does to two scalars of the type it computes in.
    pub scalar: for<'k> fn(Typed<'k>, Typed<'k>) -> Typed<'k>,
    /// What it does to two doubles, where the kernel language has no word for that.
    pub double: Option<fn(f64, f64) -> f64>,
    /// Derivatives; none where the result does not change with the operand.
    pub partials: [Option<Partial>; 2],
    /// Where the check's samples of the two operands lie.
    pub ranges: [(f64, f64); 2],
}

/// What most rows have in common: the type stays as it is.
const NUMBERS: Row = Row {
    name: "",
    doc: "",
    dtypes: &Dtype::ALL,
    refuses: Error::Value,
    computes: |dtype| dtype,
    gives: |dtype| dtype,
    scalar: |a, _| a,
    double: None,
    partials: [None, None],
    ranges: [(-2.0, 2.0), (-2.0, 2.0)],
};

impl Row {
    /// Calls the op.
    pub fn call(&'static self, a: &dyn Operand, b: &dyn Operand) -> Result<Array> {
        if let (Weak::Array(a), Weak::Array(b)) = (a.operand(), b.operand())
            && a.spec() == b.spec()
            && self.dtypes.contains(&a.dtype())
            && (self.computes)(a.dtype()) == a.dtype()
        {
            return call_known(self, Inputs::from_buf([a.clone(), b.clone()]), self.result(a.spec()));
        }
        let (a, b) = pair(self.name, a, b)?;
        let promoted = a.dtype().promote(b.dtype());
        if !self.dtypes.contains(&promoted) {
            let (name, a, b) = (self.name, a.dtype(), b.dtype());
            let text = format!("[{name}] a and b must have types it is defined for but have {a} and {b}.");
            return Err((self.refuses)(text));
        }
        let dtype = (self.computes)(promoted);
        let both = broadcast_together(self.name, &[astype(&a, dtype)?, astype(&b, dtype)?])?;
        call_one(OpRef::Static(self), both)
    }

    /// What it gives for two operands of this shape and type.
    fn result(&self, operand: &Spec) -> Spec {
        operand.with_dtype((self.gives)(operand.dtype))
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
        let [a, b] = borrow_inputs(self.name(), inputs)?;
        if a != b {
            let (name, a, b) = (self.name(), display(&a.shape), display(&b.shape));
            return Err(Error::Value(format!("[{name}] operands must have one shape and type but are {a} and {b}.")));
        }
        Ok(smallvec![self.result(a)])
    }

    fn vjp(&self, at: &At<'_>, cotangents: &[Array]) -> Result<Vec<Option<Array>>> {
        let partial = |i: usize| -> Result<Option<Array>> {
            let (true, Some(partial)) = (at.wanted[i], self.partials[i]) else { return Ok(None) };
            let linear = |g: &Array| partial(&at.inputs[0], &at.inputs[1], &at.outputs[0], g);
            Ok(Some(transposed(&cotangents[0], linear)?))
        };
        Ok(vec![partial(0)?, partial(1)?])
    }

    fn jvp(&self, at: &At<'_>, tangents: &[Option<Array>]) -> Result<Vec<Array>> {
        let mut sum: Option<Array> = None;
        for (tangent, partial) in tangents.iter().zip(self.partials) {
            let (Some(tangent), Some(partial)) = (tangent, partial) else { continue };
            let part = partial(&at.inputs[0], &at.inputs[1], &at.outputs[0], tangent)?;
            sum = Some(match sum {
                Some(sum) => add(&sum, &part)?,
                None => part,
            });
        }
        Ok(vec![sum.map_or_else(|| zeros_like(&at.outputs[0]), Ok)?])
    }

    fn vmap(&self, inputs: &[Array], axes: &[Option<usize>]) -> Result<Vec<(Array, Option<usize>)>> {
        let (inputs, axis) = crate::transforms::align_mapped(inputs, axes)?;
        Ok(vec![(call_one(OpRef::Static(self.lasting()), inputs)?, axis)])
    }

    fn sizes(&self) -> Sizes {
        Sizes::Together
    }

    fn lower(&self, place: &Place<'_>) -> Lowering<'_> {
        let doubles = place.inputs[0].dtype == Dtype::F64 && place.device == DeviceKind::Cpu;
        if doubles && self.double.is_some() { Lowering::Host(self as &dyn Host) } else { Lowering::Map(self) }
    }
}

impl Map for Row {
    fn map<'k>(&self, _: &Element<'k>, inputs: &[Typed<'k>]) -> Typed<'k> {
        (self.scalar)(inputs[0], inputs[1])
    }
}

impl std::fmt::Debug for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

pub(super) fn entries() -> Vec<Entry> {
    let rows = TABLE.iter().map(|row| Entry { name: row.name, doc: row.doc, cases: cases(row) });
    rows.chain(composed::entries()).collect()
}

fn cases(row: &'static Row) -> Vec<Case> {
    let case = |name: &str, a: &[i32], b: &[i32]| Case {
        name: name.into(),
        inputs: vec![
            Sample::within(a, row.ranges[0].0, row.ranges[0].1),
            Sample::within(b, row.ranges[1].0, row.ranges[1].1),
        ],
        dtypes: row.dtypes,
        call: Box::new(move |x| Ok(vec![row.call(&x[0], &x[1])?])),
        differentiable: row.partials.iter().any(Option::is_some),
    };
    vec![
        case("same shape", &[3, 5], &[3, 5]),
        case("rows", &[3, 5], &[5]),
        case("outer", &[4, 1], &[1, 6]),
        case("scalars", &[], &[]),
        case("empty", &[0, 2], &[2]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{default_stream, with_stream};

    /// Runs on both devices and gives what the ints become.
    fn on_both(call: impl Fn() -> Result<Array>) -> Vec<Vec<i32>> {
        let run = |device| {
            let stream = default_stream(device).expect("it is available");
            with_stream(stream, || call().and_then(|y| astype(&y, Dtype::I32)).and_then(|y| y.to_vec()))
                .expect("it runs")
        };
        crate::device::test_devices().into_iter().map(run).collect()
    }

    fn ints(values: &[i8]) -> Array {
        Array::from_slice(values, &[values.len() as i32]).expect("as many")
    }

    /// Expected values from the wheel.
    #[test]
    fn integers_divide_down_and_wrap() {
        let (a, b) = (ints(&[7, -7, 7, -7, 0, -128, 127, 5]), ints(&[3, 3, -3, -3, 5, -1, 2, -5]));
        let expected = [
            ("floor_divide", [2, -3, -3, 2, 0, -128, 63, -1]),
            ("remainder", [1, 2, -2, -1, 0, 0, 1, 0]),
            ("power", [87, -87, 0, 0, 0, 0, 1, 0]),
            ("left_shift", [56, -56, 0, 0, 0, 0, -4, 0]),
            ("right_shift", [0, -1, 0, -1, 0, -1, 31, 0]),
        ];
        for (name, expected) in expected {
            let row = TABLE.iter().find(|row| row.name == name).expect("it is in the table");
            for found in on_both(|| row.call(&a, &b)) {
                assert_eq!(found, expected, "{name}");
            }
        }
    }

    #[test]
    fn types_must_be_ones_the_op_is_defined_for() {
        let x = Array::scalar(1f32);
        let error = bitwise_and(&x, 1).expect_err("floats have no bits to speak of");
        let text = "[bitwise_and] a and b must have types it is defined for but have float32 and float32.";
        assert!(matches!(&error, Error::Runtime(found) if found == text), "{error}");
    }
}
