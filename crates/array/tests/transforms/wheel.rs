//! Derivatives of small functions against those of the MLX wheel, which `oracle/transforms.py` wrote down.

use half::{bf16, f16};
use pumice::ops::binary::{maximum, minimum, multiply};
use pumice::ops::create::eye;
use pumice::ops::reduce::sum;
use pumice::ops::select::{clip, where_};
use pumice::ops::unary::{self, stop_gradient};
use pumice::ops::views::{expand_dims, reshape};
use pumice::{Array, Complex64, Dtype, Result, grad, jvp, vjp, vmap};

use crate::{floats, on_every_device, total};

/// What the wheel gave under a name.
struct Wanted {
    dtype: String,
    shape: Vec<i32>,
    values: Vec<f64>,
}

fn wanted(name: &str) -> Vec<Wanted> {
    let lines = include_str!("../oracle/transforms.txt").lines();
    let named = lines.filter(|line| line.split('.').next() == Some(name)).map(|line| {
        let (head, values) = line.split_once(':').expect("a colon before the values");
        let words: Vec<&str> = head.split(' ').collect();
        let shape = words[2].split('x').filter_map(|n| n.parse().ok()).collect();
        let values = values.split_whitespace().map(|value| value.parse().expect("a number")).collect();
        Wanted { dtype: words[1].to_string(), shape, values }
    });
    named.collect()
}

fn numbers(x: &Array) -> Vec<f64> {
    match x.dtype() {
        Dtype::I32 => x.to_vec::<i32>().expect("ints").into_iter().map(f64::from).collect(),
        Dtype::F16 => x.to_vec::<f16>().expect("halves").into_iter().map(f64::from).collect(),
        Dtype::BF16 => x.to_vec::<bf16>().expect("halves").into_iter().map(f64::from).collect(),
        Dtype::C64 => {
            let all = x.to_vec::<Complex64>().expect("complex numbers");
            all.into_iter().flat_map(|z| [f64::from(z.re), f64::from(z.im)]).collect()
        }
        _ => x.to_vec::<f32>().expect("floats").into_iter().map(f64::from).collect(),
    }
}

/// Asserts that the wheel gave the same under this name, but for rounding.
fn assert_wheel(name: &str, found: Result<Vec<Array>>) {
    let (found, wanted) = (found.unwrap_or_else(|error| panic!("{name}: {error}")), wanted(name));
    assert_eq!(found.len(), wanted.len(), "{name}");
    for (found, wanted) in found.iter().zip(wanted) {
        assert_eq!((found.dtype().name(), found.shape()), (wanted.dtype.as_str(), wanted.shape.as_slice()), "{name}");
        let largest = wanted.values.iter().fold(0f64, |m, x| m.max(x.abs()));
        let found = numbers(found);
        let close = found.iter().zip(&wanted.values).all(|(a, b)| (a - b).abs() <= 5e-7 * largest);
        assert!(close, "{name}: {found:?} instead of {:?}", wanted.values);
    }
}

fn x() -> Array {
    reshape(&floats(&[0.5, -1.25, 2.0, 0.75, -0.5, 1.5]), &[2, 3]).expect("six")
}

fn y() -> Array {
    floats(&[1.0, 0.25, -0.75])
}

fn b() -> Array {
    floats(&[0.5, 2.0])
}

fn z() -> Array {
    let values = [Complex64 { re: 1.0, im: 2.0 }, Complex64 { re: -0.5, im: 0.25 }];
    Array::from_slice(&values, &[2]).expect("two")
}

fn cross_entropy(a: &[Array]) -> Result<Vec<Array>> {
    let normal = sum(&a[0].exp()?, Some(&[-1]), true)?.log()?;
    Ok(vec![total(&(&(&normal - &a[0]) * &a[1]))?])
}

fn cube(a: &[Array]) -> Result<Vec<Array>> {
    Ok(vec![total(&(&(&a[0] * &a[0]) * &a[0]))?])
}

fn exponential(a: &[Array]) -> Result<Vec<Array>> {
    Ok(vec![total(&multiply(&a[0], &a[1])?.exp()?)?])
}

#[test]
fn gradients_of_compositions() {
    let tanh_layer = |a: &[Array]| {
        let all = expand_dims(&a[0], &[2])?.multiply(&expand_dims(&a[1], &[0])?)?.tanh()?;
        let squares = sum(&all, Some(&[1]), false)?.square()?;
        Ok(vec![total(&squares)?.divide(squares.size() as f32)?])
    };
    let chosen = |a: &[Array]| {
        let part = where_(a[0].greater(&a[1])?, &a[0] * &a[1], a[0].sin()?)?;
        Ok(vec![total(&(&part + &clip(&a[0], Some(&-1), Some(&1))?))?])
    };
    let stopped = |a: &[Array]| Ok(vec![total(&(&a[0] * &stop_gradient(&a[0].exp()?)?))?]);
    on_every_device(|| {
        let w = reshape(&floats(&[0.1, -0.2, 0.3, 0.4, 0.5, -0.6]), &[3, 2]).expect("six");
        let column = expand_dims(&b(), &[1]).expect("a column");
        assert_wheel("tanh_layer", grad(tanh_layer, &[0, 1])(&[x(), w]));
        assert_wheel("cross_entropy", grad(cross_entropy, &[0, 1])(&[x(), y()]));
        assert_wheel("outer", grad(exponential, &[0, 1])(&[column, y()]));
        assert_wheel("chosen", grad(chosen, &[0, 1])(&[x(), y()]));
        assert_wheel("stopped", grad(stopped, &[0])(&[y()]));
    });
}

#[test]
fn gradients_at_ties() {
    let ties = |a: &[Array]| Ok(vec![total(&(&maximum(&a[0], &a[0].abs()?)? + &minimum(&a[0], 0.5)?))?]);
    on_every_device(|| assert_wheel("ties", grad(ties, &[0])(&[floats(&[0.0, 0.5, 1.0, -1.0])])));
}

#[test]
fn gradients_of_other_types() {
    on_every_device(|| {
        let integers = Array::from_slice(&[1, -2, 3], &[3]).expect("three");
        assert_wheel("integers", grad(cube, &[0])(&[integers]));
        let halves =
            [Dtype::F16, Dtype::BF16].map(|dtype| grad(cube, &[0])(&[x().astype(dtype)?]).map(|mut g| g.remove(0)));
        assert_wheel("halves", halves.into_iter().collect());
        let cast = |a: &[Array]| Ok(vec![a[0].astype(Dtype::F16)?]);
        assert_wheel("cast", vjp(cast, &[y()], &[y()]).map(|(_, found)| found));
    });
}

#[test]
fn derivatives_of_complex_functions() {
    let size = |a: &[Array]| Ok(vec![total(&(&a[0] * &a[0]).abs()?)?]);
    let real = |a: &[Array]| Ok(vec![total(&unary::real(&a[0].exp()?)?)?]);
    let product = |a: &[Array]| Ok(vec![&a[0].exp()? * &a[0]]);
    on_every_device(|| {
        let both = [grad(size, &[0])(&[z()]), grad(real, &[0])(&[z()])];
        assert_wheel("complex", both.into_iter().map(|g| g.map(|mut g| g.remove(0))).collect());
        assert_wheel("complex_forward", jvp(product, &[z()], &[z()]).map(|(_, found)| found));
    });
}

#[test]
fn mapped_gradients_are_the_wheels() {
    let of_row = |a: &[Array]| cross_entropy(&[a[0].clone(), y()]);
    let squares = |a: &[Array]| Ok(vec![total(&a[0].square()?)?]);
    on_every_device(|| {
        assert_wheel("per_row", vmap(grad(of_row, &[0]), 0, 0)(&[x()]));
        assert_wheel("per_column", vmap(grad(exponential, &[0, 1]), [Some(1), None], 0)(&[x(), b()]));
        assert_wheel("forward_over_vmap", jvp(vmap(squares, 0, 0), &[x()], &[x()]).map(|(_, found)| found));
    });
}

#[test]
fn a_hessian_is_a_mapped_forward_derivative_of_a_gradient() {
    let f = |a: &[Array]| Ok(vec![total(&(&a[0].sin()? * &total(&a[0])?))?]);
    on_every_device(|| {
        let row = |v: &[Array]| Ok(jvp(grad(f, &[0]), &[y()], v)?.1);
        let basis = eye(3, None, 0, Dtype::F32).expect("a small matrix");
        assert_wheel("hessian", vmap(row, 0, 0)(&[basis]));
    });
}
