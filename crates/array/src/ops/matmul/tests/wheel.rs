//! What the MLX wheel gives, exactly: `tests/oracle/matmul.txt`, written by `matmul.py` beside it.

use super::super::{addmm, inner, matmul, outer, tensordot};
use super::{array, complex, numbers, on_each_device, values};
use crate::array::Array;
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::transforms::vjp;

const LINES: &str = include_str!("../../../../tests/oracle/matmul.txt");

/// A line: the op, whether its cotangents are asked for, what it is given, and what came of it.
struct Line<'a> {
    op: &'a str,
    vjp: bool,
    dtypes: Vec<Dtype>,
    inputs: Vec<Vec<i32>>,
    outcome: Vec<&'a str>,
}

fn lines() -> impl Iterator<Item = Line<'static>> {
    LINES.lines().map(|line| {
        let mut words = line.split(' ');
        let first = words.next().expect("a line has an op");
        let op = first.strip_prefix("vjp_").unwrap_or(first);
        let count = if op == "addmm" { 3 } else { 2 };
        let dtypes = words.by_ref().take(count).map(dtype).collect();
        let inputs = words.by_ref().take(count).map(shape).collect();
        Line { op, vjp: first != op, dtypes, inputs, outcome: words.collect() }
    })
}

fn dtype(name: &str) -> Dtype {
    Dtype::ALL.into_iter().find(|dtype| dtype.name() == name).expect("a type's name")
}

fn shape(text: &str) -> Vec<i32> {
    text.split('x').filter(|n| *n != "-").map(|n| n.parse().expect("a size")).collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits = hex.trim_matches('-').as_bytes().chunks(2);
    digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).expect("text"), 16).expect("hex")).collect()
}

/// The input that the script makes: see there.
fn input(shape: &[i32], dtype: Dtype, number: i64) -> Array {
    let size = crate::shape::size_of(shape) as i64;
    let value = |i: i64| (((7 * i + 3 + 5 * number) % 17) - 8) as f64 / 8.0;
    match dtype {
        Dtype::C64 => complex(&(0..size).flat_map(|i| [value(i), value(i + 1)]).collect::<Vec<_>>(), shape),
        _ => {
            let unsigned = |x: f64| if dtype.is_unsigned() { x.abs() } else { x };
            array(&(0..size).map(|i| unsigned(value(i))).collect::<Vec<_>>(), shape, dtype)
        }
    }
}

fn call(op: &str, x: &[Array]) -> Result<Array> {
    match op {
        "matmul" => matmul(&x[0], &x[1]),
        "addmm" => addmm(&x[0], &x[1], &x[2], 0.5, 2.0),
        "inner" => inner(&x[0], &x[1]),
        "outer" => outer(&x[0], &x[1]),
        "tensordot" if x[0].shape().last() == x[1].shape().first() => tensordot(&x[0], &x[1], &[-1], &[0]),
        "tensordot" => tensordot(&x[0], &x[1], &[], &[]),
        other => panic!("no op {other}"),
    }
}

#[test]
fn products_are_the_wheels() {
    for line in lines().filter(|line| !line.vjp) {
        let Line { op, dtypes, inputs, outcome, .. } = &line;
        let device_type = if dtypes.contains(&Dtype::F64) { Dtype::F64 } else { Dtype::F32 };
        on_each_device(device_type, |device| {
            let given = inputs.iter().zip(dtypes).enumerate();
            let given: Vec<Array> = given.map(|(i, (shape, dtype))| input(shape, *dtype, i as i64)).collect();
            let what = format!("{op} {dtypes:?} {inputs:?} on {device}");
            match (call(op, &given), outcome[..].as_ref()) {
                (Err(Error::Value(_)), ["ValueError"]) => {}
                (Ok(found), [result, size, hex]) => {
                    assert_eq!((found.dtype(), found.shape()), (dtype(result), &shape(size)[..]), "{what}");
                    assert_eq!(values(&found), numbers(&bytes(hex), dtype(result)), "{what}");
                }
                (other, expected) => panic!("{what} gives {other:?}, must give {expected:?}"),
            }
        });
    }
}

#[test]
fn cotangents_are_the_wheels() {
    for line in lines().filter(|line| line.vjp) {
        let Line { op, dtypes, inputs, outcome, .. } = &line;
        on_each_device(dtypes[0], |device| {
            let given = inputs.iter().zip(dtypes).enumerate();
            let given: Vec<Array> = given.map(|(i, (shape, dtype))| input(shape, *dtype, i as i64)).collect();
            let what = format!("vjp {op} {dtypes:?} {inputs:?} on {device}");
            let result = call(op, &given).expect("they match");
            let cotangent = input(result.shape(), result.dtype(), 3);
            let (_, found) = vjp(|x| Ok(vec![call(op, x)?]), &given, &[cotangent]).expect("it has a vjp");
            for ((found, expected), dtype) in found.iter().zip(outcome.chunks(2)).zip(dtypes) {
                assert_eq!((found.dtype(), found.shape()), (*dtype, &shape(expected[0])[..]), "{what}");
                assert_eq!(values(found), numbers(&bytes(expected[1]), *dtype), "{what}");
            }
        });
    }
}
