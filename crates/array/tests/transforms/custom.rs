//! Functions with rules of their own.

use pumice::{Array, CustomFunction, Result, grad, jvp, vmap};

use crate::{floats, on_every_device, total, values};

/// The sine, with rules that anybody can tell from its own.
fn marked() -> CustomFunction {
    CustomFunction::new(|x| Ok(vec![x[0].sin()?]))
        .vjp(|x, cotangents, outputs| Ok(vec![&(&cotangents[0] * &x[0]) + &(&outputs[0] * 0.0)]))
        .jvp(|x, tangents| Ok(vec![&(&tangents[0] * &x[0]) * 100.0]))
        .vmap(|x, axes| Ok(vec![(&x[0].sin()? + 1000.0, axes[0])]))
}

#[test]
fn the_rules_given_are_used() {
    let f = marked();
    let of = |x: &[Array]| Ok(vec![total(&f.call(x)?[0])?]);
    on_every_device(|| {
        let x = [floats(&[0.0, 2.0])];
        assert_eq!(values(&f.call(&x).expect("it runs")[0])[0], 0.0);
        assert_eq!(values(&grad(of, &[0])(&x).expect("by its rule")[0]), [0.0, 2.0]);
        let forward = jvp(|x: &[Array]| f.call(x), &x, &[floats(&[1.0, 1.0])]).expect("by its rule").1;
        assert_eq!(values(&forward[0]), [0.0, 200.0]);
        assert_eq!(values(&vmap(|x: &[Array]| f.call(x), 0, 0)(&x).expect("by its rule")[0])[0], 1000.0);
    });
}

#[test]
fn without_rules_the_function_is_looked_into() {
    let f = CustomFunction::new(|x| Ok(vec![&x[0] * &x[0], x[0].negative()?]));
    let of = |x: &[Array]| Ok(vec![total(&f.call(x)?[0])?]);
    on_every_device(|| {
        let x = [floats(&[1.0, 2.0])];
        assert_eq!(values(&grad(of, &[0])(&x).expect("through the function")[0]), [2.0, 4.0]);
        let forward = jvp(|x: &[Array]| f.call(x), &x, &[floats(&[1.0, 1.0])]).expect("through the function").1;
        assert_eq!((values(&forward[0]), values(&forward[1])), (vec![2.0, 4.0], vec![-1.0, -1.0]));
        let mapped = vmap(|x: &[Array]| f.call(x), 0, 0)(&x).expect("through the function");
        assert_eq!(values(&mapped[1]), [-1.0, -2.0]);
    });
}

#[test]
fn a_rule_must_give_as_many_arrays_as_there_are_inputs() {
    let f = CustomFunction::new(|x| Ok(vec![x[0].clone()])).vjp(|_, _, _| Ok(Vec::new()));
    let of = |x: &[Array]| -> Result<Vec<Array>> { Ok(vec![total(&f.call(x)?[0])?]) };
    let error = grad(of, &[0])(&[floats(&[1.0])]).expect_err("one is missing");
    assert_eq!(error.to_string(), "[custom_function] the rule for vjp must give 1 arrays but gives 0.");
}
