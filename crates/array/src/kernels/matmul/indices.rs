//! Indices into arrays inside the product kernels: I32, or I64 where an array is too long for that.

use pumice_kernel::{Builder, Scalar, Val};

/// Makes indices of one width.
#[derive(Clone, Copy)]
pub(crate) struct Indices<'k> {
    pub k: &'k Builder,
    pub long: bool,
}

impl<'k> Indices<'k> {
    /// A scalar argument of the index's type.
    pub fn arg(&self, name: &str) -> Val<'k> {
        if self.long { self.k.arg_i64(name) } else { self.k.arg_i32(name) }
    }

    /// An I32 as an index.
    pub fn of(&self, value: Val<'k>) -> Val<'k> {
        if self.long { value.to(Scalar::I64) } else { value }
    }
}

/// A strided array's arguments: where its first element is, two strides, and one per axis in front.
pub(crate) struct Strided<'k> {
    pub start: Val<'k>,
    /// Along its rows or its columns, as its reader means them.
    pub strides: [Val<'k>; 2],
    pub batch: Vec<Val<'k>>,
}

impl<'k> Strided<'k> {
    /// Declares the arguments, in this order.
    pub fn args(at: &Indices<'k>, name: &str, rank: usize) -> Strided<'k> {
        let start = at.arg(&format!("{name}_start"));
        let strides = [0, 1].map(|i| at.arg(&format!("{name}_stride{i}")));
        let batch = (0..rank).map(|i| at.arg(&format!("{name}_batch{i}"))).collect();
        Strided { start, strides, batch }
    }

    /// Where the matrix of a number begins; `sizes` are the axes that the number counts, the last fastest.
    pub fn base(&self, at: &Indices<'k>, number: Val<'k>, sizes: &[Val<'k>]) -> Val<'k> {
        let (mut rest, mut base) = (number, self.start);
        for (i, (&size, &stride)) in sizes.iter().zip(&self.batch).enumerate().rev() {
            let here = if i == 0 { rest } else { rest.rem_u(size) };
            base = base + at.of(here) * stride;
            rest = rest.div_u(size);
        }
        base
    }
}

/// The axes in front of the matrices, as arguments.
pub(crate) fn batch_sizes<'k>(k: &'k Builder, rank: usize) -> Vec<Val<'k>> {
    (0..rank).map(|i| k.arg_i32(&format!("batch{i}"))).collect()
}

/// `a · b + c`, rounded once where the device does that; where it would have to be made up for, a sum of products need not wait.
pub(crate) fn mul_add<'k>(fused: bool, a: Val<'k>, b: Val<'k>, c: Val<'k>) -> Val<'k> {
    if fused { a.fma(b, c) } else { a * b + c }
}
