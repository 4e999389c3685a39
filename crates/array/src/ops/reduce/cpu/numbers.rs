//! Elements as reductions on the CPU compute with them: widened for sums, ordered for minima, converted without branches so that
//! loops over them become vector instructions.

use bytemuck::{Pod, Zeroable};
use half::{bf16, f16};

use super::folds::Sum;
use super::lanes::{count_nonzero, in_lanes};
use crate::dtype::Complex64;

/// A bool as it is stored.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub(crate) struct Flag(pub u8);

/// What can be summed.
pub(crate) trait Number: Pod + Send + Sync {
    /// What sums of it are computed in.
    type Wide: Wide;
    /// What sums of it are.
    type Sum: Pod + Send;
    /// The number to compute with.
    fn widen(self) -> Self::Wide;
    /// The result.
    fn narrow(wide: Self::Wide) -> Self::Sum;
    /// The sum of a run of elements, in the body of something `vectorised`.
    fn sum_of_run(elements: &[Self]) -> Self::Wide;
}

/// What sums are computed in.
pub(crate) trait Wide: Pod + Send + Sync {
    /// The sum of nothing.
    const ZERO: Self;
    /// The product of nothing.
    const ONE: Self;
    /// Whether the order of the elements does not matter.
    const EXACT: bool;
    /// The sum; integers wrap.
    fn add(self, other: Self) -> Self;
    /// The product; integers wrap.
    fn mul(self, other: Self) -> Self;
}

/// What has a least and a greatest.
pub(crate) trait Ranked: Pod + Send + Sync {
    /// What is compared.
    type Rank: Rank;
    /// The number to compare.
    fn rank(self) -> Self::Rank;
    /// The element of a rank.
    fn of(rank: Self::Rank) -> Self;
}

/// What is compared.
pub(crate) trait Rank: Pod + Send + Sync {
    /// Above or equal to all.
    const HIGHEST: Self;
    /// Below or equal to all.
    const LOWEST: Self;
    /// Whether the order of the elements does not matter.
    const EXACT: bool;
    /// Whether it comes first among ascending ones; NaN always does.
    fn below(self, other: Self) -> bool;
    /// Whether it comes first among descending ones; NaN always does.
    fn above(self, other: Self) -> bool;
}

/// What is true or false.
pub(crate) trait Truth: Pod + Send + Sync {
    /// Whether it differs from zero.
    fn truth(self) -> bool;
}

macro_rules! numbers {
    ($($ty:ty: $wide:ty => $sum:ty, |$x:ident| $widen:expr, |$w:ident| $narrow:expr, $sum_of_run:expr;)*) => {$(
        impl Number for $ty {
            type Wide = $wide;
            type Sum = $sum;
            #[inline(always)]
            fn widen(self) -> $wide {
                let $x = self;
                $widen
            }
            #[inline(always)]
            fn narrow($w: $wide) -> $sum {
                $narrow
            }
            #[inline(always)]
            fn sum_of_run(elements: &[$ty]) -> $wide {
                $sum_of_run(elements)
            }
        }
    )*};
}
numbers! {
    Flag: i32 => i32, |x| (x.0 != 0) as i32, |w| w, |run| count_nonzero(bytemuck::cast_slice(run));
    u8: u32 => u32, |x| x as u32, |w| w, in_lanes::<Sum<Self>>;
    u16: u32 => u32, |x| x as u32, |w| w, in_lanes::<Sum<Self>>;
    u32: u32 => u32, |x| x, |w| w, in_lanes::<Sum<Self>>;
    u64: u64 => u64, |x| x, |w| w, in_lanes::<Sum<Self>>;
    i8: i32 => i32, |x| x as i32, |w| w, in_lanes::<Sum<Self>>;
    i16: i32 => i32, |x| x as i32, |w| w, in_lanes::<Sum<Self>>;
    i32: i32 => i32, |x| x, |w| w, in_lanes::<Sum<Self>>;
    i64: i64 => i64, |x| x, |w| w, in_lanes::<Sum<Self>>;
    f16: f32 => f16, |x| from_f16(x), |w| f16::from_f32(w), in_lanes::<Sum<Self>>;
    bf16: f32 => bf16, |x| from_bf16(x), |w| bf16::from_f32(w), in_lanes::<Sum<Self>>;
    f32: f32 => f32, |x| x, |w| w, in_lanes::<Sum<Self>>;
    f64: f64 => f64, |x| x, |w| w, in_lanes::<Sum<Self>>;
    Complex64: Complex64 => Complex64, |x| x, |w| w, in_lanes::<Sum<Self>>;
}

macro_rules! wide_integers {
    ($($ty:ty)*) => {$(
        impl Wide for $ty {
            const ZERO: Self = 0;
            const ONE: Self = 1;
            const EXACT: bool = true;
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
        }
    )*};
}
wide_integers!(u8 u16 u32 u64 i16 i32 i64);

macro_rules! wide_floats {
    ($($ty:ty)*) => {$(
        impl Wide for $ty {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const EXACT: bool = false;
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self + other
            }
            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                self * other
            }
        }
    )*};
}
wide_floats!(f32 f64);

impl Wide for Complex64 {
    const ZERO: Self = Complex64 { re: 0.0, im: 0.0 };
    const ONE: Self = Complex64 { re: 1.0, im: 0.0 };
    const EXACT: bool = false;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Complex64 { re: self.re + other.re, im: self.im + other.im }
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Complex64 { re: self.re * other.re - self.im * other.im, im: self.re * other.im + self.im * other.re }
    }
}

macro_rules! ranked {
    ($($ty:ty => $rank:ty, |$x:ident| $to:expr, |$r:ident| $from:expr;)*) => {$(
        impl Ranked for $ty {
            type Rank = $rank;
            #[inline(always)]
            fn rank(self) -> $rank {
                let $x = self;
                $to
            }
            #[inline(always)]
            fn of($r: $rank) -> $ty {
                $from
            }
        }
    )*};
}
ranked! {
    Flag => u8, |x| (x.0 != 0) as u8, |r| Flag(r.min(1));
    u8 => u8, |x| x, |r| r;
    u16 => u16, |x| x, |r| r;
    u32 => u32, |x| x, |r| r;
    u64 => u64, |x| x, |r| r;
    i8 => i8, |x| x, |r| r;
    i16 => i16, |x| x, |r| r;
    i32 => i32, |x| x, |r| r;
    i64 => i64, |x| x, |r| r;
    f16 => f32, |x| from_f16(x), |r| f16::from_f32(r);
    bf16 => f32, |x| from_bf16(x), |r| bf16::from_f32(r);
    f32 => f32, |x| x, |r| r;
    f64 => f64, |x| x, |r| r;
    Complex64 => Complex64, |x| x, |r| r;
}

macro_rules! integer_ranks {
    ($($ty:ty)*) => {$(
        impl Rank for $ty {
            const HIGHEST: Self = <$ty>::MAX;
            const LOWEST: Self = <$ty>::MIN;
            const EXACT: bool = true;
            #[inline(always)]
            fn below(self, other: Self) -> bool {
                self < other
            }
            #[inline(always)]
            fn above(self, other: Self) -> bool {
                self > other
            }
        }
    )*};
}
integer_ranks!(u8 u16 u32 u64 i8 i16 i32 i64);

macro_rules! float_ranks {
    ($($ty:ty)*) => {$(
        impl Rank for $ty {
            const HIGHEST: Self = <$ty>::INFINITY;
            const LOWEST: Self = <$ty>::NEG_INFINITY;
            const EXACT: bool = false;
            // Of two NaN neither is first: the one that is there stays.
            #[inline(always)]
            fn below(self, other: Self) -> bool {
                (self < other) | ((self != self) & (other == other))
            }
            #[inline(always)]
            fn above(self, other: Self) -> bool {
                (self > other) | ((self != self) & (other == other))
            }
        }
    )*};
}
float_ranks!(f32 f64);

/// By real part, then by imaginary part; only a real part that is NaN counts as one.
impl Rank for Complex64 {
    const HIGHEST: Self = Complex64 { re: f32::INFINITY, im: f32::INFINITY };
    const LOWEST: Self = Complex64 { re: f32::NEG_INFINITY, im: f32::NEG_INFINITY };
    const EXACT: bool = false;
    fn below(self, other: Self) -> bool {
        self.re.below(other.re) || (self.re == other.re && self.im < other.im)
    }
    fn above(self, other: Self) -> bool {
        self.re.above(other.re) || (self.re == other.re && self.im > other.im)
    }
}

macro_rules! truths {
    ($($ty:ty: |$x:ident| $truth:expr;)*) => {$(
        impl Truth for $ty {
            #[inline(always)]
            fn truth(self) -> bool {
                let $x = self;
                $truth
            }
        }
    )*};
}
truths! {
    Flag: |x| x.0 != 0;
    u8: |x| x != 0;
    u16: |x| x != 0;
    u32: |x| x != 0;
    u64: |x| x != 0;
    i8: |x| x != 0;
    i16: |x| x != 0;
    i32: |x| x != 0;
    i64: |x| x != 0;
    f16: |x| x.to_bits() & 0x7fff != 0;
    bf16: |x| x.to_bits() & 0x7fff != 0;
    f32: |x| x != 0.0;
    f64: |x| x != 0.0;
    Complex64: |x| x.re != 0.0 || x.im != 0.0;
}

/// The same number: the exponent's bias is corrected by a product, which also makes subnormal numbers right.
#[inline(always)]
pub(crate) fn from_f16(x: f16) -> f32 {
    let (sign, rest) = ((x.to_bits() as u32 & 0x8000) << 16, (x.to_bits() as u32 & 0x7fff) << 13);
    let scaled = (f32::from_bits(rest) * f32::from_bits(0x7780_0000)).to_bits();
    let special = if rest >= 0x0f80_0000 { 0x7f80_0000 } else { 0 };
    f32::from_bits(scaled | special | sign)
}

/// The same number.
#[inline(always)]
pub(crate) fn from_bf16(x: bf16) -> f32 {
    f32::from_bits((x.to_bits() as u32) << 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_becomes_the_same_float() {
        for bits in 0..=u16::MAX {
            let x = f16::from_bits(bits);
            let (ours, theirs) = (from_f16(x), x.to_f32());
            assert!(ours.to_bits() == theirs.to_bits() || ours.is_nan() && theirs.is_nan(), "{bits:#x}");
            let x = bf16::from_bits(bits);
            let (ours, theirs) = (from_bf16(x), x.to_f32());
            assert!(ours.to_bits() == theirs.to_bits() || ours.is_nan() && theirs.is_nan(), "{bits:#x}");
        }
    }
}
