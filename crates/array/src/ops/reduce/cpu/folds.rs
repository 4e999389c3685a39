//! The ways to combine elements on the CPU, each for every type it takes.

use std::marker::PhantomData;

use bytemuck::Pod;
use half::{bf16, f16};

use super::lanes::in_lanes;
use super::numbers::{Flag, Number, Rank, Ranked, Truth, Wide};
use super::run;
use crate::dtype::{Complex64, Dtype};
use crate::error::Result;
use crate::eval::site::HostSite;

/// A way to combine.
pub(crate) trait Fold: 'static {
    /// An element.
    type In: Pod + Send + Sync;
    /// A partial result.
    type Part: Pod + Send + Sync;
    /// A result.
    type Out: Pod + Send;
    /// The partial result of no elements.
    const NONE: Self::Part;
    /// Whether elements are best combined one after the other: the order of integers does not matter, so compilers choose the
    /// vectors themselves.
    const IN_TURN: bool;
    /// Whether it takes arithmetic to make a partial result of an element.
    const LIFTS: bool;
    /// That of one.
    fn lift(x: Self::In) -> Self::Part;
    /// That of two together.
    fn combine(a: Self::Part, b: Self::Part) -> Self::Part;
    /// The result.
    fn finish(part: Self::Part) -> Self::Out;
    /// That of a run of elements that lie side by side, in the body of something `vectorised`.
    fn of_run(elements: &[Self::In]) -> Self::Part;
}

/// Reduces the first input of a call along axes into the first output.
pub(crate) type HostReduce = fn(&mut HostSite<'_>, &[usize]) -> Result<()>;

macro_rules! folds {
    ($(#[doc = $doc:literal] $name:ident, $choose:ident, $bound:ident, $part:ty => $out:ty: $none:expr, $in_turn:expr, $lift:expr, $combine:expr, $finish:expr, $of_run:expr;)*) => {$(
        #[doc = $doc]
        pub(crate) struct $name<T>(PhantomData<T>);

        impl<T: $bound + 'static> Fold for $name<T> {
            type In = T;
            type Part = $part;
            type Out = $out;
            const NONE: $part = $none;
            const IN_TURN: bool = $in_turn;
            const LIFTS: bool = size_of::<T>() != size_of::<$part>();
            #[inline(always)]
            fn lift(x: T) -> $part {
                $lift(x)
            }
            #[inline(always)]
            fn combine(a: $part, b: $part) -> $part {
                $combine(a, b)
            }
            #[inline(always)]
            fn finish(part: $part) -> $out {
                $finish(part)
            }
            #[inline(always)]
            fn of_run(elements: &[T]) -> $part {
                $of_run(elements)
            }
        }

        #[doc = $doc]
        pub(crate) fn $choose(dtype: Dtype) -> HostReduce {
            match dtype {
                Dtype::Bool => run::<$name<Flag>>,
                Dtype::U8 => run::<$name<u8>>,
                Dtype::U16 => run::<$name<u16>>,
                Dtype::U32 => run::<$name<u32>>,
                Dtype::U64 => run::<$name<u64>>,
                Dtype::I8 => run::<$name<i8>>,
                Dtype::I16 => run::<$name<i16>>,
                Dtype::I32 => run::<$name<i32>>,
                Dtype::I64 => run::<$name<i64>>,
                Dtype::F16 => run::<$name<f16>>,
                Dtype::F32 => run::<$name<f32>>,
                Dtype::F64 => run::<$name<f64>>,
                Dtype::BF16 => run::<$name<bf16>>,
                Dtype::C64 => run::<$name<Complex64>>,
            }
        }
    )*};
}
folds! {
    /// Sums.
    Sum, sum, Number, T::Wide => T::Sum: T::Wide::ZERO, T::Wide::EXACT, T::widen, Wide::add, T::narrow, T::sum_of_run;
    /// Sums in the type they are computed in.
    PreciseSum, precise_sum, Number, T::Wide => T::Wide: T::Wide::ZERO, T::Wide::EXACT, T::widen, Wide::add, std::convert::identity, T::sum_of_run;
    /// Products.
    Prod, prod, Number, T::Wide => T::Sum: T::Wide::ONE, T::Wide::EXACT, T::widen, Wide::mul, T::narrow, in_lanes::<Self>;
    /// Least elements.
    Min, min, Ranked, T::Rank => T: T::Rank::HIGHEST, T::Rank::EXACT, T::rank, least, T::of, in_lanes::<Self>;
    /// Greatest elements.
    Max, max, Ranked, T::Rank => T: T::Rank::LOWEST, T::Rank::EXACT, T::rank, greatest, T::of, in_lanes::<Self>;
    /// Whether all are true.
    All, all, Truth, u8 => u8: 1, true, |x: T| x.truth() as u8, std::ops::BitAnd::bitand, std::convert::identity, in_lanes::<Self>;
    /// Whether one is true.
    Any, any, Truth, u8 => u8: 0, true, |x: T| x.truth() as u8, std::ops::BitOr::bitor, std::convert::identity, in_lanes::<Self>;
}

/// Sums of squares, each square rounded.
pub(crate) struct SumOfSquares;

impl Fold for SumOfSquares {
    type In = f32;
    type Part = f32;
    type Out = f32;
    const NONE: f32 = 0.0;
    const IN_TURN: bool = false;
    const LIFTS: bool = true;
    #[inline(always)]
    fn lift(x: f32) -> f32 {
        x * x
    }
    #[inline(always)]
    fn combine(a: f32, b: f32) -> f32 {
        a + b
    }
    #[inline(always)]
    fn finish(part: f32) -> f32 {
        part
    }
    #[inline(always)]
    fn of_run(elements: &[f32]) -> f32 {
        in_lanes::<Self>(elements)
    }
}

#[inline(always)]
fn least<R: Rank>(a: R, b: R) -> R {
    if b.below(a) { b } else { a }
}

#[inline(always)]
fn greatest<R: Rank>(a: R, b: R) -> R {
    if b.above(a) { b } else { a }
}
