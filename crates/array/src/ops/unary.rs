//! The element-wise ops of one array: a table, a row each.
//!
//! A row says what the op does to a scalar, which is all that the kernels, the fused kernels and the CPU need, and what its
//! derivative is, from which vjp and jvp follow.

use smallvec::smallvec;

use crate::array::{Array, call_one};
use crate::dtype::Dtype;
use crate::error::Result;
use crate::op::{At, Element, Key, Lowering, Map, Op, Place, Specs, expect_inputs};
use crate::ops::astype::astype;
use crate::ops::catalogue::{Case, Entry, Sample};
use crate::ops::full::zeros_like;
use crate::shape::Spec;
use crate::typed::Typed;

/// The derivative times what it is asked for: `(x, result, g) → g · ∂result/∂x`.
type Derivative = fn(&Array, &Array, &Array) -> Result<Array>;

/// One op.
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// One line that says what it gives.
    pub doc: &'static str,
    /// The type it computes in, from the type of its operand.
    pub computes: fn(Dtype) -> Dtype,
    /// The type of its results, from the type it computes in.
    pub gives: fn(Dtype) -> Dtype,
    /// What it does to a scalar of the type it computes in.
    pub scalar: for<'k> fn(Typed<'k>) -> Typed<'k>,
    /// The derivative; none where the result does not change with the operand.
    pub derivative: Option<Derivative>,
    /// The types the check gives it.
    pub dtypes: &'static [Dtype],
    /// Where the check's samples lie.
    pub range: (f64, f64),
}

/// Makes a public function and a row of the table of each op.
macro_rules! unary {
    ($(#[doc = $doc:literal] $name:ident => $row:expr;)*) => {
        $(
            #[doc = $doc]
            pub fn $name(x: &Array) -> Result<Array> {
                apply(&TABLE[Index::$name as usize], x)
            }
        )*

        /// Where each op stands in the table.
        #[allow(non_camel_case_types)]
        enum Index {
            $($name),*
        }

        /// Every op of the family.
        pub static TABLE: &[Row] = &[$(Row { name: stringify!($name), doc: $doc.trim_ascii(), ..$row }),*];
    };
}

unary! {
    /// The number with the other sign.
    negative => Row { scalar: |x| -x, derivative: Some(|_, _, g| negative(g)), ..NUMBERS };
}

/// What most rows have in common: the type stays as it is.
const NUMBERS: Row = Row {
    name: "",
    doc: "",
    computes: |dtype| dtype,
    gives: |dtype| dtype,
    scalar: |x| x,
    derivative: None,
    dtypes: &Dtype::ALL,
    range: (-2.0, 2.0),
};

fn apply(row: &'static Row, x: &Array) -> Result<Array> {
    call_one(Unary(row), [astype(x, (row.computes)(x.dtype()))?])
}

#[derive(Debug)]
struct Unary(&'static Row);

impl Op for Unary {
    fn name(&self) -> &'static str {
        self.0.name
    }

    fn key(&self, _: &mut Key) {}

    fn infer(&self, inputs: &[&Spec]) -> Result<Specs> {
        let [x] = expect_inputs(self.name(), inputs)?;
        Ok(smallvec![x.with_dtype((self.0.gives)(x.dtype))])
    }

    fn vjp(&self, at: &At<'_>, cotangents: &[Array]) -> Result<Vec<Option<Array>>> {
        let derivative = self.0.derivative.map(|derivative| derivative(&at.inputs[0], &at.outputs[0], &cotangents[0]));
        Ok(vec![derivative.transpose()?])
    }

    fn jvp(&self, at: &At<'_>, tangents: &[Option<Array>]) -> Result<Vec<Array>> {
        match (&tangents[0], self.0.derivative) {
            (Some(tangent), Some(derivative)) => Ok(vec![derivative(&at.inputs[0], &at.outputs[0], tangent)?]),
            _ => Ok(vec![zeros_like(&at.outputs[0])?]),
        }
    }

    fn vmap(&self, inputs: &[Array], axes: &[Option<usize>]) -> Result<Vec<(Array, Option<usize>)>> {
        Ok(vec![(call_one(Unary(self.0), [inputs[0].clone()])?, axes[0])])
    }

    fn lower(&self, _: &Place<'_>) -> Lowering<'_> {
        Lowering::Map(self)
    }
}

impl Map for Unary {
    fn map<'k>(&self, _: &Element<'k>, inputs: &[Typed<'k>]) -> Typed<'k> {
        (self.0.scalar)(inputs[0])
    }
}

impl std::fmt::Debug for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

pub(super) fn entries() -> Vec<Entry> {
    TABLE.iter().map(|row| Entry { name: row.name, doc: row.doc, cases: cases(row) }).collect()
}

fn cases(row: &'static Row) -> Vec<Case> {
    let case = |name: &str, shape: &[i32]| Case {
        name: name.into(),
        inputs: vec![Sample::within(shape, row.range.0, row.range.1)],
        dtypes: row.dtypes,
        call: Box::new(move |x| Ok(vec![apply(row, &x[0])?])),
        differentiable: row.derivative.is_some(),
    };
    vec![case("matrix", &[3, 5]), case("scalar", &[]), case("empty", &[0, 2])]
}
