//! `contiguous(x)`: the array laid out without gaps, copied only if it is not already.

use smallvec::smallvec;

use crate::array::Array;
use crate::error::Result;
use crate::op::{At, Key, Lowering, Op, Place, Sizes, Specs, View, expect_inputs};
use crate::ops::catalogue::Entry;
use crate::ops::views::{case_of, look, transpose};
use crate::shape::{Layout, Spec};

/// The array without gaps, the last axis fastest; or the first axis fastest, if that is allowed and it is so already.
pub fn contiguous(x: &Array, allow_col_major: bool) -> Result<Array> {
    look(Contiguous { allow_col_major }, x)
}

#[derive(Debug)]
struct Contiguous {
    allow_col_major: bool,
}

impl Op for Contiguous {
    fn name(&self) -> &'static str {
        "contiguous"
    }

    fn key(&self, key: &mut Key) {
        key.word(self.allow_col_major as u64);
    }

    fn infer(&self, inputs: &[&Spec]) -> Result<Specs> {
        let [x] = expect_inputs(self.name(), inputs)?;
        Ok(smallvec![x])
    }

    fn vjp(&self, _: &At<'_>, cotangents: &[Array]) -> Result<Vec<Option<Array>>> {
        Ok(vec![Some(cotangents[0].clone())])
    }

    fn jvp(&self, _: &At<'_>, tangents: &[Option<Array>]) -> Result<Vec<Array>> {
        tangents.iter().flatten().map(|tangent| contiguous(tangent, self.allow_col_major)).collect()
    }

    fn vmap(&self, inputs: &[Array], axes: &[Option<usize>]) -> Result<Vec<(Array, Option<usize>)>> {
        Ok(vec![(contiguous(&inputs[0], self.allow_col_major)?, axes[0])])
    }

    fn sizes(&self) -> Sizes {
        Sizes::Any
    }

    fn lower(&self, _: &Place<'_>) -> Lowering<'_> {
        Lowering::View(self)
    }
}

impl View for Contiguous {
    fn view(&self, input: &Layout, _: &Spec) -> Option<Layout> {
        let fits = input.is_row_contiguous() || (self.allow_col_major && is_col_contiguous(input));
        fits.then(|| input.clone())
    }
}

/// Whether the elements lie without gaps, the first axis fastest.
fn is_col_contiguous(layout: &Layout) -> bool {
    let mut reversed = layout.clone();
    reversed.shape.reverse();
    reversed.strides.reverse();
    reversed.is_row_contiguous()
}

pub(super) fn entries() -> Vec<Entry> {
    let cases = vec![
        case_of("as it is", &[2, 3], |x| contiguous(x, false)),
        case_of("transposed", &[2, 3], |x| contiguous(&transpose(x, None)?, false)),
        case_of("transposed and allowed to be", &[2, 3], |x| contiguous(&transpose(x, None)?, true)),
        case_of("scalar", &[], |x| contiguous(x, false)),
        case_of("empty", &[0, 3], |x| contiguous(&transpose(x, None)?, false)),
    ];
    vec![Entry { name: "contiguous", doc: "The array laid out without gaps.", cases }]
}
