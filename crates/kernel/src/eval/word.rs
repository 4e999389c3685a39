//! Words and the machine types they hold, and what is done with a function once it is found.

use crate::types::Scalar;

/// A machine type held in a word.
pub(super) trait Word: Copy {
    fn get(word: u64) -> Self;
    fn put(self) -> u64;
}

macro_rules! words {
    ($($ty:ty, $word:ident => $get:expr, $value:ident => $put:expr;)*) => {$(
        impl Word for $ty {
            #[inline(always)]
            fn get($word: u64) -> $ty {
                $get
            }
            #[inline(always)]
            fn put(self) -> u64 {
                let $value = self;
                $put
            }
        }
    )*};
}

words! {
    bool, w => w & 1 != 0, v => v as u64;
    u32, w => w as u32, v => v as u64;
    i32, w => w as i32, v => v as u32 as u64;
    u64, w => w, v => v;
    i64, w => w as i64, v => v as u64;
    f32, w => f32::from_bits(w as u32), v => v.to_bits() as u64;
    f64, w => f64::from_bits(w), v => v.to_bits();
}

/// The bits a type has room for.
pub fn low_bits(scalar: Scalar, bits: u64) -> u64 {
    match scalar {
        Scalar::Bool => bits & 1,
        Scalar::I32 | Scalar::F32 => bits & u32::MAX as u64,
        Scalar::I64 | Scalar::F64 => bits,
    }
}

/// What to do with a function of one word.
pub(crate) trait Visit1 {
    type Out;
    fn visit(self, f: impl Fn(u64) -> u64) -> Self::Out;
}

/// What to do with a function of two words.
pub(crate) trait Visit2 {
    type Out;
    fn visit(self, f: impl Fn(u64, u64) -> u64) -> Self::Out;
}

/// What to do with a function of three words.
pub(crate) trait Visit3 {
    type Out;
    fn visit(self, f: impl Fn(u64, u64, u64) -> u64) -> Self::Out;
}

/// Applies the function to words at hand.
pub(super) struct Apply<const N: usize>(pub [u64; N]);

impl Visit1 for Apply<1> {
    type Out = u64;
    fn visit(self, f: impl Fn(u64) -> u64) -> u64 {
        f(self.0[0])
    }
}

impl Visit2 for Apply<2> {
    type Out = u64;
    fn visit(self, f: impl Fn(u64, u64) -> u64) -> u64 {
        f(self.0[0], self.0[1])
    }
}

impl Visit3 for Apply<3> {
    type Out = u64;
    fn visit(self, f: impl Fn(u64, u64, u64) -> u64) -> u64 {
        f(self.0[0], self.0[1], self.0[2])
    }
}

/// A function of a machine type as a function of words.
#[inline(always)]
pub(super) fn lift1<T: Word, R: Word>(f: impl Fn(T) -> R) -> impl Fn(u64) -> u64 {
    move |a| f(T::get(a)).put()
}

/// A function of two machine values as a function of words.
#[inline(always)]
pub(super) fn lift2<T: Word, R: Word>(f: impl Fn(T, T) -> R) -> impl Fn(u64, u64) -> u64 {
    move |a, b| f(T::get(a), T::get(b)).put()
}

/// A function of three machine values as a function of words.
#[inline(always)]
pub(super) fn lift3<T: Word, R: Word>(f: impl Fn(T, T, T) -> R) -> impl Fn(u64, u64, u64) -> u64 {
    move |a, b, c| f(T::get(a), T::get(b), T::get(c)).put()
}
