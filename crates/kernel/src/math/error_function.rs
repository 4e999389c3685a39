//! erf, erfc, erfinv.

use super::bits::with_sign;
use super::exponential::{exp_normal, exp_of_negated_square};
use super::logarithm::log_of_normal;
use super::polynomial::{negated_reciprocal_of_normal, polynomial};
use crate::build::Val;

/// `erf(x) / x - 1` in `x²` for `|x| <= 1`; relative error 2^-29.4.
const ERF: [f32; 7] =
    [0.128_379_17, -0.376_126_26, 0.112_835_79, -0.026_853_347, 0.005_187_162, -0.000_799_785_3, 0.000_078_069_03];
/// `log erfc(x)` for x from 1 to 3.93; absolute error of erfc 2^-29.8.
const LOG_ERFC: [f32; 7] =
    [-0.000_353_707_96, -1.127_04, -0.638_225_8, -0.103_037_16, 0.021_805_163, -0.002_939_552_5, 0.000_185_566_58];
/// `e^(x²) erfc(x) / u` with `u = 1 / (x + 2)`, in `u - ERFCX_CENTRE`, for x from 0.5 to 10.1; relative error 2^-28.1.
const ERFCX: [f32; 10] = [
    0.925_610_96,
    2.427_462_8,
    4.170_129_3,
    3.046_417,
    -4.044_108,
    -8.921_062,
    7.473_417_3,
    23.833_605,
    -25.545_658,
    -32.190_83,
];
/// Chosen so that the first coefficient is nearly a float.
const ERFCX_CENTRE: f32 = 0.212_890_63;

/// erf is 1 from here on.
const ERF_ONE: f32 = 3.93;

pub(super) fn erf(x: Val<'_>) -> Val<'_> {
    let a = x.abs();
    let near = erf_near_zero(a);
    let far = 1.0 - exp_normal(polynomial(a.gt(ERF_ONE).select(ERF_ONE, a), &LOG_ERFC));
    with_sign(a.ge(1.0).select(far, near), x)
}

fn erf_near_zero(x: Val<'_>) -> Val<'_> {
    // No fma at the end: it may take the smallest numbers for zeros.
    x + x * polynomial(x * x, &ERF)
}

pub(super) fn erfc(x: Val<'_>) -> Val<'_> {
    let a = x.abs();
    let far = erfc_far(a.gt(10.2).select(10.2, a));
    let far = x.lt(0.0).select(2.0 - far, far);
    let near = polynomial(x * x, &ERF).fma(-x, 1.0 - x);
    a.lt(0.7).select(near, far)
}

/// erfc from 0.5 to 10.2: `e^(-a²)` and a polynomial in `u = 1 / (a + 2)`, each with what its rounding missed.
fn erfc_far(a: Val<'_>) -> Val<'_> {
    let d = a + 2.0;
    let d_rest = a - (d - 2.0);
    let u = -negated_reciprocal_of_normal(d);
    let miss = d_rest.fma(-u, (-d).fma(u, 1.0));
    let v = u.fma(miss, u - ERFCX_CENTRE);
    let tail = polynomial(v, &ERFCX[1..]) * v;
    let p = tail + ERFCX[0];
    let p_rest = tail - (p - ERFCX[0]);
    let m = p * u;
    let m_rest = p.fma(u, -m) + p_rest.fma(u, m * miss);
    exp_of_negated_square(a, m, m_rest)
}

/// `erfinv(x) / x` in `w - ERFINV_CENTRE` with `w = -log(1 - x²)`, for w up to 6; relative error 2^-27.5.
const ERFINV: [f32; 11] = [
    1.518_730_2,
    0.246_034_59,
    -0.004_435_097,
    -0.001_191_665_8,
    0.000_216_236_43,
    -6.337_150_4e-6,
    -3.178_507_8e-6,
    4.692_619_8e-7,
    8.020_433e-9,
    -8.169_807e-9,
    6.267_485e-10,
];
const ERFINV_CENTRE: f32 = 2.570_312_5;
/// The same in `sqrt(w) - 3.2` for w from 6 to 16; relative error 2^-26.1.
const ERFINV_TAIL: [f32; 9] = [
    3.033_636_6,
    1.004_692_1,
    0.005_973_74,
    -0.004_284_985,
    0.002_944_066,
    -0.002_050_803,
    0.001_109_093_2,
    -0.000_227_015_58,
    -0.000_076_205_58,
];

pub(super) fn erfinv(x: Val<'_>) -> Val<'_> {
    let t = (-x).fma(x, 1.0);
    let w = -log_of_normal(t);
    let near = polynomial(w - ERFINV_CENTRE, &ERFINV);
    let tail = polynomial(w.sqrt() - 3.2, &ERFINV_TAIL);
    let y = w.gt(6.0).select(tail, near) * x;
    let y = x.abs().eq(1.0).select(with_sign(x.builder().f32(f32::INFINITY), x), y);
    x.abs().gt(1.0).select(f32::NAN, y)
}
