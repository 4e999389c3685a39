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

#[cfg(test)]
mod tests {
    use super::*;

    fn pack(bytes: [i32; 4]) -> u64 {
        u32::from_le_bytes(bytes.map(|b| b as u8)) as u64
    }

    #[test]
    fn each_side_has_its_own_sign() {
        let (a, b) = (pack([-1, 2, 127, -128]), pack([1, -3, 2, -128]));
        assert_eq!(dot4(true, true, a, b, 10) as i32, -1 - 6 + 254 + 16384 + 10);
        assert_eq!(dot4(false, false, a, b, 0), 255 + 2 * 253 + 254 + 128 * 128);
        assert_eq!(dot4(true, false, a, b, 0) as i32, -1 + 2 * 253 + 254 - 128 * 128);
        assert_eq!(dot4(false, true, a, b, 0) as i32, 255 - 6 + 254 - 128 * 128);
    }

    #[test]
    fn the_accumulator_wraps() {
        assert_eq!(dot4(false, false, 1, 1, u32::MAX as u64), 0);
        assert_eq!(dot4(true, true, pack([-1; 4]), pack([1; 4]), 0), -4i32 as u32 as u64);
    }
}
