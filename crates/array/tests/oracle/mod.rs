//! What the wheel gave, as `elementwise.py` wrote it down, and how close we must come to it.

use pumice::{Array, Dtype};

/// A line of the file.
pub enum Line {
    Input {
        name: String,
        array: Array,
    },
    /// What it gave, or the name of the error it raised.
    Result {
        op: String,
        dtype: Dtype,
        expected: Result<Array, String>,
    },
    Vjp {
        op: String,
        dtype: Dtype,
        expected: Vec<Array>,
    },
}

pub fn lines() -> impl Iterator<Item = Line> {
    include_str!("elementwise.txt").lines().map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["vjp", op, dtype, ref bytes @ ..] => {
                let dtype = named(dtype);
                Line::Vjp { op: op.into(), dtype, expected: bytes.iter().map(|hex| array(dtype, hex)).collect() }
            }
            [name, dtype, hex] if !hex.ends_with("Error") => {
                Line::Input { name: name.into(), array: array(named(dtype), hex) }
            }
            [op, dtype, error] => Line::Result { op: op.into(), dtype: named(dtype), expected: Err(error.to_string()) },
            [op, dtype, gives, hex] => {
                Line::Result { op: op.into(), dtype: named(dtype), expected: Ok(array(named(gives), hex)) }
            }
            _ => panic!("not a line of the file: {line}"),
        }
    })
}

fn named(name: &str) -> Dtype {
    Dtype::ALL.into_iter().find(|dtype| dtype.name() == name).unwrap_or_else(|| panic!("no type is called {name}"))
}

fn array(dtype: Dtype, hex: &str) -> Array {
    let bytes: Vec<u8> = (0..hex.len() / 2).map(|i| u8::from_str_radix(&hex[2 * i..][..2], 16).expect("hex")).collect();
    Array::from_bytes(&bytes, &[(bytes.len() / dtype.size()) as i32], dtype).expect("whole elements")
}

/// Whether two results agree: exactly, or as closely as their type and the wheel's own accuracy allow.
pub fn compare(op: &str, given: &[Array], found: &Array, expected: &Array) -> Result<(), String> {
    if (found.dtype(), found.shape()) != (expected.dtype(), expected.shape()) {
        return Err(format!("{found:?} instead of {expected:?}"));
    }
    let bytes = |a: &Array| a.to_bytes().expect("it evaluates");
    let (f, e) = (bytes(found), bytes(expected));
    let size = found.dtype().size();
    let largest = numbers(expected.dtype(), &e).into_iter().flatten().filter(|x| x.is_finite());
    let largest = largest.fold(0.0, |a: f64, b| a.max(b.abs()));
    for (i, (f, e)) in f.chunks(size).zip(e.chunks(size)).enumerate() {
        let (x, y) = (&numbers(found.dtype(), f)[0], &numbers(expected.dtype(), e)[0]);
        if f != e && !near(op, found.dtype(), x, y, largest) {
            let of: Vec<String> = given.iter().map(|g| text(g, i)).collect();
            return Err(format!("{x:?} instead of {y:?} at {i}, of {}", of.join(" and ")));
        }
    }
    Ok(())
}

fn text(a: &Array, i: usize) -> String {
    let bytes = a.to_bytes().expect("it evaluates");
    let size = a.dtype().size();
    match a.dtype() {
        dtype if dtype.is_inexact() => format!("{:?}", numbers(dtype, &bytes[i * size..][..size])[0]),
        _ => format!("{:x?}", &bytes[i * size..][..size]),
    }
}

/// The elements of inexact types, each as its parts; integers have none.
fn numbers(dtype: Dtype, bytes: &[u8]) -> Vec<Vec<f64>> {
    let float = |b: &[u8]| f32::from_le_bytes(b.try_into().expect("four bytes")) as f64;
    let one = |b: &[u8]| match dtype {
        Dtype::F16 => vec![half::f16::from_le_bytes(b.try_into().expect("two bytes")).to_f64()],
        Dtype::BF16 => vec![half::bf16::from_le_bytes(b.try_into().expect("two bytes")).to_f64()],
        Dtype::F32 => vec![float(b)],
        Dtype::F64 => vec![f64::from_le_bytes(b.try_into().expect("eight bytes"))],
        Dtype::C64 => vec![float(&b[..4]), float(&b[4..])],
        _ => Vec::new(),
    };
    bytes.chunks(dtype.size()).map(one).collect()
}

/// Within 2 ulp, or 1e-7 of the largest result for float32. Complex numbers within 4 by their magnitude, and their powers, whose
/// exponent's logarithm is rounded, within 8; derivatives, which are several roundings, too. Halves are exact, but within 1 where
/// the wheel rounds on the way or its erf is rough.
fn near(op: &str, dtype: Dtype, found: &[f64], expected: &[f64], largest: f64) -> bool {
    let ulps = match dtype {
        _ if op == "vjp" => 8.0,
        Dtype::C64 if op == "power" => 8.0,
        Dtype::C64 => 4.0,
        Dtype::F16 | Dtype::BF16 if matches!(op, "rsqrt" | "sigmoid" | "logaddexp" | "erf") => 1.0,
        Dtype::F16 | Dtype::BF16 => 0.0,
        _ => 2.0,
    };
    let epsilon = match dtype {
        Dtype::F16 => 2f64.powi(-10),
        Dtype::BF16 => 2f64.powi(-7),
        Dtype::F64 => 2f64.powi(-52),
        dtype if dtype.is_inexact() => 2f64.powi(-23),
        _ => return false,
    };
    if expected.iter().chain(found).any(|x| !x.is_finite()) {
        return found.iter().zip(expected).all(|(f, e)| f == e || f.is_nan() && e.is_nan());
    }
    let magnitude = expected.iter().fold(0.0, |a: f64, b| a.hypot(*b));
    let error = found.iter().zip(expected).fold(0.0, |a: f64, (f, e)| a.hypot(f - e));
    error <= ulps * epsilon * magnitude || dtype == Dtype::F32 && error <= 1e-7 * largest
}
