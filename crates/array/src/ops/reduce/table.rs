//! The reductions, a row each.

use pumice_kernel::Builder;

use super::cpu::folds::{self, HostReduce};
use super::{Along, apply, order, rules};
use crate::array::Array;
use crate::dtype::Dtype;
use crate::error::Result;
use crate::ops::astype::astype;
use crate::ops::broadcast_to::broadcast_to;
use crate::typed::{Typed, constant};

/// One reduction.
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// One line that says what it gives.
    pub doc: &'static str,
    /// The type of its results.
    pub gives: fn(Dtype) -> Dtype,
    /// The type it computes in.
    pub computes: fn(Dtype) -> Dtype,
    /// The result of no elements, where there is one.
    pub empty: Option<i32>,
    /// What no elements count as beside others.
    pub identity: for<'k> fn(&'k Builder, Dtype) -> Typed<'k>,
    /// What two partial results become.
    pub combine: for<'k> fn(Typed<'k>, Typed<'k>) -> Typed<'k>,
    /// The CPU's way.
    pub(crate) host: fn(Dtype) -> HostReduce,
    /// From the result's cotangent to the input's.
    pub(crate) vjp: Option<Rule>,
    /// From the input's tangent to the result's.
    pub(crate) jvp: Option<Rule>,
}

/// A derivative: what it is asked about, and the cotangent (its reduced axes kept) or the tangent.
pub(crate) type Rule = fn(&Along<'_>, &Array) -> Result<Array>;

/// Makes a public function and a row of the table of each reduction.
macro_rules! reductions {
    ($(#[doc = $doc:literal] $name:ident => $row:expr;)*) => {
        $(
            #[doc = $doc]
            pub fn $name(x: &Array, axes: Option<&[i32]>, keepdims: bool) -> Result<Array> {
                apply(&TABLE[Index::$name as usize], x, axes, keepdims)
            }
        )*

        /// Where each reduction stands in the table.
        #[allow(non_camel_case_types)]
        enum Index {
            $($name),*
        }

        /// Every reduction.
        pub static TABLE: &[Row] = &[$(Row { name: stringify!($name), doc: $doc.trim_ascii(), ..$row }),*];
    };
}

reductions! {
    /// The sum along axes; along all of them if none are given.
    sum => SUM;
    /// The product along axes; along all of them if none are given.
    prod => Row {
        empty: Some(1),
        identity: |k, dtype| constant(k, dtype, 1.0),
        combine: |a, b| a * b,
        host: folds::prod,
        vjp: Some(rules::prod_vjp),
        jvp: Some(rules::prod_jvp),
        ..SUM
    };
    /// The least element along axes, NaN if there is one; along all of them if none are given.
    min => Row { identity: order::highest, combine: order::least, host: folds::min, ..EXTREMUM };
    /// The greatest element along axes, NaN if there is one; along all of them if none are given.
    max => Row { identity: order::lowest, combine: order::greatest, host: folds::max, ..EXTREMUM };
    /// Whether all elements along axes differ from zero; along all axes if none are given.
    all => Row {
        empty: Some(1),
        identity: |k, _| Typed::truth(k.bool(true)),
        combine: |a, b| Typed::truth(a.val & b.val),
        host: folds::all,
        ..TRUTH
    };
    /// Whether one of the elements along axes differs from zero; along all axes if none are given.
    any => TRUTH;
}

/// The row with a name.
pub(crate) fn row(name: &str) -> &'static Row {
    TABLE.iter().find(|row| row.name == name).expect("a row of the table")
}

/// The sum of halves before it is rounded to them.
pub(crate) static PRECISE_SUM: Row = Row {
    name: "sum",
    gives: |dtype| precise(summed(dtype)),
    host: folds::precise_sum,
    jvp: Some(|at, t| apply(&PRECISE_SUM, t, Some(&at.given()), true)),
    ..SUM
};

/// Sums widen integers and compute halves in float32.
const SUM: Row = Row {
    name: "",
    doc: "",
    gives: summed,
    computes: |dtype| precise(summed(dtype)),
    empty: Some(0),
    identity: |k, dtype| constant(k, dtype, 0.0),
    combine: |a, b| a + b,
    host: folds::sum,
    vjp: Some(|at, g| astype(&broadcast_to(g, at.x.shape())?, at.x.dtype())),
    jvp: Some(|at, t| sum(t, Some(&at.given()), true)),
};

/// Least and greatest elements are elements.
const EXTREMUM: Row = Row {
    gives: |dtype| dtype,
    computes: precise,
    empty: None,
    vjp: Some(rules::extremum_vjp),
    jvp: Some(rules::extremum_jvp),
    ..SUM
};

/// Truth has no derivative.
const TRUTH: Row = Row {
    gives: |_| Dtype::Bool,
    computes: |_| Dtype::Bool,
    identity: |k, _| Typed::truth(k.bool(false)),
    combine: |a, b| Typed::truth(a.val | b.val),
    host: folds::any,
    vjp: None,
    jvp: None,
    ..SUM
};

/// The type of a sum: of integers 32 bits at least.
fn summed(dtype: Dtype) -> Dtype {
    match dtype {
        Dtype::Bool | Dtype::I8 | Dtype::I16 => Dtype::I32,
        Dtype::U8 | Dtype::U16 => Dtype::U32,
        _ => dtype,
    }
}

/// The type that a result of a type is computed in.
pub(crate) fn precise(dtype: Dtype) -> Dtype {
    match dtype {
        Dtype::F16 | Dtype::BF16 => Dtype::F32,
        _ => dtype,
    }
}

impl Row {
    /// Calls the reduction.
    pub fn call(&'static self, x: &Array, axes: Option<&[i32]>, keepdims: bool) -> Result<Array> {
        apply(self, x, axes, keepdims)
    }
}

impl std::fmt::Debug for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}
