//! The inner loops: a function of one, two or three operands over a block.
//!
//! A block's lanes stand in chunks of [`LANES`]. A chunk is an array, so its loop has no remainder and no bounds, and
//! the compiler turns it into vector instructions. An operand is a chunk for each chunk of the result, or one chunk
//! for all: constants and scalars cost no memory and need no loops of their own. Whatever loops over lanes is here or
//! in `fma`, `mask` and `transfer`.

use crate::cpu::simd::vectorised;

/// Lanes in a chunk: eight SSE or four AVX registers of 32-bit lanes, enough to hide what a chunk costs.
pub(super) const LANES: usize = 32;

/// Lanes that are worked on together, as bits.
pub(super) type Chunk<T> = [T; LANES];

/// What a lane holds, and the bits it is held as.
pub(super) trait Lane: Copy {
    /// `u32` or `u64`.
    type Bits: Copy;
    fn of(bits: Self::Bits) -> Self;
    fn bits(self) -> Self::Bits;
}

macro_rules! lanes {
    ($($ty:ty as $bits:ty, $b:ident => $of:expr, $value:ident => $put:expr;)*) => {$(
        impl Lane for $ty {
            type Bits = $bits;
            #[inline(always)]
            fn of($b: $bits) -> $ty {
                $of
            }
            #[inline(always)]
            fn bits(self) -> $bits {
                let $value = self;
                $put
            }
        }
    )*};
}

lanes! {
    // All ones where it holds: comparisons make such masks and selections want them.
    bool as u32, b => b != 0, v => if v { u32::MAX } else { 0 };
    u32 as u32, b => b, v => v;
    i32 as u32, b => b as i32, v => v as u32;
    f32 as u32, b => f32::from_bits(b), v => v.to_bits();
    u64 as u64, b => b, v => v;
    i64 as u64, b => b as i64, v => v as u64;
    f64 as u64, b => f64::from_bits(b), v => v.to_bits();
}

/// An operand of a loop.
#[derive(Clone, Copy)]
pub(super) struct Lanes<'a, T> {
    chunks: &'a [Chunk<T>],
    /// What is kept of a chunk's number: all of it, or nothing where one chunk serves all.
    mask: usize,
}

impl<'a, T> Lanes<'a, T> {
    /// A chunk for each chunk of the result, or the first for all.
    pub(super) fn new(chunks: &'a [Chunk<T>], uniform: bool) -> Lanes<'a, T> {
        Lanes { chunks, mask: if uniform { 0 } else { usize::MAX } }
    }

    /// The lane all are equal to, where one chunk serves all.
    pub(super) fn uniform(self) -> Option<T>
    where
        T: Copy,
    {
        (self.mask == 0).then(|| self.chunks[0][0])
    }

    /// The chunk for a chunk of the result.
    #[inline(always)]
    pub(super) fn at(self, chunk: usize) -> &'a Chunk<T> {
        &self.chunks[chunk & self.mask]
    }
}

/// A loop of one operand.
pub(super) type Loop1<R, A> = fn(&mut [Chunk<R>], Lanes<'_, A>);
/// A loop of two operands.
pub(super) type Loop2<R, A, B> = fn(&mut [Chunk<R>], Lanes<'_, A>, Lanes<'_, B>);
/// A loop of three operands.
pub(super) type Loop3<R, A, B, C> = fn(&mut [Chunk<R>], Lanes<'_, A>, Lanes<'_, B>, Lanes<'_, C>);

/// A loop by the widths of its result and its operands.
#[derive(Clone, Copy)]
pub(super) enum Function {
    Narrow1(Loop1<u32, u32>),
    Narrow2(Loop2<u32, u32, u32>),
    Narrow3(Loop3<u32, u32, u32, u32>),
    Wide1(Loop1<u64, u64>),
    Wide2(Loop2<u64, u64, u64>),
    Wide3(Loop3<u64, u64, u64, u64>),
    /// 32 bits to 64.
    Widen(Loop1<u64, u32>),
    /// 64 bits to 32.
    Shrink(Loop1<u32, u64>),
    /// A mask from two of 64 bits.
    Test(Loop2<u32, u64, u64>),
    /// 64 bits from two halves.
    Join(Loop2<u64, u32, u32>),
    /// One of two of 64 bits, by a mask.
    Choose(Loop3<u64, u32, u64, u64>),
    /// A polynomial by Horner's rule, by its number in the program: of a first value, and of what it is multiplied with.
    Polynomial(usize),
}

#[inline(always)]
pub(super) fn map1<A: Lane, R: Lane>(out: &mut [Chunk<R::Bits>], a: Lanes<'_, A::Bits>, f: impl Fn(A) -> R) {
    vectorised(
        out,
        (a, f),
        #[inline(always)]
        |out, (a, f)| {
            for (i, out) in out.iter_mut().enumerate() {
                let a = a.at(i);
                for lane in 0..LANES {
                    out[lane] = f(A::of(a[lane])).bits();
                }
            }
        },
    );
}

#[inline(always)]
pub(super) fn map2<A: Lane, B: Lane, R: Lane>(
    out: &mut [Chunk<R::Bits>],
    a: Lanes<'_, A::Bits>,
    b: Lanes<'_, B::Bits>,
    f: impl Fn(A, B) -> R,
) {
    vectorised(
        out,
        (a, b, f),
        #[inline(always)]
        |out, (a, b, f)| {
            for (i, out) in out.iter_mut().enumerate() {
                let (a, b) = (a.at(i), b.at(i));
                for lane in 0..LANES {
                    out[lane] = f(A::of(a[lane]), B::of(b[lane])).bits();
                }
            }
        },
    );
}

#[inline(always)]
pub(super) fn map3<A: Lane, B: Lane, C: Lane, R: Lane>(
    out: &mut [Chunk<R::Bits>],
    a: Lanes<'_, A::Bits>,
    b: Lanes<'_, B::Bits>,
    c: Lanes<'_, C::Bits>,
    f: impl Fn(A, B, C) -> R,
) {
    vectorised(
        out,
        (a, b, c, f),
        #[inline(always)]
        |out, (a, b, c, f)| {
            for (i, out) in out.iter_mut().enumerate() {
                let (a, b, c) = (a.at(i), b.at(i), c.at(i));
                for lane in 0..LANES {
                    out[lane] = f(A::of(a[lane]), B::of(b[lane]), C::of(c[lane])).bits();
                }
            }
        },
    );
}

/// A row of a table: the variant, and the function of a lane.
macro_rules! each {
    ($variant:ident, |$a:ident: $ta:ty| $f:expr) => {
        $crate::cpu::block::loops::Function::$variant(|out, a| $crate::cpu::block::loops::map1(out, a, |$a: $ta| $f))
    };
    ($variant:ident, |$a:ident: $ta:ty, $b:ident: $tb:ty| $f:expr) => {
        $crate::cpu::block::loops::Function::$variant(|out, a, b| {
            $crate::cpu::block::loops::map2(out, a, b, |$a: $ta, $b: $tb| $f)
        })
    };
    ($variant:ident, |$a:ident: $ta:ty, $b:ident: $tb:ty, $c:ident: $tc:ty| $f:expr) => {
        $crate::cpu::block::loops::Function::$variant(|out, a, b, c| {
            $crate::cpu::block::loops::map3(out, a, b, c, |$a: $ta, $b: $tb, $c: $tc| $f)
        })
    };
}
pub(super) use each;
