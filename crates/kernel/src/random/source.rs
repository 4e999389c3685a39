//! Where random kernels take their choices from: a small generator (splitmix64), and values worth trying.

use half::{bf16, f16};

use crate::types::{Elem, Scalar};

/// A stream of choices, the same for the same seed.
pub(super) struct Source {
    state: u64,
}

impl Source {
    pub fn new(seed: u64) -> Source {
        Source { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) }
    }

    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }

    /// True `part` times in `whole`.
    pub fn chance(&mut self, part: usize, whole: usize) -> bool {
        self.below(whole) < part
    }

    pub fn choose<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    /// The bits of a value of a type: often an edge case, often a small number, sometimes anything.
    pub fn scalar(&mut self, scalar: Scalar) -> u64 {
        let small = self.below(33) as i64 - 16;
        match (scalar, self.below(3)) {
            (Scalar::Bool, _) => self.bits() & 1,
            (Scalar::I32, 0) => small as u32 as u64,
            (Scalar::I32, 1) => self.choose(&INTEGERS) as u32 as u64,
            (Scalar::I32, _) => self.bits() & 0xffff_ffff,
            (Scalar::I64, 0) => small as u64,
            (Scalar::I64, 1) => self.choose(&INTEGERS) as u64,
            (Scalar::I64, _) => self.bits(),
            (Scalar::F32, 0) => (small as f32 / 4.0).to_bits() as u64,
            (Scalar::F32, 1) => self.choose(&FLOATS).to_bits() as u64,
            (Scalar::F32, _) => self.bits() & 0xffff_ffff,
            (Scalar::F64, 0) => (small as f64 / 4.0).to_bits(),
            (Scalar::F64, 1) => self.choose(&DOUBLES).to_bits(),
            (Scalar::F64, _) => self.bits(),
        }
    }

    /// An element's bytes, appended.
    pub fn element(&mut self, elem: Elem, bytes: &mut Vec<u8>) {
        let scalar = elem.compute().scalar().expect("elements are never matrices");
        let value = self.scalar(scalar);
        let single = f32::from_bits(value as u32);
        match elem {
            Elem::F16 => bytes.extend(f16::from_f32(single).to_le_bytes()),
            Elem::BF16 => bytes.extend(bf16::from_f32(single).to_le_bytes()),
            Elem::C64 => {
                let other = self.scalar(Scalar::F32);
                bytes.extend((value as u32).to_le_bytes());
                bytes.extend((other as u32).to_le_bytes());
            }
            _ => bytes.extend(&value.to_le_bytes()[..elem.bytes()]),
        }
    }
}

const INTEGERS: [i64; 16] =
    [0, 1, -1, 2, 31, 32, 63, 127, -128, 255, 32767, 65536, i32::MAX as i64, i32::MIN as i64, i64::MAX, i64::MIN];

/// Zeros, denormals, halfway cases of the narrow types, and the ends of every range.
const FLOATS: [f32; 20] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -2.5,
    1e-45,
    -1.1e-38,
    f32::MIN_POSITIVE,
    f32::MAX,
    f32::MIN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
    65519.996,
    65520.0,
    5.9604645e-8,
    2.9802322e-8,
    16777216.0,
    -2147483648.0,
];

const DOUBLES: [f64; 14] = [
    0.0,
    -0.0,
    1.0,
    -1.5,
    5e-324,
    -2.2250738585072e-308,
    f64::MIN_POSITIVE,
    f64::MAX,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    9007199254740993.0,
    -9223372036854775808.0,
    3.4028235677973366e38,
];
