//! Indices of reduction kernels: 32 bits, or 64 where an array needs them, and how they are split by shapes.

use pumice_kernel::arguments::Argument;
use pumice_kernel::{Builder, Scalar, Val};

use super::super::axes::Axis;

/// How wide indices are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Indices {
    /// Whether they have 64 bits.
    pub long: bool,
}

impl Indices {
    /// An argument.
    pub fn argument<'k>(self, k: &'k Builder, name: &str) -> Val<'k> {
        if self.long { k.arg_i64(name) } else { k.arg_i32(name) }
    }

    /// A value of the kernel as an index.
    pub fn of(self, val: Val<'_>) -> Val<'_> {
        if self.long { val.to_u(Scalar::I64) } else { val }
    }

    /// An argument's value.
    pub fn number(self, n: i64) -> Argument {
        if self.long { Argument::I64(n) } else { Argument::I32(n as i32) }
    }

    /// The arguments that [`Split::declare`] declares.
    pub fn split(self, axes: &[Axis]) -> impl Iterator<Item = Argument> + '_ {
        let one = [Axis { size: 1, stride: 0 }];
        let axes = if axes.is_empty() { one.to_vec() } else { axes.to_vec() };
        let sizes: Vec<Argument> = axes.iter().map(|axis| self.number(axis.size)).collect();
        let strides: Vec<Argument> = axes.iter().map(|axis| self.number(axis.stride)).collect();
        sizes.into_iter().chain(strides)
    }
}

/// Axes that a number is split by.
pub(crate) struct Split<'k> {
    sizes: Vec<Val<'k>>,
    strides: Vec<Val<'k>>,
}

impl<'k> Split<'k> {
    /// Declares the arguments: sizes, then strides, of `rank` axes (of one at least).
    pub fn declare(k: &'k Builder, indices: Indices, name: &str, rank: usize) -> Split<'k> {
        let scalar = if indices.long { Scalar::I64 } else { Scalar::I32 };
        let list = |what: &str| {
            let all = k.arg_array(&format!("{name}_{what}"), scalar, rank.max(1) as u32);
            (0..rank as i32).map(|axis| all.at(axis)).collect()
        };
        Split { sizes: list("sizes"), strides: list("strides") }
    }

    /// How far from `start` the element with this number lies.
    pub fn place(&self, start: Val<'k>, number: Val<'k>) -> Val<'k> {
        let (mut place, mut rest) = (start, number);
        for axis in (0..self.sizes.len()).rev() {
            let along = if axis == 0 { rest } else { rest.rem_u(self.sizes[axis]) };
            rest = if axis == 0 { rest } else { rest.div_u(self.sizes[axis]) };
            place = place + along * self.strides[axis];
        }
        place
    }
}
