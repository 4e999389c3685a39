//! Transforms of small functions of element-wise ops; `tests/transforms.rs` has the larger ones.

use crate::ops::binary::{add, multiply};
use crate::transforms::{grad, jvp, tracing, vjp};
use crate::{Array, Result, eval};

fn cube(x: &[Array]) -> Result<Vec<Array>> {
    Ok(vec![multiply(&multiply(&x[0], &x[0])?, &x[0])?])
}

#[test]
fn derivatives_of_derivatives_are_right() {
    let x = [Array::scalar(3f32)];
    let first = grad(cube, &[0]);
    let third = grad(grad(grad(cube, &[0]), &[0]), &[0]);
    assert_eq!(first(&x).expect("it has a gradient")[0].item::<f32>().expect("a float"), 27.0);
    assert_eq!(third(&x).expect("it has three")[0].item::<f32>().expect("a float"), 6.0);
}

#[test]
fn forward_and_backward_agree() {
    let (x, one) = ([Array::scalar(2f32)], [Array::scalar(1f32)]);
    let backward = vjp(cube, &x, &one).expect("it has a vjp").1;
    let forward = jvp(cube, &x, &one).expect("it has a jvp").1;
    assert_eq!(backward[0].item::<f32>().expect("a float"), 12.0);
    assert_eq!(forward[0].item::<f32>().expect("a float"), 12.0);
}

#[test]
fn evaluation_inside_a_gradient_keeps_the_graph() {
    let f = |x: &[Array]| {
        let y = multiply(&x[0], &x[0])?;
        assert_eq!(y.item::<f32>()?, 9.0);
        Ok(vec![add(&y, &y)?])
    };
    let gradient = grad(f, &[0])(&[Array::scalar(3f32)]).expect("it has a gradient");
    assert_eq!(gradient[0].item::<f32>().expect("a float"), 12.0);
}

#[test]
fn what_was_traced_is_let_go_when_it_is_evaluated_afterwards() {
    let mut x = Array::scalar(1f32);
    for _ in 0..3 {
        let gradient = grad(cube, &[0])(&[x.clone()]).expect("it has a gradient");
        x = add(&x, &gradient[0]).expect("they add");
        eval(std::slice::from_ref(&x)).expect("it evaluates");
        assert!(x.origin().is_none(), "an evaluated array needs no graph");
    }
    assert!(!tracing::active());
}
