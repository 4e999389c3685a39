//! Values on the host: made for a sample, given to arrays in several layouts, read back and compared.

use half::{bf16, f16};
use pumice::ops::catalogue::Sample;
use pumice::{Array, Dtype, Result};

/// Numbers in a shape; two for each complex element.
#[derive(Clone, Debug)]
pub struct Data {
    pub shape: Vec<i32>,
    pub dtype: Dtype,
    pub values: Vec<f64>,
}

impl Data {
    /// Repeatable values in a sample's range. Floats are numbers of the type, so that a wider type can have the same ones.
    pub fn sample(sample: &Sample, dtype: Dtype, seed: u64) -> Data {
        let dtype = sample.dtype.unwrap_or(dtype);
        let (low, high) = sample.range;
        let low = if dtype.is_unsigned() { low.max(0.0) } else { low };
        let mut source = Source(seed);
        let mut next = || match dtype {
            Dtype::Bool => (source.unit() < 0.5) as u8 as f64,
            _ if dtype.is_integer() => {
                (low.ceil() + (source.unit() * (high.floor() - low.ceil() + 1.0)).floor()).min(high)
            }
            _ => low + source.unit() * (high - low),
        };
        let count = elements(&sample.shape) * parts(dtype);
        let data = Data { shape: sample.shape.clone(), dtype, values: (0..count).map(|_| next()).collect() };
        if dtype.is_inexact() { Data::decode(&data.bytes(), dtype, &data.shape) } else { data }
    }

    /// An array of the values, without gaps.
    pub fn array(&self) -> Array {
        Array::from_bytes(&self.bytes(), &self.shape, self.dtype).expect("as many bytes as the shape has")
    }

    /// The values of an array.
    pub fn read(array: &Array) -> Result<Data> {
        Ok(Data::decode(&array.to_bytes()?, array.dtype(), array.shape()))
    }

    /// The same numbers as another type.
    pub fn with_dtype(&self, dtype: Dtype) -> Data {
        Data { dtype, ..self.clone() }
    }

    /// The values plus a multiple of others.
    pub fn moved(&self, step: f64, along: &Data) -> Data {
        let values = self.values.iter().zip(&along.values).map(|(x, v)| x + step * v).collect();
        Data { values, ..self.clone() }
    }

    /// The sum of products with others.
    pub fn dot(&self, other: &Data) -> f64 {
        self.values.iter().zip(&other.values).map(|(a, b)| a * b).sum()
    }

    /// The largest finite value, without its sign.
    pub fn largest(&self) -> f64 {
        self.values.iter().filter(|x| x.is_finite()).fold(0f64, |m, x| m.max(x.abs()))
    }

    /// The elements in another order: the one at a place is number `from(place)`.
    pub fn gathered(&self, shape: Vec<i32>, from: impl Fn(&[usize]) -> usize) -> Data {
        let n = parts(self.dtype);
        let mut values = Vec::with_capacity(elements(&shape) * n);
        for i in 0..elements(&shape) {
            let at = from(&place(i, &shape)) * n;
            values.extend_from_slice(&self.values[at..at + n]);
        }
        Data { shape, dtype: self.dtype, values }
    }

    /// The number of the element at a place.
    pub fn index(&self, place: &[usize]) -> usize {
        self.shape.iter().zip(place).fold(0, |index, (&n, &i)| index * n as usize + i)
    }

    /// Arrays of one shape along a new axis.
    pub fn stack(all: &[Data], axis: usize) -> Data {
        let first = &all[0];
        let mut shape = first.shape.clone();
        shape.insert(axis, all.len() as i32);
        let joined = Data {
            shape: shape.clone(),
            dtype: first.dtype,
            values: all.iter().flat_map(|data| data.values.iter().copied()).collect(),
        };
        joined.gathered(shape, |place| {
            let mut rest = place.to_vec();
            let which = rest.remove(axis);
            which * elements(&first.shape) + first.index(&rest)
        })
    }

    fn bytes(&self) -> Vec<u8> {
        self.values.iter().flat_map(|&x| encode(x, self.dtype)).collect()
    }

    fn decode(bytes: &[u8], dtype: Dtype, shape: &[i32]) -> Data {
        let values = bytes.chunks_exact(dtype.size() / parts(dtype)).map(|bytes| decode(bytes, dtype)).collect();
        Data { shape: shape.to_vec(), dtype, values }
    }
}

/// How two results differ, if they do: integers in any bit, floats by more than `slack` times what their type's rounding allows,
/// with respect to the largest result, or the largest term of what may be a sum that cancels.
pub fn difference(found: &Array, wanted: &Array, slack: f64, terms: f64) -> Result<Option<String>> {
    if found.spec() != wanted.spec() {
        return Ok(Some(format!("{found:?} instead of {wanted:?}")));
    }
    if found.to_bytes()? == wanted.to_bytes()? {
        return Ok(None);
    }
    let (found, wanted) = (Data::read(found)?, Data::read(wanted)?);
    Ok(near(&found, &wanted, wanted.dtype, slack, terms))
}

/// The same for values that may have two types and need only agree as far as a third rounds.
pub fn near(found: &Data, wanted: &Data, rounded: Dtype, slack: f64, terms: f64) -> Option<String> {
    if found.shape != wanted.shape {
        return Some(format!("shape {:?} instead of {:?}", found.shape, wanted.shape));
    }
    let allowed = slack * rounding(rounded);
    let largest = wanted.largest().max(terms);
    let differs = |(a, b): (&f64, &f64)| match a.is_finite() && b.is_finite() {
        true => (a - b).abs() > allowed * largest,
        false => !(a == b || a.is_nan() && b.is_nan()),
    };
    let mut pairs = found.values.iter().zip(&wanted.values);
    let at = pairs.position(differs).or((allowed == 0.0).then_some(0))?;
    let (found, wanted) = (found.values[at], wanted.values[at]);
    Some(format!("element {at} is {found} instead of {wanted} (allowed is {allowed:e} of {largest})"))
}

/// What one rounding may change, with respect to the largest value; nothing for integers.
pub fn rounding(dtype: Dtype) -> f64 {
    match dtype {
        Dtype::F32 | Dtype::F64 | Dtype::C64 => 1e-6,
        Dtype::F16 => 1e-3,
        Dtype::BF16 => 8e-3,
        _ => 0.0,
    }
}

/// The largest of the inputs that are floats.
pub fn largest_float(inputs: &[Data]) -> f64 {
    inputs.iter().filter(|data| data.dtype.is_inexact()).map(Data::largest).fold(0.0, f64::max)
}

/// Elements of a shape.
pub fn elements(shape: &[i32]) -> usize {
    shape.iter().map(|&n| n as usize).product()
}

fn parts(dtype: Dtype) -> usize {
    if dtype == Dtype::C64 { 2 } else { 1 }
}

/// Where the element of a number is.
fn place(mut index: usize, shape: &[i32]) -> Vec<usize> {
    let mut place = vec![0; shape.len()];
    for (at, &n) in place.iter_mut().zip(shape).rev() {
        *at = index % n as usize;
        index /= n as usize;
    }
    place
}

fn encode(x: f64, dtype: Dtype) -> Vec<u8> {
    match dtype {
        Dtype::F16 => f16::from_f64(x).to_le_bytes().to_vec(),
        Dtype::BF16 => bf16::from_f64(x).to_le_bytes().to_vec(),
        Dtype::F32 | Dtype::C64 => (x as f32).to_le_bytes().to_vec(),
        Dtype::F64 => x.to_le_bytes().to_vec(),
        _ => (x as i64).to_le_bytes()[..dtype.size()].to_vec(),
    }
}

fn decode(bytes: &[u8], dtype: Dtype) -> f64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    let (bits, unused) = (u64::from_le_bytes(word), 64 - 8 * bytes.len() as u32);
    match dtype {
        Dtype::F16 => f16::from_bits(bits as u16).to_f64(),
        Dtype::BF16 => bf16::from_bits(bits as u16).to_f64(),
        Dtype::F32 | Dtype::C64 => f32::from_bits(bits as u32) as f64,
        Dtype::F64 => f64::from_bits(bits),
        // Those just below 2^64 as what they are below it: a double has no room for them.
        _ if dtype.is_signed() || dtype == Dtype::U64 => ((bits << unused) as i64 >> unused) as f64,
        _ => bits as f64,
    }
}

/// A small generator of repeatable numbers.
struct Source(u64);

impl Source {
    /// From zero up to one.
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}
