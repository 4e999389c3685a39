//! `bits(shape, width, key)`: random bits, the ground that every other random number stands on.
//!
//! A key's words come in pairs: word `i` of the first half and word `i` of the second are the two words of one hash. A
//! middle word that is left over has a hash of its own.

use pumice_kernel::{Scalar, Val};
use smallvec::smallvec;

use super::key::{check, given_or_next};
use super::threefry::hash;
use crate::array::{Array, call_one};
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::op::{At, Element, Key, Lowering, Map, Op, Place, Specs, expect_inputs};
use crate::ops::broadcast_to::broadcast_to;
use crate::ops::gather::take_one;
use crate::shape::{Spec, display, size_of};
use crate::transforms::align_mapped;
use crate::typed::Typed;

/// Random unsigned integers of `width` bytes: 1, 2 or 4.
pub fn bits(shape: &[i32], width: usize, key: Option<&Array>) -> Result<Array> {
    if shape.iter().any(|&n| n < 0) {
        let shape = display(shape);
        return Err(Error::Value(format!("[bits] the sizes of a shape must not be negative but are {shape}.")));
    }
    let dtype = match width {
        1 => Dtype::U8,
        2 => Dtype::U16,
        4 => Dtype::U32,
        _ => return Err(Error::Value(format!("[bits] the width must be 1, 2 or 4 bytes but is {width}."))),
    };
    let key = given_or_next(key)?;
    check("bits", &key)?;
    let elements = size_of(shape);
    // More than any memory holds is refused when it is computed.
    let counts = [elements.saturating_mul(width).div_ceil(4), elements].map(|n| i64::try_from(n).unwrap_or(i64::MAX));
    let numbers = counts.map(|n| broadcast_to(&Array::scalar(n), shape));
    let halves = [0, 1].map(|i| broadcast_to(&take_one(&key, i, Some(0))?, shape));
    let [first, second] = halves;
    let [words, elements] = numbers;
    call_one(Bits { dtype, keys: Keys::One }, [first?, second?, words?, elements?])
}

/// Random bits, of the key's two words, the words a key makes and the elements they fill, all repeated over the result.
#[derive(Debug)]
struct Bits {
    dtype: Dtype,
    keys: Keys,
}

/// Whether every element has the same key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Keys {
    One,
    Many,
}

impl Op for Bits {
    fn name(&self) -> &'static str {
        "bits"
    }

    fn key(&self, key: &mut Key) {
        key.word(((self.keys as u64) << 8) | self.dtype as u64);
    }

    fn infer(&self, inputs: &[&Spec]) -> Result<Specs> {
        let [first, ..]: [Spec; 4] = expect_inputs(self.name(), inputs)?;
        Ok(smallvec![first.with_dtype(self.dtype)])
    }

    fn vjp(&self, at: &At<'_>, _: &[Array]) -> Result<Vec<Option<Array>>> {
        Ok(vec![None; at.inputs.len()])
    }

    fn jvp(&self, at: &At<'_>, _: &[Option<Array>]) -> Result<Vec<Array>> {
        Ok(vec![crate::ops::full::zeros_like(&at.outputs[0])?])
    }

    fn vmap(&self, inputs: &[Array], axes: &[Option<usize>]) -> Result<Vec<(Array, Option<usize>)>> {
        // Counting the elements of a key needs the extra axis in front.
        let front = |(x, axis): (&Array, &Option<usize>)| match axis {
            Some(axis) => Ok((crate::ops::views::moveaxis(x, *axis as i32, 0)?, Some(0))),
            None => Ok((x.clone(), None)),
        };
        let moved = inputs.iter().zip(axes).map(front).collect::<Result<Vec<_>>>()?;
        let (inputs, axes): (Vec<Array>, Vec<Option<usize>>) = moved.into_iter().unzip();
        let (inputs, axis) = align_mapped(&inputs, &axes)?;
        Ok(vec![(call_one(Bits { dtype: self.dtype, keys: Keys::Many }, inputs)?, axis)])
    }

    fn lower(&self, _: &Place<'_>) -> Lowering<'_> {
        Lowering::Map(self)
    }
}

impl Map for Bits {
    fn map<'k>(&self, at: &Element<'k>, inputs: &[Typed<'k>]) -> Typed<'k> {
        let [first, second, words, elements] = [0, 1, 2, 3].map(|i| inputs[i].val);
        let element = match self.keys {
            Keys::One => at.index,
            Keys::Many => at.index.rem_u(elements),
        };
        let size = self.dtype.size() as i32;
        let word = word_of([first, second], words.to_u(Scalar::I32), element.div_u(4 / size).to_u(Scalar::I32));
        if size == 4 {
            return Typed::new(word, self.dtype);
        }
        let shift = element.rem_u(4 / size).to_u(Scalar::I32) * (8 * size);
        Typed::new(word.shr_u(shift) & ((1 << (8 * size)) - 1), self.dtype)
    }
}

/// One of the words that a key makes.
fn word_of<'k>(key: [Val<'k>; 2], words: Val<'k>, word: Val<'k>) -> Val<'k> {
    let half = words.shr_u(1);
    let second_half = half + (words & 1);
    let in_first = word.lt_u(second_half);
    let pair = in_first.select(word, word - second_half);
    let alone = in_first & word.ge_u(half);
    let counters = [pair, alone.select(0, pair + second_half)];
    let both = hash(key, counters);
    in_first.select(both[0], both[1])
}
