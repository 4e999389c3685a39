//! What transforms refuse, with the kinds of errors that the MLX wheel raises.

use pumice::{Array, Error, Result, async_eval, compile, grad, jvp, value_and_grad, vjp, vmap};

use crate::{floats, total};

fn double(x: &[Array]) -> Result<Vec<Array>> {
    Ok(vec![&x[0] + &x[0]])
}

fn text<T>(result: Result<T>) -> String {
    match result {
        Ok(_) => panic!("it must be refused"),
        Err(Error::Value(text)) => text,
        Err(Error::Index(text)) => format!("index: {text}"),
        Err(other) => panic!("not the wheel's kind: {other:?}"),
    }
}

#[test]
fn a_gradient_is_of_a_scalar_and_of_inputs_there_are() {
    let x = [floats(&[1.0, 2.0])];
    assert_eq!(text(grad(double, &[0])(&x)), "[grad] the function must give a scalar but gives shape (2,).");
    assert_eq!(text(grad(double, &[])(&x)), "[grad] argnums must name an input but is empty.");
    assert_eq!(text(grad(double, &[1])(&x)), "[grad] argnums must be below the 1 inputs but has 1.");
    assert_eq!(text(value_and_grad(double, &[0, 0])(&x)), "[value_and_grad] argnums must differ but has 0 twice.");
    let nothing = |_: &[Array]| Ok(Vec::new());
    assert_eq!(text(grad(nothing, &[0])(&x)), "[grad] the function must give a scalar but gives nothing.");
}

#[test]
fn cotangents_and_tangents_fit() {
    let (x, short) = ([floats(&[1.0, 2.0])], [floats(&[1.0])]);
    assert_eq!(text(vjp(double, &x, &[])), "[vjp] there must be 1 cotangents, as outputs, but there are 0.");
    assert_eq!(text(vjp(double, &x, &short)), "[vjp] a cotangent must have its output's shape (2,) but has (1,).");
    assert_eq!(text(jvp(double, &x, &[])), "[jvp] there must be 1 tangents, as inputs, but there are 0.");
    assert_eq!(text(jvp(double, &x, &short)), "[jvp] a tangent must have its input's shape (2,) but has (1,).");
}

#[test]
fn mapped_axes_exist_and_agree() {
    let x = [floats(&[1.0, 2.0]), floats(&[1.0])];
    let both = |x: &[Array]| Ok(vec![x[0].clone(), x[1].clone()]);
    assert_eq!(text(vmap(both, 0, 0)(&x)), "[vmap] mapped axes must have one size but have 2 and 1.");
    assert_eq!(text(vmap(both, [None, None], 0)(&x)), "[vmap] at least one input must be mapped but none is.");
    assert_eq!(text(vmap(both, [Some(0)], 0)(&x)), "[vmap] there must be 2 axes, as inputs, but there are 1.");
    let axis = "index: [vmap] the axis must be one of an array of shape (2,) but is 1.";
    assert_eq!(text(vmap(double, 1, 0)(&x[..1])), axis);
    let place = "index: [vmap] an output of 0 axes must get its axis in them but at 1.";
    assert_eq!(text(vmap(double, 0, 1)(&x[..1])), place);
    let none = "[vmap] an output without an axis must not depend on mapped inputs.";
    assert_eq!(text(vmap(double, 0, [None])(&x[..1])), none);
}

#[test]
fn traced_functions_cannot_look_at_values() {
    let looks = |x: &[Array]| {
        let y = double(x)?;
        y[0].eval()?;
        Ok(y)
    };
    let x = [floats(&[1.0, 2.0])];
    let refused = "[eval] arrays must not be looked at while compile or vmap traces a function but one is: it has no value \
                   yet (item, tolist, bool, print and NumPy look at arrays).";
    assert_eq!(text(vmap(looks, 0, 0)(&x)), refused);
    assert_eq!(text(compile(looks)(&x)), refused);
    assert_eq!(text(vmap(grad(|x: &[Array]| Ok(vec![total(&looks(x)?[0])?]), &[0]), 0, 0)(&x)), refused);
    let starts = |x: &[Array]| {
        let y = double(x)?;
        async_eval(&y)?;
        Ok(vec![total(&y[0])?])
    };
    let refused = "[async_eval] arrays must not be inside a transformed function (grad, vmap, compile) but one is.";
    assert_eq!(text(grad(starts, &[0])(&x)), refused);
}

#[test]
fn errors_and_panics_of_a_function_leave_nothing_behind() {
    let fails = |_: &[Array]| -> Result<Vec<Array>> { Err(Error::Value("[f] is told.".into())) };
    assert_eq!(text(grad(fails, &[0])(&[floats(&[1.0])])), "[f] is told.");
    let panics = |_: &[Array]| -> Result<Vec<Array>> { panic!("a bug of the user's") };
    let caught = std::panic::catch_unwind(|| grad(panics, &[0])(&[floats(&[1.0])]));
    assert!(caught.is_err());
    // No transform is at work any more, so this is not refused.
    let y = &floats(&[1.0]) + 1.0;
    async_eval(&[y]).expect("nobody follows it");
}
