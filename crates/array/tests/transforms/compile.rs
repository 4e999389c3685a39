//! Compiled functions: run once per kind of inputs, and then done again without the function.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pumice::transforms::Program;
use pumice::{Array, compile, grad, vmap};

use crate::{floats, on_every_device, total, values};

#[test]
fn a_function_runs_once_per_shapes_and_types() {
    let runs = Cell::new(0);
    let f = compile(|x: &[Array]| {
        runs.set(runs.get() + 1);
        Ok(vec![&(&x[0] * 2.0) + 1.0, x[0].exp()?])
    });
    on_every_device(|| {
        runs.set(0);
        for x in [[1.0, 2.0], [3.0, 4.0]] {
            let found = f(&[floats(&x)]).expect("it runs");
            assert_eq!(values(&found[0]), [2.0 * x[0] + 1.0, 2.0 * x[1] + 1.0]);
            assert_eq!(values(&found[1]), values(&floats(&x).exp().expect("exponentials")));
        }
        assert_eq!(runs.get(), 1);
        f(&[floats(&[1.0])]).expect("another shape");
        f(&[Array::from_slice(&[1i32, 2], &[2]).expect("two")]).expect("another type");
        assert_eq!(runs.get(), 3);
    });
}

#[test]
fn common_computations_are_done_once() {
    let f = |x: &[Array]| {
        x[0].sin()?;
        Ok(vec![&(&(&x[0] + 1.0).exp()? + &(&x[0] + 1.0).exp()?) * &(&x[0] + 2.0)])
    };
    let program = Program::trace(&f, &[floats(&[0.25, 0.5])]).expect("it is traced");
    assert_eq!(program.calls(), 5, "two sums, an exponential, a sum and a product");
}

#[test]
fn a_compiled_function_is_one_call() {
    let f = compile(|x: &[Array]| Ok(vec![&(&x[0] + 1.0).exp()? * &(&x[0] + 2.0)]));
    let calls = || {
        let x = [floats(&[0.25, 0.5])];
        let before = pumice::eval::stats().calls;
        f(&x).expect("it runs")[0].eval().expect("it evaluates");
        pumice::eval::stats().calls - before
    };
    // Other tests evaluate at the same time, so that counts are only bounds: the lowest of many is exact.
    assert_eq!((0..20).map(|_| calls()).min(), Some(1));
}

#[test]
fn caught_arrays_are_constants() {
    let w = floats(&[1.0, 2.0]);
    let pending = &w * 10.0;
    let f = compile(move |x: &[Array]| Ok(vec![&(&x[0] * &w) + &pending, pending.clone(), x[0].clone()]));
    on_every_device(|| {
        for _ in 0..2 {
            let found = f(&[floats(&[3.0, 4.0])]).expect("it runs");
            assert_eq!(values(&found[0]), [13.0, 28.0]);
            assert_eq!(values(&found[1]), [10.0, 20.0]);
            assert_eq!(values(&found[2]), [3.0, 4.0]);
        }
    });
}

#[test]
fn compiled_gradients_and_gradients_of_compiled_functions_agree() {
    let f = |x: &[Array]| Ok(vec![total(&(&x[0].sin()? * &x[0].exp()?))?]);
    on_every_device(|| {
        let x = [floats(&[0.5, -1.0, 2.0])];
        let wanted = values(&grad(f, &[0])(&x).expect("a gradient")[0]);
        let (inside, outside) = (grad(compile(f), &[0]), compile(grad(f, &[0])));
        for _ in 0..2 {
            assert_eq!(values(&inside(&x).expect("a gradient")[0]), wanted);
            assert_eq!(values(&outside(&x).expect("a gradient")[0]), wanted);
        }
    });
}

#[test]
fn what_a_function_caught_from_a_transform_is_not_kept() {
    let seen = Arc::new(AtomicUsize::new(0));
    let counted = seen.clone();
    let f = move |x: &[Array]| {
        let (caught, counted) = (x[0].clone(), counted.clone());
        let add = compile(move |y: &[Array]| {
            counted.fetch_add(1, Ordering::Relaxed);
            Ok(vec![&y[0] + &caught])
        });
        let y = floats(&[10.0]);
        add(std::slice::from_ref(&y))?;
        add(&[y])
    };
    let found = vmap(f, 0, 0)(&[floats(&[1.0, 2.0])]).expect("it maps");
    assert_eq!(values(&found[0]), [11.0, 12.0]);
    assert_eq!(seen.load(Ordering::Relaxed), 2, "run each time");
}

#[test]
fn a_function_that_fails_can_be_called_again() {
    let fail = Cell::new(true);
    let f = compile(|x: &[Array]| match fail.get() {
        true => Err(pumice::Error::Value("[f] not yet.".into())),
        false => Ok(x.to_vec()),
    });
    assert!(f(&[floats(&[1.0])]).is_err());
    fail.set(false);
    assert_eq!(values(&f(&[floats(&[1.0])]).expect("it runs now")[0]), [1.0]);
}
