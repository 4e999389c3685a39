//! Long graphs, and loops that must not grow.

use pumice::{Array, compile, eval, grad, jvp, vjp, vmap};

use crate::{floats, total, values};

#[test]
fn ten_thousand_nodes_are_walked_without_recursion() {
    let f = |x: &[Array]| {
        let mut y = x[0].clone();
        for _ in 0..10_000 {
            y = &y + &x[0];
        }
        Ok(vec![y])
    };
    let x = [Array::scalar(2f32)];
    let one = [Array::scalar(1f32)];
    assert_eq!(values(&vjp(f, &x, &one).expect("it has a vjp").1[0]), [10_001.0]);
    assert_eq!(values(&jvp(f, &x, &one).expect("it has a jvp").1[0]), [10_001.0]);
    assert_eq!(values(&vmap(f, 0, 0)(&[floats(&[1.0, 2.0])]).expect("it maps")[0]), [10_001.0, 20_002.0]);
    let compiled = compile(f);
    for _ in 0..2 {
        assert_eq!(values(&compiled(&x).expect("it runs")[0]), [20_002.0]);
    }
}

#[test]
fn a_hundred_thousand_nodes_have_a_gradient() {
    let f = |x: &[Array]| {
        let mut y = x[0].clone();
        for _ in 0..100_000 {
            y = y.negative()?;
        }
        Ok(vec![y])
    };
    grad(f, &[0])(&[Array::scalar(2f32)]).expect("it has a gradient");
}

#[test]
fn gradient_descent_reaches_the_minimum_and_keeps_no_graph() {
    let target = floats(&[1.0, -2.0, 0.5]);
    let loss = |x: &[Array]| Ok(vec![total(&(&x[0] - &target).square()?)?]);
    let gradient = grad(loss, &[0]);
    let mut x = floats(&[0.0; 3]);
    for _ in 0..60 {
        x = &x - &(&gradient(&[x.clone()]).expect("a gradient")[0] * 0.25);
        eval(std::slice::from_ref(&x)).expect("it evaluates");
    }
    assert_eq!(values(&x), [1.0, -2.0, 0.5]);
}
