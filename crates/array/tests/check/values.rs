//! Values: on all devices, by the op's own way and by its meaning, from inputs in any layout.

use pumice::eval::set_disabled;
use pumice::ops::broadcast_to::broadcast_to;
use pumice::ops::catalogue::Case;
use pumice::ops::slices::slice;
use pumice::ops::views::transpose;
use pumice::{Array, Device, Dtype, Result, default_stream, with_stream};

use crate::data::{Data, difference, largest_float};
use crate::{Call, all_types, check, one_type};

/// The first output that differs from what is wanted.
fn first_difference(found: &[Array], wanted: &[Array], slack: f64, inputs: &[Data]) -> Result<Option<String>> {
    if found.len() != wanted.len() {
        return Ok(Some(format!("{} results instead of {}", found.len(), wanted.len())));
    }
    let terms = largest_float(inputs);
    for (j, (found, wanted)) in found.iter().zip(wanted).enumerate() {
        if let Some(why) = difference(found, wanted, slack, terms)? {
            return Ok(Some(format!("result {j}: {why}")));
        }
    }
    Ok(None)
}

fn arrays(inputs: &[Data]) -> Vec<Array> {
    inputs.iter().map(Data::array).collect()
}

#[test]
fn the_gpu_gives_what_the_cpu_gives() {
    check(all_types, &[Device::GPU], against_the_cpu);
}

/// How results differ from the CPU's.
pub fn against_the_cpu(call: &Call) -> Result<Option<String>> {
    let inputs = call.inputs(0);
    let found = call.make(&arrays(&inputs))?;
    let cpu = default_stream(Device::CPU)?;
    let wanted = with_stream(cpu, || call.make(&arrays(&inputs)))?;
    first_difference(&found, &wanted, 1.0, &inputs)
}

fn float64(_: usize, case: &Case) -> Vec<Dtype> {
    case.dtypes.iter().copied().filter(|&dtype| dtype == Dtype::F64).collect()
}

#[test]
fn float64_works_on_the_cpu() {
    check(float64, &[Device::CPU], |call| {
        pumice::eval(&call.make(&arrays(&call.inputs(0)))?)?;
        Ok(None)
    });
}

#[test]
fn the_meaning_gives_what_the_op_gives() {
    check(one_type, &[Device::CPU, Device::GPU], |call| {
        let data = call.inputs(0);
        let inputs = arrays(&data);
        let wanted = call.make(&inputs)?;
        pumice::eval(&wanted)?;
        set_disabled(call.op, true);
        let found = call.make(&inputs).and_then(|found| pumice::eval(&found).map(|()| found));
        set_disabled(call.op, false);
        // A meaning rounds more often than the op does.
        first_difference(&found?, &wanted, 4.0, &data)
    });
}

/// Checks calls with inputs that lie in memory as `lay` says: it gives the array and the values it has.
fn check_layout(lay: impl Fn(&Data) -> Result<(Array, Data)> + Sync) {
    check(one_type, &[Device::CPU, Device::GPU], |call| {
        let data = call.inputs(0);
        let laid = data.iter().map(&lay).collect::<Result<Vec<_>>>()?;
        let (given, plain): (Vec<Array>, Vec<Array>) = laid.into_iter().map(|(x, data)| (x, data.array())).unzip();
        pumice::eval(&given)?;
        first_difference(&call.make(&given)?, &call.make(&plain)?, 1.0, &data)
    });
}

#[test]
fn inputs_may_be_transposed() {
    check_layout(|data| {
        let shape: Vec<i32> = data.shape.iter().rev().copied().collect();
        let memory = data.gathered(shape, |place| data.index(&place.iter().rev().copied().collect::<Vec<_>>()));
        Ok((transpose(&memory.array(), None)?, data.clone()))
    });
}

#[test]
fn inputs_may_be_backwards() {
    check_layout(|data| {
        let backwards = |place: &[usize]| {
            let flipped = place.iter().zip(&data.shape).map(|(&i, &n)| n as usize - 1 - i);
            data.index(&flipped.collect::<Vec<_>>())
        };
        let memory = data.gathered(data.shape.clone(), backwards).array();
        let from: Vec<i32> = data.shape.iter().map(|&n| n - 1).collect();
        let to: Vec<i32> = data.shape.iter().map(|&n| -n - 1).collect();
        Ok((slice(&memory, &from, &to, &vec![-1; data.shape.len()])?, data.clone()))
    });
}

#[test]
fn inputs_may_be_broadcast() {
    check_layout(|data| {
        let Some((&n, rest)) = data.shape.split_first().filter(|(n, _)| **n > 0) else {
            return Ok((data.array(), data.clone()));
        };
        let row = data.gathered(rest.to_vec(), |place| data.index(&[&[0], place].concat()));
        let repeated = Data::stack(&vec![row.clone(); n as usize], 0);
        Ok((broadcast_to(&row.array(), &data.shape)?, repeated))
    });
}

#[test]
fn inputs_may_be_a_part_of_an_array() {
    check_layout(|data| {
        if data.shape.is_empty() {
            return Ok((data.array(), data.clone()));
        }
        // One element more at both ends of the last axis, so that rows are apart and begin at any address.
        let last = data.shape.len() - 1;
        let n = data.shape[last] as usize;
        let mut shape = data.shape.clone();
        shape[last] += 2;
        if shape.contains(&0) || n == 0 {
            return Ok((data.array(), data.clone()));
        }
        let around = data.gathered(shape, |place| {
            let mut place = place.to_vec();
            place[last] = place[last].clamp(1, n) - 1;
            data.index(&place)
        });
        let mut from = vec![0; last + 1];
        from[last] = 1;
        let to: Vec<i32> = data.shape.iter().zip(&from).map(|(n, start)| n + start).collect();
        Ok((slice(&around.array(), &from, &to, &vec![1; last + 1])?, data.clone()))
    });
}
