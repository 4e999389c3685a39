//! Transforms of transforms, and functions that catch arrays of the transforms around them.

use pumice::{Array, Result, checkpoint, compile, grad, jvp, value_and_grad, vjp, vmap};

use crate::{assert_close, floats, on_every_device, total, values};

fn one(x: f32) -> [Array; 1] {
    [Array::scalar(x)]
}

#[test]
fn an_inner_derivative_does_not_see_the_outer_variable() {
    // d/dx (x · d/dy (x + y)) = 1, though both derivatives are with respect to "the" input: mixing them up gives 2.
    let outer = |x: &[Array]| {
        let caught = x[0].clone();
        let inner = move |y: &[Array]| Ok(vec![&caught + &y[0]]);
        Ok(vec![&x[0] * &grad(inner, &[0])(&one(1.0))?[0]])
    };
    assert_close(&values(&grad(outer, &[0])(&one(3.0)).expect("reverse over reverse")[0]), &[1.0]);
    assert_close(&values(&jvp(outer, &one(3.0), &one(1.0)).expect("forward over reverse").1[0]), &[1.0]);
    let outer = |x: &[Array]| {
        let caught = x[0].clone();
        let inner = move |y: &[Array]| Ok(vec![&caught * &y[0]]);
        Ok(vec![&x[0] * &jvp(inner, &one(2.0), &one(1.0))?.1[0]])
    };
    // x · ∂(x·y)/∂y = x², whose derivative at 3 is 6.
    assert_close(&values(&jvp(outer, &one(3.0), &one(1.0)).expect("forward over forward").1[0]), &[6.0]);
    assert_close(&values(&grad(outer, &[0])(&one(3.0)).expect("reverse over forward")[0]), &[6.0]);
}

#[test]
fn an_inner_derivative_at_the_outer_variable_is_followed() {
    // f(x) = g'(x²) with g = sin: f'(x) = -sin(x²) · 2x.
    let f = |x: &[Array]| {
        let sine = |y: &[Array]| Ok(vec![y[0].sin()?]);
        grad(sine, &[0])(&[x[0].square()?])
    };
    let wanted = [-(0.49f32.sin()) * 1.4];
    assert_close(&values(&grad(f, &[0])(&one(0.7)).expect("it has a gradient")[0]), &wanted);
    assert_close(&values(&jvp(f, &one(0.7), &one(1.0)).expect("it has a jvp").1[0]), &wanted);
}

#[test]
fn all_pairs_of_transforms_agree() {
    // sin(x)·x and its second derivative 2cos(x) - x·sin(x), in every order of two derivatives.
    let f = |x: &[Array]| Ok(vec![total(&(&x[0].sin()? * &x[0]))?]);
    on_every_device(|| {
        let (x, v) = ([floats(&[0.3, -1.1, 2.0])], [floats(&[1.0, 1.0, 1.0])]);
        let wanted: Vec<f32> = values(&x[0]).iter().map(|&x| 2.0 * x.cos() - x * x.sin()).collect();
        let gradient = grad(f, &[0]);
        let forward = |x: &[Array]| Ok(jvp(f, x, &v)?.1);
        let found: [(&str, Result<Vec<Array>>); 4] = [
            ("vjp of grad", vjp(&gradient, &x, &v).map(|(_, found)| found)),
            ("jvp of grad", jvp(&gradient, &x, &v).map(|(_, found)| found)),
            ("grad of jvp", grad(forward, &[0])(&x)),
            ("grad of compiled grad", grad(|x: &[Array]| Ok(vec![total(&compile(&gradient)(x)?[0])?]), &[0])(&x)),
        ];
        for (name, found) in found {
            assert_close(&values(&found.unwrap_or_else(|error| panic!("{name}: {error}"))[0]), &wanted);
        }
    });
}

#[test]
fn a_gradient_of_a_mapped_function_is_the_sum_of_gradients() {
    let f = |x: &[Array]| Ok(vec![&total(&x[0].exp()?)? * &x[1]]);
    let mapped = |x: &[Array]| Ok(vec![total(&vmap(f, [Some(0), None], 0)(x)?[0])?]);
    on_every_device(|| {
        let x = Array::from_slice(&[0.5f32, -0.5, 1.0, 0.0], &[2, 2]).expect("four");
        let found = grad(mapped, &[0, 1])(&[x.clone(), Array::scalar(2f32)]).expect("it has gradients");
        let exponentials: Vec<f32> = values(&x).iter().map(|x| x.exp()).collect();
        assert_close(&values(&found[0]), &exponentials.iter().map(|e| 2.0 * e).collect::<Vec<_>>());
        assert_close(&values(&found[1]), &[exponentials.iter().sum()]);
    });
}

#[test]
fn maps_in_maps_work_over_two_axes() {
    let product = |x: &[Array]| Ok(vec![&x[0] * &x[1]]);
    let table = |x: &[Array]| vmap(vmap(product, [None, Some(0)], 0), [Some(0), None], 0)(x);
    on_every_device(|| {
        let found = table(&[floats(&[1.0, 2.0]), floats(&[3.0, 4.0, 5.0])]).expect("an outer product");
        assert_eq!(found[0].shape(), [2, 3]);
        assert_eq!(values(&found[0]), [3.0, 4.0, 5.0, 6.0, 8.0, 10.0]);
    });
}

#[test]
fn outputs_that_do_not_depend_on_the_mapped_axis_are_repeated() {
    let f = |x: &[Array]| Ok(vec![floats(&[1.0, 2.0]), x[0].clone(), floats(&[7.0])]);
    let x = Array::from_slice(&[1f32, 2.0, 3.0], &[3]).expect("three");
    let found = vmap(f, 0, [Some(1), Some(0), None])(&[x]).expect("it maps");
    assert_eq!((found[0].shape(), values(&found[0])), (&[2, 3][..], vec![1.0, 1.0, 1.0, 2.0, 2.0, 2.0]));
    assert_eq!(values(&found[1]), [1.0, 2.0, 3.0]);
    assert_eq!(values(&found[2]), [7.0]);
}

#[test]
fn inputs_without_influence_have_gradients_of_zeros() {
    let f = |x: &[Array]| Ok(vec![total(&x[0])?, x[1].clone()]);
    let x = [floats(&[1.0, 2.0]), Array::from_slice(&[3i32, 4], &[2]).expect("two")];
    let (outputs, found) = value_and_grad(f, &[1, 0])(&x).expect("it has gradients");
    assert_eq!(found[0].to_vec::<i32>().expect("of the input's type"), [0, 0]);
    assert_eq!(values(&found[1]), [1.0, 1.0]);
    assert_eq!(outputs[1].to_vec::<i32>().expect("what the function gave"), [3, 4]);
}

#[test]
fn an_input_that_is_an_output_passes_its_cotangent() {
    let f = |x: &[Array]| Ok(vec![x[0].clone(), x[0].clone()]);
    let (x, g) = ([floats(&[1.0, 2.0])], [floats(&[3.0, 4.0]), floats(&[10.0, 20.0])]);
    let (outputs, found) = vjp(f, &x, &g).expect("it has a vjp");
    assert_eq!((values(&outputs[0]), values(&found[0])), (vec![1.0, 2.0], vec![13.0, 24.0]));
}

#[test]
fn pending_inputs_are_followed_as_computed_ones() {
    on_every_device(|| {
        let x = &floats(&[1.0, 2.0]) + 1.0;
        let f = |x: &[Array]| {
            x[0].eval()?;
            Ok(vec![total(&x[0].square()?)?])
        };
        assert_eq!(values(&grad(f, &[0])(std::slice::from_ref(&x)).expect("it has a gradient")[0]), [4.0, 6.0]);
        assert_eq!(values(&x), [2.0, 3.0]);
    });
}

#[test]
fn a_checkpoint_changes_no_derivative() {
    let layer = |x: &[Array]| Ok(vec![&x[0].tanh()? * &x[1]]);
    on_every_device(|| {
        let x = [floats(&[0.5, -1.0, 2.0]), floats(&[1.5, 0.5, -1.0])];
        let kept = |x: &[Array]| Ok(vec![total(&layer(&[layer(x)?[0].clone(), x[1].clone()])?[0])?]);
        let again = |x: &[Array]| {
            let layer = checkpoint(layer);
            Ok(vec![total(&layer(&[layer(x)?[0].clone(), x[1].clone()])?[0])?])
        };
        let wanted = grad(kept, &[0, 1])(&x).expect("it has gradients");
        for found in [grad(again, &[0, 1])(&x), compile(grad(again, &[0, 1]))(&x)] {
            for (found, wanted) in found.expect("it has gradients").iter().zip(&wanted) {
                assert_close(&values(found), &values(wanted));
            }
        }
        let second = |f: &dyn Fn(&[Array]) -> Result<Vec<Array>>| {
            values(&grad(|x: &[Array]| Ok(vec![total(&grad(f, &[0])(x)?[0])?]), &[1])(&x).expect("twice")[0])
        };
        assert_close(&second(&again), &second(&kept));
    });
}
