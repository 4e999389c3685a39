//! References in f64 that neither std nor libm has as we define them.

use std::f64::consts::{LN_2, PI};

pub(super) fn sigmoid(x: f64) -> f64 {
    if x < 0.0 { x.exp() / (1.0 + x.exp()) } else { 1.0 / (1.0 + (-x).exp()) }
}

/// libm's goes on below 1.
pub(super) fn acosh(x: f64) -> f64 {
    if x < 1.0 { f64::NAN } else { libm::acosh(x) }
}

pub(super) fn rsqrt(x: f64) -> f64 {
    1.0 / x.sqrt()
}

pub(super) fn sign(x: f64) -> f64 {
    if x == 0.0 || x.is_nan() { x } else { x.signum() }
}

pub(super) fn logaddexp(x: f64, y: f64) -> f64 {
    if x == y { x + LN_2 } else { larger(x, y) + (-(x - y).abs()).exp().ln_1p() }
}

/// The larger, or NaN if either is.
pub(super) fn larger(x: f64, y: f64) -> f64 {
    if x.is_nan() || x > y { x } else { y }
}

pub(super) fn remainder(x: f64, y: f64) -> f64 {
    let r = x % y;
    if r != 0.0 && (r < 0.0) != (y < 0.0) { r + y } else { r }
}

pub(super) fn floor_div(x: f64, y: f64) -> f64 {
    let r = x % y;
    if r.is_nan() {
        return if y == 0.0 && x.is_finite() { x / y } else { r };
    }
    let lower = if r != 0.0 && (r < 0.0) != (y < 0.0) { 1.0 } else { 0.0 };
    let q = ((x - r) / y).round() - lower;
    q.abs().copysign(if x.is_sign_negative() == y.is_sign_negative() { 1.0 } else { -1.0 })
}

/// By Halley's steps on erf, or on erfc where that keeps digits, from a rough start.
pub(super) fn erfinv(x: f64) -> f64 {
    let a = x.abs();
    if a.is_nan() || a > 1.0 {
        return f64::NAN;
    }
    if a == 1.0 {
        return x * f64::INFINITY;
    }
    if a < 1e-5 {
        return x * (PI.sqrt() / 2.0) * (1.0 + PI / 12.0 * x * x);
    }
    let l = ((1.0 - a) * (1.0 + a)).ln();
    let t = 2.0 / (PI * 0.147) + l / 2.0;
    let mut y = ((t * t - l / 0.147).sqrt() - t).sqrt();
    for _ in 0..4 {
        let miss = if a < 0.5 { libm::erf(y) - a } else { (1.0 - a) - libm::erfc(y) };
        let step = miss / (2.0 / PI.sqrt() * (-y * y).exp());
        y -= step / (1.0 + y * step);
    }
    y.copysign(x)
}

/// libm's is infinite at negative integers of either parity, where no limit exists.
pub(super) fn gamma(x: f64) -> f64 {
    if x < 0.0 && (x.fract() == 0.0 || x.is_infinite()) { f64::NAN } else { libm::tgamma(x) }
}

pub(super) fn lgamma(x: f64) -> f64 {
    if x < 0.0 && (x.fract() == 0.0 || x.is_infinite()) { f64::INFINITY } else { libm::lgamma(x) }
}

/// The size of log π and of `log(a |sin πa|)`, terms of lgamma(-a).
pub(super) fn log_reflection(a: f64) -> f64 {
    PI.ln() + ((PI * (a - a.round())).sin().abs() * a).ln().abs()
}

/// The size of `π cot(πa)`, a term of digamma(-a).
pub(super) fn cotangent(a: f64) -> f64 {
    (PI / (PI * (a - a.round())).tan()).abs()
}

/// Taylor's series about the zero, where digits would cancel; else the asymptotic series, after steps up.
pub(super) fn digamma(x: f64) -> f64 {
    if x < 0.0 {
        let r = x - x.round();
        return if r == 0.0 || x.is_infinite() { f64::NAN } else { digamma(1.0 - x) - PI / (PI * r).tan() };
    }
    let t = (x - 1.461_632_144_968_362_2) - 9.549_995_429_965_698e-17;
    if t.abs() < 1e-3 {
        const SERIES: [f64; 5] = [
            0.967_672_245_447_621_2,
            -0.442_763_168_983_592_1,
            0.258_499_760_955_651,
            -0.163_942_705_442_406_53,
            0.107_824_050_691_262_37,
        ];
        return t * SERIES.iter().rev().fold(0.0, |sum, c| sum * t + c);
    }
    if x < 10.0 {
        return digamma(x + 1.0) - 1.0 / x;
    }
    if x == f64::INFINITY {
        return x;
    }
    // Bernoulli numbers B(2k) / 2k.
    const BERNOULLI: [f64; 6] = [1.0 / 12.0, -1.0 / 120.0, 1.0 / 252.0, -1.0 / 240.0, 1.0 / 132.0, -691.0 / 32_760.0];
    let z = 1.0 / (x * x);
    x.ln() - 0.5 / x - z * BERNOULLI.iter().rev().fold(0.0, |sum, b| sum * z + b)
}
