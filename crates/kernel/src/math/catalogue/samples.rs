//! Arguments that find errors: special values, all exponents, and the neighbourhoods where formulas meet.

const SPECIAL: [f32; 28] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    2.0,
    -2.0,
    3.0,
    -3.0,
    0.5,
    -0.5,
    2.5,
    -8.0,
    1e-3,
    100.0,
    8_388_609.0,
    16_777_216.0,
    -16_777_218.0,
    1e10,
    f32::MIN_POSITIVE,
    -f32::MIN_POSITIVE,
    1e-45,
    -1e-45,
    f32::MAX,
    f32::MIN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
    std::f32::consts::PI,
];

/// Points per range.
const DENSE: u32 = 1 << 14;

/// For one argument; the second list is zeros.
pub(super) fn unary(ranges: &[(f32, f32)], step: u32) -> (Vec<f32>, Vec<f32>) {
    let mut x = SPECIAL.to_vec();
    x.extend((0..=u32::MAX).step_by(step as usize).map(f32::from_bits));
    // A finer sweep looks closer at the ranges too.
    let dense = DENSE.max(DENSE * (4096 / step.min(4096)));
    for &(a, b) in ranges {
        let (low, high) = (a.to_bits().min(b.to_bits()), a.to_bits().max(b.to_bits()));
        let stride = ((high - low) / dense).max(1);
        x.extend((low..=high).step_by(stride as usize).map(f32::from_bits));
    }
    let y = vec![0.0; x.len()];
    (x, y)
}

/// For two arguments: special ones in all pairs, then random ones of four kinds.
pub(super) fn binary(step: u32) -> (Vec<f32>, Vec<f32>) {
    let mut pairs: Vec<(f32, f32)> = SPECIAL.iter().flat_map(|&x| SPECIAL.iter().map(move |&y| (x, y))).collect();
    let mut bits = Bits(0x9e37_79b9_7f4a_7c15);
    let count = u32::MAX / step;
    pairs.extend((0..count).map(|i| random_pair(i % 4, &mut bits)));
    pairs.into_iter().unzip()
}

/// One pair: any bits; near 1 to a large power; a power that stays in range; both between 1/2 and 2.
fn random_pair(kind: u32, bits: &mut Bits) -> (f32, f32) {
    let (x, y) = (bits.next(), bits.next());
    match kind {
        0 => (f32::from_bits(x), f32::from_bits(y)),
        1 => (f32::from_bits(0x3f60_0000 + (x >> 10)), f32::from_bits((0x4400_0000 + (y >> 7)) | (y << 31))),
        2 => {
            let base = f32::from_bits(x & 0x7fff_ffff);
            let exponent = y as f64 / 2f64.powi(32) * 300.0 - 150.0;
            (base, (exponent / (base as f64).log2()) as f32)
        }
        _ => (f32::from_bits(0x3f00_0000 + (x >> 8)), f32::from_bits(0x3f00_0000 + (y >> 8))),
    }
}

/// Marsaglia's xorshift: the same numbers every time.
struct Bits(u64);

impl Bits {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as u32
    }
}
