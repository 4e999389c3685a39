//! Transforms with arguments drawn at random, of functions that are themselves calls drawn at random.

use pumice::ops::{reduce, unary};
use pumice::transforms::Axes;
use pumice::{Array, CustomFunction, Error, Result, checkpoint, compile, grad, jvp, value_and_grad, vjp, vmap};

use crate::calls::{FOLDS, PLACES, RANDOM, Row, VALUES, VIEWS};
use crate::draw::Draw;

/// A transform's name, and a use of it.
pub const TRANSFORMS: &[Row] = &[
    ("grad", |d| {
        let (f, inputs, argnums) = (function(d), d.arrays(), argnums(d));
        grad(f, &argnums)(&inputs)
    }),
    ("grad_of_sum", |d| {
        let (f, inputs) = (function(d), d.arrays());
        grad(move |x: &[Array]| total(&f(x)?), &[0])(&inputs)
    }),
    ("value_and_grad", |d| {
        let (f, inputs, argnums) = (function(d), d.arrays(), argnums(d));
        let (values, grads) = value_and_grad(f, &argnums)(&inputs)?;
        Ok([values, grads].concat())
    }),
    ("vjp", |d| {
        let (f, inputs) = (function(d), d.arrays());
        let cotangents = f(&inputs).map_or_else(|_| Vec::new(), |outputs| near(d, &outputs));
        vjp(f, &inputs, &cotangents).map(|(values, cotangents)| [values, cotangents].concat())
    }),
    ("jvp", |d| {
        let (f, inputs) = (function(d), d.arrays());
        let tangents = near(d, &inputs);
        jvp(f, &inputs, &tangents).map(|(values, tangents)| [values, tangents].concat())
    }),
    ("vmap", |d| {
        let (f, inputs, axes, places) = (function(d), d.arrays(), axes(d), axes(d));
        vmap(f, axes, places)(&inputs)
    }),
    ("vmap_first", |d| {
        let (f, inputs) = (function(d), d.arrays());
        vmap(f, 0, 0)(&inputs)
    }),
    ("vmap_of_grad", |d| {
        let (f, inputs) = (function(d), d.arrays());
        vmap(grad(move |x: &[Array]| total(&f(x)?), &[0]), 0, 0)(&inputs)
    }),
    ("compile", |d| {
        let (f, inputs) = (function(d), d.arrays());
        compile(f)(&inputs)
    }),
    ("checkpoint", |d| {
        let (f, inputs) = (function(d), d.arrays());
        grad(checkpoint(move |x: &[Array]| total(&f(x)?)), &[0])(&inputs)
    }),
    ("custom", |d| {
        let (f, rule, inputs) = (function(d), function(d), d.arrays());
        let custom = CustomFunction::new(f).vjp(move |_, cotangents, _| rule(cotangents));
        grad(move |x: &[Array]| total(&custom.call(x)?), &[0])(&inputs)
    }),
];

/// A function that draws one call of its inputs and others, the same ones whenever it is called.
fn function(d: &mut Draw) -> impl Fn(&[Array]) -> Result<Vec<Array>> + Send + Sync + use<> {
    let rows = d.pick(&[VIEWS, VALUES, FOLDS, PLACES, RANDOM]);
    let ((_, call), seed, kind) = (d.pick(rows), d.below(usize::MAX) as u64, d.below(20));
    let huge = d.huge().clone();
    move |inputs: &[Array]| match kind {
        0 => Ok(Vec::new()),
        1 => Err(Error::Value("[function] is told to fail.".into())),
        2 => Ok(inputs.to_vec()),
        3 => inputs.iter().map(unary::negative).collect(),
        _ => call(&mut Draw::with(seed, inputs, &huge)),
    }
}

/// The sum of all outputs' sums.
fn total(outputs: &[Array]) -> Result<Vec<Array>> {
    outputs.iter().map(|output| reduce::sum(output, None, false)).collect()
}

fn argnums(d: &mut Draw) -> Vec<usize> {
    (0..d.below(3)).map(|_| d.pick(&[0, 0, 0, 1, 1, 2, usize::MAX])).collect()
}

fn axes(d: &mut Draw) -> Axes {
    match d.below(3) {
        0 => Axes::All(d.axis()),
        1 => Axes::All(0),
        _ => Axes::Each((0..d.below(4)).map(|_| d.maybe_axis()).collect()),
    }
}

/// Arrays of nearly the same shapes.
fn near(d: &mut Draw, like: &[Array]) -> Vec<Array> {
    let all = like.iter().map(|x| if d.once_in(6) { d.array_near(x) } else { same(d, x) }).collect();
    if d.once_in(10) { d.arrays() } else { all }
}

fn same(d: &mut Draw, x: &Array) -> Array {
    pumice::ops::full::full_like(x, 1, None).unwrap_or_else(|_| d.array_near(x))
}
