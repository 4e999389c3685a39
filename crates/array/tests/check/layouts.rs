//! Layouts: inputs that lie in memory in any way.

use pumice::ops::broadcast_to::broadcast_to;
use pumice::ops::slices::slice;
use pumice::ops::views::transpose;
use pumice::{Array, Device, Result};

use crate::check;
use crate::data::Data;
use crate::types::every_type;
use crate::values::first_difference;

/// Checks calls with inputs that lie in memory as `lay` says: it gives the array and the values it has.
fn check_layout(lay: impl Fn(&Data) -> Result<(Array, Data)> + Sync) {
    check(every_type, &[Device::CPU, Device::GPU], |call| {
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
