//! `eye`, `identity` and `tri`: matrices of ones and zeros.

use smallvec::smallvec;

use crate::array::{Array, call_one};
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::op::{Element, Key, Lowering, Map, Op, Place, Specs, expect_inputs};
use crate::ops::broadcast_to::broadcast_to;
use crate::ops::catalogue::{Case, Entry};
use crate::shape::Spec;
use crate::typed::{Typed, constant};

/// Ones on the `k`-th diagonal of a matrix, zeros elsewhere; a square one if `m` is none.
pub fn eye(n: i32, m: Option<i32>, k: i32, dtype: Dtype) -> Result<Array> {
    let m = m.unwrap_or(n);
    if n < 0 || m < 0 {
        return Err(Error::Value(format!("[eye] n and m must not be negative but are {n} and {m}.")));
    }
    grid(Where::On, n, m, k, dtype)
}

/// The identity matrix.
pub fn identity(n: i32, dtype: Dtype) -> Result<Array> {
    eye(n, None, 0, dtype)
}

/// Ones on and below the `k`-th diagonal of a matrix, zeros above; a square one if `m` is none.
pub fn tri(n: i32, m: Option<i32>, k: i32, dtype: Dtype) -> Result<Array> {
    grid(Where::Below, n.max(0), m.unwrap_or(n).max(0), k, dtype)
}

fn grid(ones: Where, n: i32, m: i32, k: i32, dtype: Dtype) -> Result<Array> {
    let [m_all, k_all] = [m, k].map(|number| broadcast_to(&Array::scalar(number as i64), &[n, m]));
    call_one(Grid { ones, dtype }, [m_all?, k_all?])
}

/// Where the ones stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Where {
    On,
    Below,
}

/// Ones and zeros, of the number of columns and the diagonal repeated over the result.
#[derive(Debug)]
struct Grid {
    ones: Where,
    dtype: Dtype,
}

impl Op for Grid {
    fn name(&self) -> &'static str {
        "grid"
    }

    fn key(&self, key: &mut Key) {
        key.word(((self.ones as u64) << 8) | self.dtype as u64);
    }

    fn infer(&self, inputs: &[&Spec]) -> Result<Specs> {
        let [columns, _diagonal] = expect_inputs(self.name(), inputs)?;
        Ok(smallvec![columns.with_dtype(self.dtype)])
    }

    fn lower(&self, _: &Place<'_>) -> Lowering<'_> {
        Lowering::Map(self)
    }
}

impl Map for Grid {
    fn map<'k>(&self, at: &Element<'k>, inputs: &[Typed<'k>]) -> Typed<'k> {
        let [columns, diagonal] = [inputs[0].val, inputs[1].val];
        let right = at.index.rem_u(columns) - at.index.div_u(columns);
        let is_one = match self.ones {
            Where::On => right.eq(diagonal),
            Where::Below => right.le(diagonal),
        };
        let [one, zero] = [1.0, 0.0].map(|number| constant(at.builder, self.dtype, number).val);
        Typed::new(choose(is_one, one, zero), self.dtype)
    }
}

/// One of two values; of vectors, all components.
pub(super) fn choose<'k>(
    condition: pumice_kernel::Val<'k>,
    yes: pumice_kernel::Val<'k>,
    no: pumice_kernel::Val<'k>,
) -> pumice_kernel::Val<'k> {
    match yes.ty().lanes() {
        2 => condition.builder().vector(&[0, 1].map(|i| condition.select(yes.lane(i), no.lane(i)))),
        _ => condition.select(yes, no),
    }
}

pub(super) fn entries() -> Vec<Entry> {
    let shapes = [("square", 4, None, 0), ("wide", 3, Some(5), 2), ("tall", 5, Some(2), -1), ("empty", 0, Some(3), 0)];
    let cases = |make: fn(i32, Option<i32>, i32, Dtype) -> Result<Array>| {
        let all = shapes.into_iter().flat_map(move |shape| Dtype::ALL.map(|dtype| (shape, dtype)));
        let cases = all.map(move |((name, n, m, k), dtype)| Case {
            name: format!("{name}, {dtype}"),
            inputs: Vec::new(),
            dtypes: &[Dtype::F32],
            call: Box::new(move |_| Ok(vec![make(n, m, k, dtype)?])),
            differentiable: false,
        });
        cases.collect()
    };
    vec![
        Entry { name: "eye", doc: "Ones on a diagonal.", cases: cases(eye) },
        Entry { name: "tri", doc: "Ones on and below a diagonal.", cases: cases(tri) },
    ]
}
