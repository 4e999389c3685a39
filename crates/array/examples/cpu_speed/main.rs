//! Times what the CPU device computes, one case per line of the input: `OP TYPE SHAPE LOOK`. `compare.py` beside it asks for cases
//! and holds the answers against the MLX wheel's. `echo exp float32 1048576 plain | cargo run --release --example cpu_speed`

use std::io::BufRead;
use std::time::{Duration, Instant};

use pumice::ops::arg_reduce::argmax;
use pumice::ops::astype::astype;
use pumice::ops::fast;
use pumice::ops::matmul::matmul;
use pumice::ops::reduce::{max, mean, sum, var};
use pumice::ops::softmax::softmax;
use pumice::ops::views::transpose;
use pumice::ops::{binary, select, unary};
use pumice::{Array, Device, Dtype, Result, set_default_device};

/// How long a case is repeated.
const SAMPLE: Duration = Duration::from_millis(15);

fn main() -> Result<()> {
    set_default_device(Device::CPU)?;
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("the input is text");
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [op, dtype, shape, look] = fields[..] else { panic!("a case must have four fields but is {line:?}") };
        let sizes: Vec<i32> = shape.split('x').map(|size| size.parse().expect("a size is a number")).collect();
        println!("{}", time(&*graph(op, type_of(dtype), &sizes, look)?)?.as_nanos());
    }
    Ok(())
}

/// The least time of a call, built and evaluated.
fn time(graph: &dyn Fn() -> Result<Array>) -> Result<Duration> {
    graph()?.eval()?;
    let (begin, mut least) = (Instant::now(), Duration::MAX);
    for calls in 1.. {
        let start = Instant::now();
        graph()?.eval()?;
        least = least.min(start.elapsed());
        if begin.elapsed() > SAMPLE && calls >= 3 {
            break;
        }
    }
    Ok(least)
}

fn type_of(name: &str) -> Dtype {
    Dtype::ALL.into_iter().find(|dtype| dtype.name() == name).expect("the type must be one of MLX's")
}

type Graph = Box<dyn Fn() -> Result<Array>>;
type Unary = fn(&Array) -> Result<Array>;
type Binary = fn(&Array, &Array) -> Result<Array>;

fn graph(op: &str, dtype: Dtype, shape: &[i32], look: &str) -> Result<Graph> {
    if op == "matmul" {
        return product(dtype, shape, look);
    }
    let x = looked_at(&numbers(dtype, shape, 1)?, look)?;
    if let Some(f) = unary_op(op) {
        return Ok(Box::new(move || f(&x)));
    }
    if let Some(f) = binary_op(op) {
        let y = other(dtype, shape, look)?;
        return Ok(Box::new(move || f(&x, &y)));
    }
    let axes = match look {
        "rows" => Some(vec![-1]),
        "columns" => Some(vec![0]),
        _ => None,
    };
    Ok(match op {
        "astype" => {
            let to = type_of(look);
            Box::new(move || astype(&x, to))
        }
        "where" => {
            let (y, z) = (numbers(Dtype::Bool, shape, 2)?, other(dtype, shape, look)?);
            Box::new(move || select::where_(&y, &x, &z))
        }
        "sum" => Box::new(move || sum(&x, axes.as_deref(), false)),
        "max" => Box::new(move || max(&x, axes.as_deref(), false)),
        "argmax" => Box::new(move || argmax(&x, axes.as_ref().map(|axes| axes[0]), false)),
        "fast_layer_norm" => {
            let (weight, bias) = (numbers(dtype, &shape[1..], 2)?, numbers(dtype, &shape[1..], 3)?);
            Box::new(move || fast::layer_norm(&x, Some(&weight), Some(&bias), 1e-5))
        }
        "fast_rms_norm" => {
            let weight = numbers(dtype, &shape[1..], 2)?;
            Box::new(move || fast::rms_norm(&x, Some(&weight), 1e-5))
        }
        "softmax" => Box::new(move || softmax(&x, Some(&[-1]), false)),
        other => panic!("there must be a case {other} but is none"),
    })
}

fn unary_op(op: &str) -> Option<Unary> {
    Some(match op {
        "exp" => unary::exp,
        "tanh" => unary::tanh,
        "sin" => unary::sin,
        "sqrt" => unary::sqrt,
        "abs" => unary::abs,
        "negative" => unary::negative,
        "logical_not" => unary::logical_not,
        "pointwise11" => pointwise11,
        "layer_norm" => layer_norm,
        "rms_norm" => rms_norm,
        _ => return None,
    })
}

fn binary_op(op: &str) -> Option<Binary> {
    Some(match op {
        "add" => |x, y| binary::add(x, y),
        "multiply" => |x, y| binary::multiply(x, y),
        "maximum" => |x, y| binary::maximum(x, y),
        "power" => |x, y| binary::power(x, y),
        "floor_divide" => |x, y| binary::floor_divide(x, y),
        "less" => |x, y| binary::less(x, y),
        "equal" => |x, y| binary::equal(x, y),
        _ => return None,
    })
}

/// Eleven element-wise ops.
fn pointwise11(x: &Array) -> Result<Array> {
    let y = binary::multiply(unary::sigmoid(x)?, x)?;
    let z = binary::add(unary::tanh(&y)?, binary::multiply(0.5, x)?)?;
    let z = binary::subtract(binary::maximum(&z, &y)?, unary::exp(&unary::negative(&unary::abs(x)?)?)?)?;
    binary::multiply(&z, 0.25)
}

fn layer_norm(x: &Array) -> Result<Array> {
    let centered = binary::subtract(x, mean(x, Some(&[-1]), true)?)?;
    binary::multiply(centered, unary::rsqrt(&binary::add(var(x, Some(&[-1]), true, 0)?, 1e-5)?)?)
}

fn rms_norm(x: &Array) -> Result<Array> {
    let squares = mean(&unary::square(x)?, Some(&[-1]), true)?;
    binary::multiply(x, unary::rsqrt(&binary::add(squares, 1e-5)?)?)
}

/// `[batch, m, k, n]` or `[m, k, n]`.
fn product(dtype: Dtype, shape: &[i32], look: &str) -> Result<Graph> {
    let (batch, [m, k, n]) = (&shape[..shape.len() - 3], [3, 2, 1].map(|i| shape[shape.len() - i]));
    let stack = |a, b| [batch, &[a, b]].concat();
    let x = numbers(dtype, &stack(m, k), 1)?;
    let y = match look {
        "transposed" => transpose(&numbers(dtype, &stack(n, k), 2)?, None)?,
        _ => numbers(dtype, &stack(k, n), 2)?,
    };
    Ok(Box::new(move || matmul(&x, &y)))
}

fn looked_at(x: &Array, look: &str) -> Result<Array> {
    match look {
        "transposed" => transpose(x, None),
        _ => Ok(x.clone()),
    }
}

/// The second operand.
fn other(dtype: Dtype, shape: &[i32], look: &str) -> Result<Array> {
    match look {
        "row" => numbers(dtype, &shape[1..], 3),
        "column" => numbers(dtype, &[shape[0], 1], 3),
        "scalar" => numbers(dtype, &[], 3),
        _ => numbers(dtype, shape, 3),
    }
}

/// Small numbers that differ: `compare.py` makes the same.
fn numbers(dtype: Dtype, shape: &[i32], seed: u64) -> Result<Array> {
    let count = shape.iter().map(|&size| size as u64).product::<u64>();
    let values: Vec<f32> = (0..count).map(|i| (i * (2 * seed + 1) % 1009) as f32 / 100.0 + 1.0).collect();
    let values = Array::from_slice(&values, shape)?;
    let values = match dtype {
        Dtype::Bool => binary::less(&values, 5.0)?,
        _ => astype(&values, dtype)?,
    };
    values.eval()?;
    Ok(values)
}
