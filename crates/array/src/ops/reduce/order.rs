//! Which of two scalars comes first: NaN before all, complex numbers by real part, then by imaginary part.

use pumice_kernel::{Builder, Type, Val};

use crate::dtype::Dtype;
use crate::typed::{Typed, compute, constant};

/// The smaller.
pub(crate) fn least<'k>(a: Typed<'k>, b: Typed<'k>) -> Typed<'k> {
    match a.dtype {
        Dtype::C64 => Typed::new(below(b, a).select(b.val, a.val), a.dtype),
        _ => a.minimum(b),
    }
}

/// The larger.
pub(crate) fn greatest<'k>(a: Typed<'k>, b: Typed<'k>) -> Typed<'k> {
    match a.dtype {
        Dtype::C64 => Typed::new(above(b, a).select(b.val, a.val), a.dtype),
        _ => a.maximum(b),
    }
}

/// Whether `a` comes before `b` among ascending numbers.
pub(crate) fn below<'k>(a: Typed<'k>, b: Typed<'k>) -> Val<'k> {
    or_nan(a, b, a.less(b))
}

/// Whether `a` comes before `b` among descending numbers.
pub(crate) fn above<'k>(a: Typed<'k>, b: Typed<'k>) -> Val<'k> {
    or_nan(a, b, b.less(a))
}

fn or_nan<'k>(a: Typed<'k>, b: Typed<'k>, first: Val<'k>) -> Val<'k> {
    let real = |x: Typed<'k>| if x.dtype == Dtype::C64 { x.complex().re } else { x.val };
    let (x, y) = (real(a), real(b));
    if a.dtype.is_inexact() { first | x.ne(x) & y.eq(y) } else { first }
}

/// Above or equal to all numbers of a type.
pub(crate) fn highest(k: &Builder, dtype: Dtype) -> Typed<'_> {
    match dtype {
        Dtype::Bool => constant(k, dtype, 1.0),
        _ if dtype.is_inexact() => both_parts(k, dtype, f64::INFINITY),
        _ if dtype.is_unsigned() => integer(k, dtype, u64::MAX >> (64 - 8 * dtype.size())),
        _ => integer(k, dtype, (i64::MAX >> (64 - 8 * dtype.size())) as u64),
    }
}

/// Below or equal to all numbers of a type.
pub(crate) fn lowest(k: &Builder, dtype: Dtype) -> Typed<'_> {
    match dtype {
        _ if dtype.is_inexact() => both_parts(k, dtype, f64::NEG_INFINITY),
        _ if dtype.is_signed() => integer(k, dtype, (i64::MIN >> (64 - 8 * dtype.size())) as u64),
        _ => constant(k, dtype, 0.0),
    }
}

fn both_parts(k: &Builder, dtype: Dtype, value: f64) -> Typed<'_> {
    match dtype {
        Dtype::C64 => Typed::new(k.vector(&[k.f32(value as f32), k.f32(value as f32)]), dtype),
        _ => constant(k, dtype, value),
    }
}

fn integer(k: &Builder, dtype: Dtype, bits: u64) -> Typed<'_> {
    let ty = Type::Scalar(compute(dtype));
    Typed::new(k.constant(ty, if ty == Type::I32 { bits as u32 as u64 } else { bits }), dtype)
}
