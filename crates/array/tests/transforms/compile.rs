//! Compiled functions: run once per kind of inputs, and then done again without the function.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pumice::transforms::Program;
use pumice::{Array, compile, compile_shapeless, grad, ops, vmap};

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

/// The rows 0, 1, 2, … of `n` elements.
fn rows(n: i32) -> Array {
    floats(&(0..2 * n).map(|i| (i * i) as f32).collect::<Vec<_>>()).reshape(&[2, n]).expect("two rows")
}

#[test]
fn a_shapeless_function_runs_once_for_all_sizes() {
    let runs = Cell::new(0);
    let apart = |x: &[Array]| {
        runs.set(runs.get() + 1);
        let mean = ops::reduce::mean(&x[0], Some(&[-1]), true)?;
        Ok(vec![&(&x[0] - &mean) * 2.0, ops::reduce::var(&x[0], None, false, 1)?])
    };
    let f = compile_shapeless(apart);
    on_every_device(|| {
        runs.set(0);
        let found: Vec<Vec<Array>> = [2, 3, 5].map(|n| f(&[rows(n)]).expect("it runs")).into();
        assert_eq!(runs.get(), 1, "for two columns");
        for (found, n) in found.iter().zip([2, 3, 5]) {
            let expected = apart(&[rows(n)]).expect("it runs");
            assert_eq!(found[0].shape(), [2, n]);
            assert_eq!([0, 1].map(|i| values(&found[i])), [0, 1].map(|i| values(&expected[i])), "{n} columns");
        }
        runs.set(0);
        f(&[floats(&[1.0, 2.0])]).expect("another number of axes");
        assert_eq!(runs.get(), 1);
    });
}

#[test]
fn a_shapeless_function_that_holds_sizes_runs_again() {
    let runs = Cell::new(0);
    let f = compile_shapeless(|x: &[Array]| {
        runs.set(runs.get() + 1);
        Ok(vec![x[0].reshape(&[-1, 2])?])
    });
    for n in [2, 3, 4] {
        assert_eq!(f(&[rows(n)]).expect("it runs")[0].shape(), [n, 2]);
    }
    assert_eq!(runs.get(), 3);
    let sum = compile_shapeless(|x: &[Array]| Ok(vec![ops::binary::add(&x[0], &x[1])?]));
    sum(&[floats(&[1.0, 2.0]), floats(&[3.0, 4.0])]).expect("two and two");
    let error = sum(&[floats(&[1.0, 2.0, 3.0]), floats(&[3.0, 4.0])]).expect_err("three and two do not fit");
    assert!(error.to_string().contains("(3,)"), "{error}");
}

#[test]
fn a_shapeless_function_may_take_gradients() {
    let weigh = |x: &[Array]| Ok(vec![total(&(&(&x[0] * 3.0) * &x[0]))?]);
    let f = compile_shapeless(|x: &[Array]| Ok(vec![grad(weigh, &[0])(x)?.swap_remove(0)]));
    on_every_device(|| {
        for n in [1, 2, 4] {
            let expected: Vec<f32> = values(&rows(n)).iter().map(|x| 6.0 * x).collect();
            assert_eq!(values(&f(&[rows(n)]).expect("it runs")[0]), expected);
        }
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
