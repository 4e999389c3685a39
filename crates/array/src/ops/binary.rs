//! The element-wise ops of two arrays: a table, a row each.
//!
//! A row says what the op does to two scalars of one type, which is all that the kernels, the fused kernels and the CPU need, and
//! what its two derivatives are, from which vjp and jvp follow. Operands are promoted to one type and broadcast to one shape
//! before the op sees them.

use smallvec::smallvec;

use crate::array::{Array, call_one};
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::op::{At, Element, Key, Lowering, Map, Op, Place, Specs, expect_inputs};
use crate::ops::astype::astype;
use crate::ops::broadcast_to::broadcast_together;
use crate::ops::catalogue::{Case, Entry, Sample};
use crate::ops::full::zeros_like;
use crate::ops::unary;
use crate::scalar::{Operand, pair};
use crate::shape::{Spec, display};
use crate::typed::Typed;

/// A derivative with respect to one operand, times what it is asked for: `(a, b, result, g) → g · ∂result/∂operand`.
type Partial = fn(&Array, &Array, &Array, &Array) -> Result<Array>;

/// One op.
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// One line that says what it gives.
    pub doc: &'static str,
    /// The type it computes in, from the promoted type of its operands.
    pub computes: fn(Dtype) -> Dtype,
    /// The type of its results, from the type it computes in.
    pub gives: fn(Dtype) -> Dtype,
    /// What it does to two scalars of the type it computes in.
    pub scalar: for<'k> fn(Typed<'k>, Typed<'k>) -> Typed<'k>,
    /// Derivatives; none where the result does not change with the operand.
    pub partials: [Option<Partial>; 2],
    /// The types the check gives it.
    pub dtypes: &'static [Dtype],
    /// Where the check's samples of the two operands lie.
    pub ranges: [(f64, f64); 2],
}

/// Makes a public function and a row of the table of each op.
macro_rules! binary {
    ($(#[doc = $doc:literal] $name:ident => $row:expr;)*) => {
        $(
            #[doc = $doc]
            pub fn $name(a: impl Operand, b: impl Operand) -> Result<Array> {
                apply(&TABLE[Index::$name as usize], &a, &b)
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

binary! {
    /// The sum, element by element.
    add => Row { scalar: |a, b| a + b, partials: [Some(|_, _, _, g| Ok(g.clone())), Some(|_, _, _, g| Ok(g.clone()))], ..NUMBERS };
    /// The difference, element by element.
    subtract => Row { scalar: |a, b| a - b, partials: [Some(|_, _, _, g| Ok(g.clone())), Some(|_, _, _, g| unary::negative(g))], ..NUMBERS };
    /// The product, element by element.
    multiply => Row { scalar: |a, b| a * b, partials: [Some(|_, b, _, g| multiply(g, b)), Some(|a, _, _, g| multiply(g, a))], ..NUMBERS };
}

/// What most rows have in common: the type stays as it is.
const NUMBERS: Row = Row {
    name: "",
    doc: "",
    computes: |dtype| dtype,
    gives: |dtype| dtype,
    scalar: |a, _| a,
    partials: [None, None],
    dtypes: &Dtype::ALL,
    ranges: [(-2.0, 2.0), (-2.0, 2.0)],
};

fn apply(row: &'static Row, a: &dyn Operand, b: &dyn Operand) -> Result<Array> {
    let (a, b) = pair(row.name, a, b)?;
    let dtype = (row.computes)(a.dtype().promote(b.dtype()));
    let both = broadcast_together(row.name, &[astype(&a, dtype)?, astype(&b, dtype)?])?;
    call_one(Binary(row), both)
}

#[derive(Debug)]
struct Binary(&'static Row);

impl Op for Binary {
    fn name(&self) -> &'static str {
        self.0.name
    }

    fn key(&self, _: &mut Key) {}

    fn infer(&self, inputs: &[&Spec]) -> Result<Specs> {
        let [a, b] = expect_inputs(self.name(), inputs)?;
        if a != b {
            let (name, a, b) = (self.name(), display(&a.shape), display(&b.shape));
            return Err(Error::Value(format!("[{name}] operands must have one shape and type but are {a} and {b}.")));
        }
        Ok(smallvec![a.with_dtype((self.0.gives)(a.dtype))])
    }

    fn vjp(&self, at: &At<'_>, cotangents: &[Array]) -> Result<Vec<Option<Array>>> {
        let partial = |i: usize| -> Result<Option<Array>> {
            match (at.wanted[i], self.0.partials[i]) {
                (true, Some(partial)) => {
                    Ok(Some(partial(&at.inputs[0], &at.inputs[1], &at.outputs[0], &cotangents[0])?))
                }
                _ => Ok(None),
            }
        };
        Ok(vec![partial(0)?, partial(1)?])
    }

    fn jvp(&self, at: &At<'_>, tangents: &[Option<Array>]) -> Result<Vec<Array>> {
        let mut sum: Option<Array> = None;
        for (tangent, partial) in tangents.iter().zip(self.0.partials) {
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
        Ok(vec![(call_one(Binary(self.0), inputs)?, axis)])
    }

    fn lower(&self, _: &Place<'_>) -> Lowering<'_> {
        Lowering::Map(self)
    }
}

impl Map for Binary {
    fn map<'k>(&self, _: &Element<'k>, inputs: &[Typed<'k>]) -> Typed<'k> {
        (self.0.scalar)(inputs[0], inputs[1])
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
    let case = |name: &str, a: &[i32], b: &[i32]| Case {
        name: name.into(),
        inputs: vec![
            Sample::within(a, row.ranges[0].0, row.ranges[0].1),
            Sample::within(b, row.ranges[1].0, row.ranges[1].1),
        ],
        dtypes: row.dtypes,
        call: Box::new(move |x| Ok(vec![apply(row, &x[0], &x[1])?])),
        differentiable: row.partials.iter().any(Option::is_some),
    };
    vec![
        case("same shape", &[3, 5], &[3, 5]),
        case("rows", &[3, 5], &[5]),
        case("outer", &[4, 1], &[1, 6]),
        case("empty", &[0, 2], &[2]),
    ]
}
