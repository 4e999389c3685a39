//! Mapping: a call over one more axis gives what a loop of calls gives.

use pumice::{Array, Device, Result, vmap};

use crate::data::{Data, difference, largest_float};
use crate::types::every_type;
use crate::{Call, check};

/// Calls that are mapped together.
const SIZE: usize = 3;

/// Checks mapped calls; `axis` says which axis of an input is the mapped one, from its number and its number of axes.
fn check_mapped(axis: impl Fn(usize, usize) -> Option<usize> + Sync) {
    check(every_type, &[Device::CPU], |call| {
        let axes: Vec<Option<usize>> =
            call.case.inputs.iter().enumerate().map(|(i, sample)| axis(i, sample.shape.len())).collect();
        if axes.iter().all(Option::is_none) {
            return Ok(None);
        }
        against_a_loop(call, &axes)
    });
}

/// How a mapped call differs from a loop of calls.
pub fn against_a_loop(call: &Call, axes: &[Option<usize>]) -> Result<Option<String>> {
    let runs: Vec<Vec<Data>> = (0..SIZE).map(|run| call.inputs(run as u64)).collect();
    let column = |i: usize| runs.iter().map(|run| run[i].clone()).collect::<Vec<Data>>();
    let inputs = axes.iter().enumerate().map(|(i, axis)| match axis {
        Some(axis) => Data::stack(&column(i), *axis).array(),
        None => runs[0][i].array(),
    });
    let inputs: Vec<Array> = inputs.collect();
    let in_axes: Vec<Option<i32>> = axes.iter().map(|axis| axis.map(|axis| axis as i32)).collect();
    let found = vmap(|x: &[Array]| call.make(x), in_axes, 0)(&inputs)?;
    for (j, found) in found.iter().enumerate() {
        let one = |run: &Vec<Data>| {
            let given = run.iter().zip(&runs[0]).zip(axes).map(|((own, first), axis)| match axis {
                Some(_) => own.array(),
                None => first.array(),
            });
            Data::read(&call.make(&given.collect::<Vec<_>>())?[j])
        };
        let wanted = Data::stack(&runs.iter().map(one).collect::<Result<Vec<_>>>()?, 0);
        if let Some(why) = difference(found, &wanted.array(), 1.0, largest_float(&runs[0]))? {
            return Ok(Some(format!("result {j}: {why}")));
        }
    }
    Ok(None)
}

#[test]
fn all_inputs_may_be_mapped_along_their_first_axis() {
    check_mapped(|_, _| Some(0));
}

#[test]
fn inputs_may_be_mapped_along_their_last_axis_or_not_at_all() {
    check_mapped(|i, ndim| (i == 0).then_some(ndim));
}

#[test]
fn later_inputs_may_be_mapped_alone() {
    check_mapped(|i, ndim| (i > 0).then_some(if i % 2 == 0 { 0 } else { ndim }));
}
