//! Arrays as text, the way MLX prints them: `array([1, 2.5], dtype=float32)`.

use std::fmt;
use std::sync::atomic::{AtomicI32, Ordering};

use crate::array::Array;
use crate::dtype::Dtype;
use crate::shape::contiguous_strides;

/// Elements shown at each end of an axis that is too long to be shown whole.
const EDGE: usize = 3;
/// Significant digits of a float.
const DIGITS: i32 = 6;
/// Digits after the point, if they are fixed.
static PRECISION: AtomicI32 = AtomicI32::new(-1);

/// Prints floats with so many digits after the point from now on; with none given, with six significant ones.
pub fn set_precision(digits: Option<u16>) {
    PRECISION.store(digits.map_or(-1, i32::from), Ordering::Relaxed);
}

impl fmt::Display for Array {
    /// Computes the array, and shows its values; of long axes, the ends.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = match self.to_bytes() {
            Ok(bytes) => bytes,
            Err(error) => return write!(f, "array({error})"),
        };
        let values = Values { bytes: &bytes, dtype: self.dtype(), shape: self.shape() };
        f.write_str("array(")?;
        if self.size() == 0 && self.shape().first().is_none_or(|&n| n == 0) {
            f.write_str("[]")?;
        } else {
            values.axis(f, 0, 0)?;
        }
        write!(f, ", dtype={})", self.dtype())
    }
}

struct Values<'a> {
    bytes: &'a [u8],
    dtype: Dtype,
    shape: &'a [i32],
}

impl Values<'_> {
    /// Writes the elements of an axis, from the element at `start` on.
    fn axis(&self, f: &mut fmt::Formatter<'_>, axis: usize, start: usize) -> fmt::Result {
        if axis == self.shape.len() {
            return self.element(f, start);
        }
        let n = self.shape[axis] as usize;
        let stride = contiguous_strides(self.shape)[axis] as usize;
        let last = axis + 1 == self.shape.len();
        let between = if last { ", ".to_string() } else { format!(",\n{}", " ".repeat("array([".len() + axis)) };
        f.write_str("[")?;
        for i in 0..n {
            if n > 2 * EDGE && i == EDGE {
                write!(f, "{between}...")?;
            }
            if n > 2 * EDGE && (EDGE..n - EDGE).contains(&i) {
                continue;
            }
            f.write_str(if i > 0 { &between } else { "" })?;
            self.axis(f, axis + 1, start + i * stride)?;
        }
        f.write_str("]")
    }

    fn element(&self, f: &mut fmt::Formatter<'_>, index: usize) -> fmt::Result {
        let size = self.dtype.size();
        let mut word = [0; 8];
        word[..size].copy_from_slice(&self.bytes[index * size..][..size]);
        let bits = u64::from_le_bytes(word);
        let unused = 64 - 8 * size as u32;
        match self.dtype {
            Dtype::Bool => f.write_str(if bits != 0 { "True" } else { "False" }),
            Dtype::F16 => float(f, half::f16::from_bits(bits as u16).to_f64()),
            Dtype::BF16 => float(f, half::bf16::from_bits(bits as u16).to_f64()),
            Dtype::F32 => float(f, f32::from_bits(bits as u32) as f64),
            Dtype::F64 => float(f, f64::from_bits(bits)),
            Dtype::C64 => {
                let im = f32::from_bits((bits >> 32) as u32) as f64;
                float(f, f32::from_bits(bits as u32) as f64)?;
                // A negative zero has both signs, as in MLX.
                f.write_str(if im >= 0.0 { "+" } else { "" })?;
                float(f, im)?;
                f.write_str("j")
            }
            dtype if dtype.is_signed() => write!(f, "{}", (bits << unused) as i64 >> unused),
            _ => write!(f, "{bits}"),
        }
    }
}

/// A number with at most six significant digits, as C's `%g` writes it.
fn float(f: &mut fmt::Formatter<'_>, x: f64) -> fmt::Result {
    if !x.is_finite() {
        let sign = if x.is_sign_negative() && !x.is_nan() { "-" } else { "" };
        return write!(f, "{sign}{}", if x.is_nan() { "nan" } else { "inf" });
    }
    let precision = PRECISION.load(Ordering::Relaxed);
    if precision >= 0 {
        return write!(f, "{x:.*}", precision as usize);
    }
    // The exponent after rounding to the digits shown.
    let scientific = format!("{:.*e}", DIGITS as usize - 1, x);
    let (digits, exponent) = scientific.split_once('e').expect("the format has an exponent");
    let exponent: i32 = exponent.parse().expect("the exponent is a number");
    if x != 0.0 && !(-4..DIGITS).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return write!(f, "{}e{sign}{:02}", trimmed(digits), exponent.abs());
    }
    let fixed = format!("{:.*}", (DIGITS - 1 - exponent).max(0) as usize, x);
    f.write_str(trimmed(&fixed))
}

/// Without zeros at the end of a fraction.
fn trimmed(digits: &str) -> &str {
    match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.'),
        false => digits,
    }
}

#[cfg(test)]
mod tests {
    use crate::ops::create::arange;
    use crate::ops::views::reshape;
    use crate::{Array, Complex64, Dtype};

    fn counted(n: f64, shape: &[i32]) -> Array {
        reshape(&arange(0.0, n, 1.0, Some(Dtype::I32)).expect("a range"), shape).expect("it fits")
    }

    /// What the wheel's `repr` gives for the same arrays.
    #[test]
    fn arrays_read_as_the_wheel_prints_them() {
        let floats = [1e10f32, 1e-7, 123_456.79, f32::INFINITY, f32::NAN, -0.0];
        let floats = Array::from_slice(&floats, &[6]).expect("six");
        assert_eq!(floats.to_string(), "array([1e+10, 1e-07, 123457, inf, nan, -0], dtype=float32)");
        assert_eq!(Array::scalar(2.5f32).to_string(), "array(2.5, dtype=float32)");
        assert_eq!(counted(7.0, &[7]).to_string(), "array([0, 1, 2, ..., 4, 5, 6], dtype=int32)");
        let cube = "array([[[0, 1],\n        [2, 3]],\n       [[4, 5],\n        [6, 7]]], dtype=int32)";
        assert_eq!(counted(8.0, &[2, 2, 2]).to_string(), cube);
        let long =
            "array([[0],\n       [1],\n       [2],\n       ...,\n       [5],\n       [6],\n       [7]], dtype=int32)";
        assert_eq!(counted(8.0, &[8, 1]).to_string(), long);
        let empty = |shape: &[i32]| Array::from_slice::<f32>(&[], shape).expect("none").to_string();
        assert_eq!(empty(&[0]), "array([], dtype=float32)");
        assert_eq!(empty(&[0, 3]), "array([], dtype=float32)");
        assert_eq!(empty(&[2, 0]), "array([[],\n       []], dtype=float32)");
        let bools = Array::from_bools(&[true, false], &[2]).expect("two");
        assert_eq!(bools.to_string(), "array([True, False], dtype=bool)");
        let z = Array::from_slice(&[Complex64 { re: -1.5, im: -0.25 }], &[1]).expect("one");
        assert_eq!(z.to_string(), "array([-1.5-0.25j], dtype=complex64)");
        let half = Array::from_slice(&[half::bf16::from_f32(0.1)], &[1]).expect("one");
        assert_eq!(half.to_string(), "array([0.100098], dtype=bfloat16)");
    }
}
