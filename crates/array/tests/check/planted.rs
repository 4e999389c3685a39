//! Errors planted on purpose: each check must find its own.

use pumice::ops::catalogue::{Case, Entry, Sample};
use pumice::{Array, CustomFunction, Device, Dtype, Result, current_stream};

use crate::derivatives::{finite_difference, transposition};
use crate::mapping::against_a_loop;
use crate::values::against_the_cpu;
use crate::{Call, failures};

fn planted(call: impl Fn(&[Array]) -> Result<Vec<Array>> + Send + Sync + 'static) -> Entry {
    let case = Case {
        name: "rows".into(),
        inputs: vec![Sample::new(&[2, 3])],
        dtypes: &[Dtype::F32, Dtype::F64],
        call: Box::new(call),
        differentiable: true,
    };
    Entry { name: "planted", doc: "An op with an error.", cases: vec![case] }
}

/// Runs a check on an op with an error, and expects a failure that says where and why.
fn expect_failure(entry: Entry, verify: impl Fn(&Call) -> Result<Option<String>> + Sync, device: Device, why: &str) {
    if !crate::rig::devices().contains(&device) {
        return;
    }
    let found = failures(&[entry], |_| vec![Dtype::F32], &[device], verify);
    let begins = format!("planted / rows / float32 / {device}: {why}");
    assert!(found.len() == 1 && found[0].starts_with(&begins), "{found:?} does not begin with {begins:?}");
}

#[test]
fn a_wrong_derivative_is_found() {
    let wrong =
        || CustomFunction::new(|x| Ok(vec![x[0].sin()?])).vjp(|x, g, _| Ok(vec![&x[0].cos()? * &(&g[0] * 1.001)]));
    let entry = || {
        let function = wrong();
        planted(move |x| function.call(x))
    };
    expect_failure(entry(), finite_difference, Device::CPU, "the derivative along a line is");
    expect_failure(entry(), transposition, Device::CPU, "forwards");
}

#[test]
fn a_wrong_map_is_found() {
    let function =
        CustomFunction::new(|x| Ok(vec![x[0].sin()?])).vmap(|x, axes| Ok(vec![(&x[0].sin()? * 1.00001, axes[0])]));
    let entry = planted(move |x| function.call(x));
    expect_failure(entry, |call| against_a_loop(call, &[Some(0)]), Device::CPU, "result 0: element");
}

#[test]
fn a_device_that_differs_is_found() {
    let entry = planted(|x| match current_stream()?.device {
        Device::CPU => Ok(vec![x[0].sin()?]),
        _ => Ok(vec![&x[0].sin()? * 1.00001]),
    });
    expect_failure(entry, against_the_cpu, Device::GPU, "result 0: element");
}

#[test]
fn a_panic_is_told_as_a_failure() {
    let entry = planted(|_| panic!("out of order"));
    expect_failure(entry, finite_difference, Device::CPU, "panic: out of order");
}
