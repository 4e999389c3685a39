//! The transforms of every view, slice and join: vmap against a loop, jvp as the transpose of vjp. All values are small
//! whole numbers, so that everything is exact.

use super::moveaxis;
use super::tests::on_each_device;
use crate::array::Array;
use crate::ops::catalogue::{Case, Entry};
use crate::ops::joins::{self, stack};
use crate::ops::slices::{self, slice};
use crate::transforms::{Axes, jvp, vjp, vmap};

fn all_entries() -> Vec<Entry> {
    [super::entries(), slices::entries(), joins::entries(), crate::ops::full::entries()].into_iter().flatten().collect()
}

/// Whole numbers that look random.
fn sample(shape: &[i32], seed: usize) -> Array {
    let n: i32 = shape.iter().product();
    let values: Vec<f32> = (0..n as usize).map(|i| ((i * 37 + seed * 101) % 23) as f32 - 11.0).collect();
    Array::from_slice(&values, shape).expect("as many as the shape has")
}

fn floats(x: &Array) -> Vec<f32> {
    x.to_vec().expect("floats")
}

fn dot(a: &[Array], b: &[Array]) -> f32 {
    a.iter().zip(b).map(|(a, b)| floats(a).iter().zip(floats(b)).map(|(a, b)| a * b).sum::<f32>()).sum()
}

/// The n-th part of an array along its first axis.
fn part(x: &Array, n: i32) -> Array {
    let (mut start, mut stop) = (vec![0; x.ndim()], x.shape().to_vec());
    (start[0], stop[0]) = (n, n + 1);
    let one = slice(x, &start, &stop, &vec![1; x.ndim()]).expect("a slice");
    super::squeeze(&one, Some(&[0])).expect("one element")
}

fn samples(case: &Case, seed: usize) -> Vec<Array> {
    case.inputs.iter().enumerate().map(|(i, input)| sample(&input.shape, seed + i)).collect()
}

#[test]
fn jvp_is_the_transpose_of_vjp() {
    on_each_device(|| {
        for entry in all_entries() {
            for case in entry.cases.iter().filter(|case| case.differentiable) {
                let (inputs, tangents) = (samples(case, 0), samples(case, 5));
                let (outputs, forward) = jvp(&case.call, &inputs, &tangents).expect("a jvp");
                let cotangents: Vec<Array> = outputs.iter().map(|y| sample(y.shape(), 9)).collect();
                let (_, backward) = vjp(&case.call, &inputs, &cotangents).expect("a vjp");
                assert_eq!(dot(&cotangents, &forward), dot(&backward, &tangents), "{} {}", entry.name, case.name);
            }
        }
    });
}

#[test]
fn vmap_is_a_loop() {
    on_each_device(|| {
        for entry in all_entries() {
            for case in &entry.cases {
                check_vmap(&entry, case);
            }
        }
    });
}

/// Maps the case over the last axis of its first input, and over all inputs where there are several.
fn check_vmap(entry: &Entry, case: &Case) {
    let inputs: Vec<Array> =
        case.inputs.iter().enumerate().map(|(i, input)| sample(&[&[3], input.shape.as_slice()].concat(), i)).collect();
    let moved = |x: &Array| moveaxis(x, 0, -1).expect("an axis");
    for mapped in 1..=inputs.len() {
        let fixed: Vec<Array> = inputs[mapped..].iter().map(|x| part(x, 0)).collect();
        let given: Vec<Array> = inputs[..mapped].iter().map(moved).chain(fixed.iter().cloned()).collect();
        let axes = (0..inputs.len()).map(|i| (i < mapped).then_some(-1)).collect();
        let outputs = vmap(&case.call, Axes::Each(axes), Axes::All(0))(&given).expect("a vmap");
        let each = |n: i32| {
            let one: Vec<Array> = inputs[..mapped].iter().map(|x| part(x, n)).chain(fixed.iter().cloned()).collect();
            (case.call)(&one).expect("the call")
        };
        let looped: Vec<Vec<Array>> = (0..3).map(each).collect();
        for (j, output) in outputs.iter().enumerate() {
            let column: Vec<Array> = looped.iter().map(|outputs| outputs[j].clone()).collect();
            let expected = stack(&column, 0).expect("of one shape");
            assert_eq!(output.shape(), expected.shape(), "{} {}", entry.name, case.name);
            assert_eq!(floats(output), floats(&expected), "{} {}", entry.name, case.name);
        }
    }
}
