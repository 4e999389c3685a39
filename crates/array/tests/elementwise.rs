//! Every element-wise op of every type against the MLX wheel, whose results stand in `oracle/elementwise.txt` (written by the script
//! beside it), on every device: types of results and kinds of errors, exact integers and truths, floats within 2 ulp.

mod oracle;
mod rig;

use oracle::{Line, compare, lines};
use pumice::ops::binary::{Close, TABLE as BINARY, isclose};
use pumice::ops::unary::{NanToNum, TABLE as UNARY, degrees, nan_to_num, radians};
use pumice::transforms::vjp;
use pumice::{Array, Device, Dtype, Error, Result, default_stream, with_stream};

fn call(op: &str, x: &[Array]) -> Result<Array> {
    if let Some(row) = UNARY.iter().find(|row| row.name == op) {
        return row.call(&x[0]);
    }
    if let Some(row) = BINARY.iter().find(|row| row.name == op) {
        return row.call(&x[0], &x[1]);
    }
    match op {
        "degrees" => degrees(&x[0]),
        "radians" => radians(&x[0]),
        "nan_to_num" => nan_to_num(&x[0], NanToNum::default()),
        "isclose" => isclose(&x[0], &x[1], Close::default()),
        _ => panic!("no op is called {op}"),
    }
}

fn arity(op: &str) -> usize {
    if BINARY.iter().any(|row| row.name == op) || op == "isclose" { 2 } else { 1 }
}

fn python_name(error: &Error) -> &'static str {
    match error {
        Error::Value(_) => "ValueError",
        Error::Type(_) => "TypeError",
        Error::Index(_) => "IndexError",
        _ => "RuntimeError",
    }
}

/// Types the device has.
fn has(device: Device, dtype: Dtype) -> bool {
    device == Device::CPU || dtype != Dtype::F64
}

/// What differs from the wheel, a line each.
fn differences(device: Device) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut inputs: Vec<(String, Array)> = Vec::new();
    for line in lines() {
        match line {
            Line::Input { name, array } => inputs.push((name, array)),
            Line::Result { op, dtype, expected: Ok(expected) } if op == "astype" => {
                if has(device, dtype) && has(device, expected.dtype()) {
                    let given = find(&inputs, &["c"], dtype);
                    let found = given[0].astype(expected.dtype()).expect("every type becomes every other");
                    let difference = compare(&op, &given, &found, &expected).err();
                    wrong.extend(difference.map(|what| format!("{dtype} as {}: {what}", expected.dtype())));
                }
            }
            Line::Result { op, dtype, expected } if has(device, dtype) => {
                let names = if arity(&op) == 1 { &["x"][..] } else { &["a", "b"] };
                let given = find(&inputs, names, dtype);
                let found = call(&op, &given).and_then(|y| y.eval().map(|()| y));
                let difference = match (&found, &expected) {
                    (Ok(found), Ok(expected)) => compare(&op, &given, found, expected).err(),
                    (Err(error), Err(name)) if python_name(error) == name => None,
                    _ => Some(format!("{found:?} is not {expected:?}")),
                };
                wrong.extend(difference.map(|what| format!("{op} of {dtype}: {what}")));
            }
            Line::Vjp { op, dtype, expected } => {
                let given = find(&inputs, if arity(&op) == 1 { &["vjp_x"][..] } else { &["vjp_a", "vjp_b"] }, dtype);
                let g = &find(&inputs, &["vjp_g"], dtype)[0];
                for (i, what) in vjp_differences(&op, &given, g, &expected) {
                    wrong.push(format!("vjp of {op} of {dtype} by operand {i}: {what}"));
                }
            }
            Line::Result { .. } => {}
        }
    }
    wrong
}

fn find(inputs: &[(String, Array)], names: &[&str], dtype: Dtype) -> Vec<Array> {
    let find = |name: &&str| inputs.iter().find(|(n, a)| n == name && a.dtype() == dtype).expect("inputs come first");
    names.iter().map(|name| find(name).1.clone()).collect()
}

fn vjp_differences(op: &str, given: &[Array], g: &Array, expected: &[Array]) -> Vec<(usize, String)> {
    let y = call(op, given).expect("it was called before");
    let g = pumice::ops::astype::astype(g, y.dtype()).expect("it converts");
    let gradients = vjp(|x| Ok(vec![call(op, x)?]), given, &[g]).map(|(_, gradients)| gradients);
    match gradients {
        Err(error) => vec![(0, error.to_string())],
        Ok(found) => {
            let pairs = found.iter().zip(expected).enumerate();
            pairs.filter_map(|(i, (f, e))| compare("vjp", given, f, e).err().map(|what| (i, what))).collect()
        }
    }
}

fn agrees_with_the_wheel(device: Device) {
    if !rig::devices().contains(&device) {
        return;
    }
    let stream = default_stream(device).expect("the device is available");
    let wrong = with_stream(stream, || differences(device));
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_cpu_agrees_with_the_wheel() {
    agrees_with_the_wheel(Device::CPU);
}

#[test]
fn the_gpu_agrees_with_the_wheel() {
    agrees_with_the_wheel(Device::GPU);
}
