//! What products are made of: element types, and what they are summed in.

use ndarray::LinalgScalar;

use crate::cpu::half::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};
use crate::cpu::simd::vectorised;

/// A complex number as `matrixmultiply` knows it: the same eight bytes as ours.
pub(super) type Complex32 = num_complex::Complex<f32>;

/// What sums are made in.
pub(super) trait Number: LinalgScalar + Send + Sync + bytemuck::Pod {
    /// Zero.
    const ZERO: Self;
    /// The number times a real one.
    fn scaled(self, factor: f32) -> Self;
}

impl Number for f32 {
    const ZERO: f32 = 0.0;
    fn scaled(self, factor: f32) -> f32 {
        self * factor
    }
}

impl Number for f64 {
    const ZERO: f64 = 0.0;
    fn scaled(self, factor: f32) -> f64 {
        self * factor as f64
    }
}

impl Number for Complex32 {
    const ZERO: Complex32 = Complex32::new(0.0, 0.0);
    fn scaled(self, factor: f32) -> Complex32 {
        self * factor
    }
}

/// What elements are stored as.
pub(super) trait Stored: bytemuck::Pod + Send + Sync {
    /// What they are summed in.
    type Sum: Number;
    /// Whether that is the same type.
    const SAME: bool;
    /// Elements as what they are summed in.
    fn widen(from: &[Self], to: &mut [Self::Sum]);
    /// Sums as elements, rounded.
    fn round(from: &[Self::Sum], to: &mut [Self]);
}

macro_rules! same {
    ($($t:ty),*) => {$(
        impl Stored for $t {
            type Sum = $t;
            const SAME: bool = true;
            fn widen(from: &[$t], to: &mut [$t]) {
                to.copy_from_slice(from);
            }
            fn round(from: &[$t], to: &mut [$t]) {
                to.copy_from_slice(from);
            }
        }
    )*};
}
same!(f32, f64, Complex32);

macro_rules! half {
    ($($t:ty, $from:path, $to:path;)*) => {$(
        impl Stored for $t {
            type Sum = f32;
            const SAME: bool = false;
            fn widen(from: &[$t], to: &mut [f32]) {
                vectorised(
                    to,
                    from,
                    #[inline(always)]
                    |to, from| to.iter_mut().zip(from).for_each(|(to, x)| *to = $from(x.to_bits())),
                );
            }
            fn round(from: &[f32], to: &mut [$t]) {
                vectorised(
                    to,
                    from,
                    #[inline(always)]
                    |to, from| to.iter_mut().zip(from).for_each(|(to, x)| *to = <$t>::from_bits($to(*x))),
                );
            }
        }
    )*};
}
half! {
    half::f16, f16_to_f32, f32_to_f16;
    half::bf16, bf16_to_f32, f32_to_bf16;
}
