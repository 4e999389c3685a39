//! `others(x)[i] = Π_{j≠i} x[j]` along axes: the derivative of a product.
//!
//! Its values are quotients of the product, with care for zeros. At zeros those have no derivative, so the rules take another meaning:
//! products of what stands before and after each element.

use smallvec::smallvec;

use super::{prod, sum};
use crate::array::{Array, call_one};
use crate::error::Result;
use crate::op::{At, Key, Op, Specs, expect_inputs};
use crate::ops::astype::astype;
use crate::ops::binary::{divide, equal, floor_divide, multiply};
use crate::ops::flip::flip;
use crate::ops::full::{ones, ones_like, zeros_like};
use crate::ops::joins::concatenate;
use crate::ops::select::where_;
use crate::ops::slices::slice;
use crate::ops::views::{moveaxis, reshape, transpose};
use crate::shape::Spec;
use crate::transforms::{jvp_of_meaning, vjp_of_meaning};

/// For each element the product of the others along axes.
pub(super) fn product_of_others(x: &Array, axes: &[usize]) -> Result<Array> {
    call_one(Others { axes: axes.iter().map(|&axis| axis as i32).collect() }, [x.clone()])
}

#[derive(Debug)]
struct Others {
    axes: Vec<i32>,
}

impl Op for Others {
    fn name(&self) -> &'static str {
        "product_of_others"
    }

    fn key(&self, key: &mut Key) {
        key.ints(&self.axes);
    }

    fn infer(&self, inputs: &[&Spec]) -> Result<Specs> {
        let [x] = expect_inputs(self.name(), inputs)?;
        Ok(smallvec![x])
    }

    fn decompose(&self, inputs: &[Array]) -> Result<Option<Vec<Array>>> {
        Ok(Some(vec![by_quotients(&inputs[0], &self.axes)?]))
    }

    fn vjp(&self, at: &At<'_>, cotangents: &[Array]) -> Result<Vec<Option<Array>>> {
        vjp_of_meaning(self.name(), at, cotangents, &|x| Ok(Some(vec![by_neighbours(&x[0], &self.axes)?])))
    }

    fn jvp(&self, at: &At<'_>, tangents: &[Option<Array>]) -> Result<Vec<Array>> {
        jvp_of_meaning(self.name(), at, tangents, &|x| Ok(Some(vec![by_neighbours(&x[0], &self.axes)?])))
    }

    fn vmap(&self, inputs: &[Array], axes: &[Option<usize>]) -> Result<Vec<(Array, Option<usize>)>> {
        let x = moveaxis(&inputs[0], axes[0].expect("an input is mapped") as i32, 0)?;
        let axes = self.axes.iter().map(|axis| axis + 1).collect();
        Ok(vec![(call_one(Others { axes }, [x])?, Some(0))])
    }
}

/// Quotients of the product of all that are not zero, as long as the others have no zero.
fn by_quotients(x: &Array, axes: &[i32]) -> Result<Array> {
    let zero = equal(x, 0.0)?;
    let zeros = sum(&zero, Some(axes), true)?;
    let nonzero = where_(&zero, ones_like(x)?, x)?;
    let product = prod(&nonzero, Some(axes), true)?;
    let none = zeros_like(&product)?;
    // Products of integers are multiples of theirs.
    let quotient = if x.dtype().is_inexact() { divide } else { floor_divide }(&product, &nonzero)?;
    let beside_none = where_(equal(&zeros, 0)?, quotient, &none)?;
    let beside_one = where_(equal(&zeros, 1)?, &product, &none)?;
    astype(&where_(&zero, &beside_one, &beside_none)?, x.dtype())
}

/// What stands before an element times what stands after it.
fn by_neighbours(x: &Array, axes: &[i32]) -> Result<Array> {
    let order: Vec<i32> =
        (0..x.ndim() as i32).filter(|axis| !axes.contains(axis)).chain(axes.iter().copied()).collect();
    let moved = transpose(x, Some(&order))?;
    let n: i32 = axes.iter().map(|&axis| x.shape()[axis as usize]).product();
    let height = x.shape().iter().zip(0..).filter(|(_, axis)| !axes.contains(axis)).map(|(&size, _)| size).product();
    let rows = reshape(&moved, &[height, n])?;
    let backwards = |rows: &Array| flip(rows, Some(&[1]));
    let after = backwards(&product_before(&backwards(&rows)?)?)?;
    let others = reshape(&multiply(product_before(&rows)?, after)?, moved.shape())?;
    let mut back = vec![0; order.len()];
    order.iter().enumerate().for_each(|(to, &from)| back[from as usize] = to as i32);
    transpose(&others, Some(&back))
}

/// For each element of each row the product of those before it: of one, then of two, four, ….
fn product_before(rows: &Array) -> Result<Array> {
    let (mut products, mut reach) = (moved_on(rows, 1)?, 1);
    while reach < rows.shape()[1] {
        products = multiply(&products, moved_on(&products, reach)?)?;
        reach *= 2;
    }
    Ok(products)
}

/// The elements of rows moved on by so many, ones before them.
fn moved_on(rows: &Array, by: i32) -> Result<Array> {
    let [height, width] = [rows.shape()[0], rows.shape()[1]];
    let front = ones(&[height, by.min(width)], rows.dtype())?;
    concatenate(&[front, slice(rows, &[0, 0], &[height, width - by.min(width)], &[1, 1])?], 1)
}
