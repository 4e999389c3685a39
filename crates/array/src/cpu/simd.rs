//! Loops compiled twice: for any processor of the architecture, and for those with wide vectors and fused products, which
//! are asked for at run time. Both give the same bits: nothing is contracted or reordered that is not written so.

#[cfg(target_arch = "x86_64")]
use std::sync::LazyLock;

/// Runs a body compiled for what the processor can do. It is given `out` and `inputs`, instead of catching them, because the
/// compiler knows only of arguments that nothing else points to what they are written through; without that it does not
/// vectorise. For the same reason the body must be `#[inline(always)]`.
#[inline(always)]
pub(crate) fn vectorised<O, I, R>(out: O, inputs: I, body: impl FnOnce(O, I) -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if has_wide_vectors() {
        // SAFETY: the processor has the features, and nothing else is asked of a caller.
        return unsafe { wide(out, inputs, body) };
    }
    body(out, inputs)
}

/// Whether `a.mul_add(b, c)` is an instruction in a [`vectorised`] body, and no call of the C library.
#[inline(always)]
pub(crate) fn has_fused_products() -> bool {
    cfg!(any(target_feature = "fma", target_arch = "aarch64")) || has_wide_vectors()
}

/// Whether this is an x86-64 processor with vectors of 256 bits and what came with them (2013 and later).
#[inline(always)]
pub(crate) fn has_wide_vectors() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        use std::is_x86_feature_detected as has;
        static FOUND: LazyLock<bool> = LazyLock::new(|| {
            let vectors = has!("avx2") && has!("fma") && has!("f16c");
            vectors && has!("bmi1") && has!("bmi2") && has!("lzcnt") && has!("popcnt")
        });
        *FOUND
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// What `x as i32` gives, in instructions that loops become vectors of: the fraction is dropped, beyond the ends are the ends, and
/// NaN is 0.
#[inline(always)]
pub(crate) fn truncated(x: f32) -> i32 {
    const END: f32 = 2_147_483_648.0;
    let low = if x < -END { -END } else { x };
    let inside = if low < END { low } else { 0.0 };
    // SAFETY: it is a number, from -2^31 on and below 2^31, so what is left of it without its fraction is an i32.
    let cut = unsafe { inside.to_int_unchecked::<i32>() };
    if x >= END { i32::MAX } else { cut }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
fn wide<O, I, R>(out: O, inputs: I, body: impl FnOnce(O, I) -> R) -> R {
    body(out, inputs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_cut_as_casts_cut_them() {
        let ends = [2_147_483_520.0, 2_147_483_648.0, 2_147_483_904.0, 1e30, f32::INFINITY, f32::MIN_POSITIVE, 0.0];
        let some = (0..10_000).map(|i| f32::from_bits(i * 214_013));
        for x in some.chain(ends).chain([0.5, 0.999_999_94, 16_777_217.0]).flat_map(|x| [x, -x]).chain([f32::NAN]) {
            assert_eq!(truncated(x), x as i32, "{x}");
        }
    }

    #[test]
    fn the_body_is_given_its_arguments() {
        let mut out = [0f32; 20];
        let count = vectorised(&mut out[..], (2.0, 3.0), |out, (a, b)| {
            out.iter_mut().enumerate().for_each(|(i, out)| *out = a * b + i as f32);
            out.len()
        });
        assert_eq!((count, out[0], out[19]), (20, 6.0, 25.0));
    }
}
