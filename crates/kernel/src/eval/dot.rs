//! The dot product of four packed bytes.

/// `accumulator + Σ a[i] * b[i]` over the four bytes of each, wrapping; see `Op::Dot4`.
#[inline(always)]
pub fn dot4(signed_a: bool, signed_b: bool, a: u64, b: u64, accumulator: u64) -> u64 {
    let byte = |word: u64, i: u32, signed: bool| {
        let byte = (word >> (8 * i)) as u8;
        if signed { byte as i8 as i32 } else { byte as i32 }
    };
    let sum = (0..4).map(|i| byte(a, i, signed_a) * byte(b, i, signed_b)).sum::<i32>();
    (accumulator as u32).wrapping_add(sum as u32) as u64
}
