//! Every reduction of every type against the MLX wheel, whose results stand in `oracle/reduce.txt` (written by the script beside it),
//! on every device: shapes and types of results, kinds of errors, exact integers, truths and places, sums within 1e-7 of the sum of
//! their terms' magnitudes.

mod rig;

use pumice::ops::arg_reduce::{argmax, argmin};
use pumice::ops::reduce::{TABLE, mean, std, var};
use pumice::ops::slices::slice;
use pumice::ops::softmax::{logsumexp, softmax};
use pumice::ops::views::transpose;
use pumice::transforms::vjp;
use pumice::{Array, Device, Dtype, Error, Result, default_stream, with_stream};

fn call(op: &str, x: &Array, axes: Option<&[i32]>, keepdims: bool) -> Result<Array> {
    if let Some(row) = TABLE.iter().find(|row| row.name == op) {
        return row.call(x, axes, keepdims);
    }
    match op {
        "mean" => mean(x, axes, keepdims),
        "var" => var(x, axes, keepdims, 0),
        "std" => std(x, axes, keepdims, 0),
        "logsumexp" => logsumexp(x, axes, keepdims),
        "softmax" => softmax(x, axes, false),
        "argmin" => argmin(x, axes.map(|axes| axes[0]), keepdims),
        "argmax" => argmax(x, axes.map(|axes| axes[0]), keepdims),
        _ => panic!("no reduction is called {op}"),
    }
}

fn look(x: &Array, how: &str) -> Array {
    let looked = match how {
        "transposed" => transpose(x, None),
        "backwards" => {
            let starts: Vec<i32> = x.shape().iter().map(|n| n - 1).collect();
            let stops: Vec<i32> = x.shape().iter().map(|n| -n - 1).collect();
            slice(x, &starts, &stops, &vec![-1; x.ndim()])
        }
        _ => Ok(x.clone()),
    };
    looked.expect("every array can be looked at so")
}

fn named(name: &str) -> Dtype {
    Dtype::ALL.into_iter().find(|dtype| dtype.name() == name).unwrap_or_else(|| panic!("no type is called {name}"))
}

fn list(text: &str) -> Option<Vec<i32>> {
    match text {
        "none" => None,
        "-" => Some(Vec::new()),
        _ => Some(text.split(',').map(|n| n.parse().expect("a number")).collect()),
    }
}

fn bytes(hex: &str) -> Vec<u8> {
    let hex = hex.trim_start_matches('-');
    (0..hex.len() / 2).map(|i| u8::from_str_radix(&hex[2 * i..][..2], 16).expect("hex")).collect()
}

/// Elements as numbers; complex ones are two each.
fn numbers(dtype: Dtype, bytes: &[u8]) -> Vec<f64> {
    let one = |b: &[u8]| match dtype {
        Dtype::F16 => half::f16::from_le_bytes(b.try_into().expect("two")).to_f64(),
        Dtype::BF16 => half::bf16::from_le_bytes(b.try_into().expect("two")).to_f64(),
        Dtype::F32 | Dtype::C64 => f32::from_le_bytes(b.try_into().expect("four")) as f64,
        Dtype::F64 => f64::from_le_bytes(b.try_into().expect("eight")),
        Dtype::I8 => b[0] as i8 as f64,
        _ => b.iter().rev().fold(0.0, |n, &byte| n * 256.0 + byte as f64),
    };
    bytes.chunks(if dtype == Dtype::C64 { 4 } else { dtype.size() }).map(one).collect()
}

/// What is wrong with a result, if anything. Exact types must agree to the bit, and so must least and greatest elements.
fn difference(op: &str, x: &Array, found: &Array, dtype: Dtype, shape: &[i32], expected: &[u8]) -> Option<String> {
    if (found.dtype(), found.shape()) != (dtype, shape) {
        return Some(format!("{found:?} instead of {dtype} {shape:?}"));
    }
    let got = found.to_bytes().expect("it evaluates");
    if got == expected {
        return None;
    }
    let (got, wanted) = (numbers(dtype, &got), numbers(dtype, expected));
    let terms: f64 = numbers(x.dtype(), &x.to_bytes().expect("it evaluates")).iter().map(|x| x.abs()).sum();
    let largest = wanted.iter().filter(|x| x.is_finite()).fold(0.0, |a: f64, b| a.max(b.abs()));
    let (ulps, by_terms) = match op {
        "sum" => (1.0, 1e-7 * terms),
        "mean" | "var" | "std" | "logsumexp" => (2.0, 2e-7 * largest),
        "softmax" if dtype == Dtype::C64 => (4.0, 2e-7 * largest),
        "softmax" => (2.0, 2e-7 * largest),
        // A product of up to a hundred factors, in another order.
        "prod" => (16.0, 0.0),
        // Differences of the cotangents, which are as large as twelve.
        "vjp" => (4.0, 1e-7 * 12.0),
        _ => (0.0, 0.0),
    };
    let epsilon = match dtype {
        Dtype::F16 => 2f64.powi(-10),
        Dtype::BF16 => 2f64.powi(-7),
        // The wheel computes some of float64 in float32's accuracy.
        Dtype::F64 if op != "sum" && op != "prod" => 2f64.powi(-23),
        Dtype::F64 => 2f64.powi(-50),
        Dtype::F32 | Dtype::C64 => 2f64.powi(-23),
        _ => 0.0,
    };
    let scale = |i: usize| if dtype == Dtype::C64 { wanted[i & !1].hypot(wanted[i | 1]) } else { wanted[i].abs() };
    let near = |(i, (f, e)): (usize, (&f64, &f64))| {
        f == e || f.is_nan() && e.is_nan() || (f - e).abs() <= ulps * epsilon * scale(i) + by_terms * epsilon.signum()
    };
    let wrong = got.iter().zip(&wanted).enumerate().find(|&pair| !near(pair));
    wrong.map(|(i, (f, e))| format!("{f:e} instead of {e:e} at {i}"))
}

fn python_name(error: &Error) -> &'static str {
    match error {
        Error::Value(_) => "ValueError",
        Error::Index(_) => "IndexError",
        _ => "RuntimeError",
    }
}

struct Inputs(Vec<(String, Array)>);

impl Inputs {
    fn find(&self, name: &str, dtype: Dtype) -> &Array {
        &self.0.iter().find(|(n, a)| n == name && a.dtype() == dtype).expect("inputs come first").1
    }
}

/// What differs from the wheel in a line of the file.
fn check(line: &str, inputs: &mut Inputs, device: Device) -> Option<String> {
    let words: Vec<&str> = line.split(' ').collect();
    match words[..] {
        ["input", name, dtype, shape, hex] => {
            let shape = list(shape).expect("a shape");
            let array = Array::from_bytes(&bytes(hex), &shape, named(dtype)).expect("as many as the shape has");
            inputs.0.push((name.into(), array));
            None
        }
        ["call", op, name, dtype, how, axes, keepdims, ref expected @ ..] => {
            if device == Device::GPU && dtype == "float64" {
                return None;
            }
            let x = look(inputs.find(name, named(dtype)), how);
            let found = call(op, &x, list(axes).as_deref(), keepdims == "1").and_then(|y| y.eval().map(|()| y));
            match (found, expected) {
                (Ok(y), [dtype, shape, hex]) => {
                    difference(op, &x, &y, named(dtype), &list(shape).expect("a shape"), &bytes(hex))
                }
                (Err(error), [kind]) if python_name(&error) == *kind => None,
                (found, expected) => Some(format!("{found:?} is not {expected:?}")),
            }
        }
        ["vjp", op, name, axes, hex] => {
            let x = inputs.find(name, Dtype::F32);
            let function = |x: &[Array]| Ok(vec![call(op, &x[0], list(axes).as_deref(), false)?]);
            let y = function(std::slice::from_ref(x)).expect("it is a reduction").remove(0);
            let g: Vec<f32> = (0..y.size()).map(|i| i as f32 + 1.0).collect();
            let g = Array::from_slice(&g, y.shape()).expect("as many");
            let found = vjp(function, std::slice::from_ref(x), &[g]).expect("it has a derivative").1;
            difference("vjp", x, &found[0], Dtype::F32, x.shape(), &bytes(hex))
        }
        ["long", op, hex] => {
            let x: Vec<f32> = (0..100_003i32).map(|i| (i.wrapping_mul(7919) % 1009) as f32 / 512.0 - 1.0).collect();
            let x = Array::from_slice(&x, &[100_003]).expect("as many");
            let y = call(op, &x, None, false).expect("it is a reduction");
            let y = if op == "softmax" { slice(&y, &[0], &[64], &[1]).expect("a part") } else { y };
            difference(op, &x, &y, y.dtype(), y.shape(), &bytes(hex))
        }
        _ => panic!("not a line of the file: {line}"),
    }
}

fn agrees_with_the_wheel(device: Device) {
    if !rig::devices().contains(&device) {
        return;
    }
    let stream = default_stream(device).expect("the device is available");
    let mut inputs = Inputs(Vec::new());
    let lines = include_str!("oracle/reduce.txt").lines();
    let wrong: Vec<String> = with_stream(stream, || {
        lines
            .filter_map(|line| Some((line, check(line, &mut inputs, device)?)))
            .map(|(line, what)| {
                let call: String = line.chars().take(60).collect();
                format!("{call}: {what}")
            })
            .collect()
    });
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_cpu_agrees_with_the_wheel() {
    agrees_with_the_wheel(Device::CPU);
}

#[test]
fn the_gpu_agrees_with_the_wheel() {
    agrees_with_the_wheel(Device::GPU);
}
