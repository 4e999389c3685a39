//! The ops of `fast` against the MLX wheel, whose results and derivatives stand in `oracle/fast.txt` (written by the script beside
//! it), on every device.

mod rig;

use pumice::ops::astype::astype;
use pumice::ops::binary::greater;
use pumice::ops::fast::{Mask, Rope, layer_norm, rms_norm, rope, scaled_dot_product_attention};
use pumice::transforms::vjp;
use pumice::{Array, Device, Dtype, Result, default_stream, with_stream};

/// Input number `number` of the script.
fn given(number: usize, shape: &[i32], dtype: Dtype) -> Array {
    let size: i32 = shape.iter().product();
    let element = |i| ((7 * i + 3 + 5 * number) % 17) as f32 / 8.0 - 1.0;
    let values: Vec<f32> = (0..size as usize).map(element).collect();
    astype(&Array::from_slice(&values, shape).expect("a shape"), dtype).expect("it converts")
}

/// The shapes of a case's floating inputs.
fn shapes(name: &str) -> Vec<&'static [i32]> {
    let attention: [&[i32]; 3] = [&[2, 4, 3, 8], &[2, 2, 5, 8], &[2, 2, 5, 6]];
    match name {
        "rms_norm" => vec![&[3, 40], &[40]],
        "layer_norm" => vec![&[3, 40], &[40], &[40]],
        "rms_norm_plain" | "layer_norm_plain" => vec![&[2, 3, 9]],
        "layer_norm_weight" | "layer_norm_bias" => vec![&[3, 9], &[9]],
        "rope_freqs" => vec![&[2, 4, 10]],
        "attention_added" => [&attention[..], &[&[2, 1, 3, 5]]].concat(),
        "attention_sinks" => [&attention[..], &[&[4]]].concat(),
        _ if name.starts_with("rope") => vec![&[2, 3, 4, 8]],
        _ => attention.to_vec(),
    }
}

fn call(name: &str, x: &[Array]) -> Result<Array> {
    let turn = Rope { dims: 8, traditional: false, base: Some(100.0), scale: 0.5, freqs: None };
    let attention = |mask, sinks| scaled_dot_product_attention(&x[0], &x[1], &x[2], 0.4, mask, sinks);
    match name {
        "rms_norm" | "rms_norm_plain" => rms_norm(&x[0], x.get(1), 1e-3),
        "layer_norm_bias" => layer_norm(&x[0], None, x.get(1), 1e-3),
        _ if name.starts_with("layer_norm") => layer_norm(&x[0], x.get(1), x.get(2), 1e-3),
        "rope" => rope(&x[0], 3, turn),
        "rope_traditional" => rope(&x[0], 3, Rope { traditional: true, dims: 6, ..turn }),
        "rope_offsets" => rope(&x[0], &Array::from_slice(&[3, 5], &[2])?, turn),
        "rope_freqs" => {
            let freqs = Array::from_slice(&[1f32, 2.0, 3.0, 4.0], &[4])?;
            rope(&x[0], 3, Rope { base: None, freqs: Some(&freqs), ..turn })
        }
        "attention" => attention(Mask::None, None),
        "attention_causal" => attention(Mask::Causal, None),
        "attention_bools" => attention(Mask::Array(&greater(given(3, &[4, 3, 5], Dtype::F32), -0.5)?), None),
        "attention_added" => attention(Mask::Array(&x[3]), None),
        "attention_sinks" => attention(Mask::Causal, x.get(3)),
        _ => panic!("no case is called {name}"),
    }
}

fn numbers(x: &Array) -> Vec<f64> {
    let doubles = with_stream(default_stream(Device::CPU).expect("the CPU is there"), || astype(x, Dtype::F64));
    doubles.expect("it converts").to_vec::<f64>().expect("it evaluates")
}

/// What the wheel gave: `SHAPE HEX`.
fn expected(text: &str, dtype: Dtype) -> Array {
    let (shape, hex) = text.trim().split_once(' ').expect("a shape and bytes");
    let shape: Vec<i32> = shape.split('x').map(|n| n.parse().expect("a number")).collect();
    let bytes: Vec<u8> = (0..hex.len() / 2).map(|i| u8::from_str_radix(&hex[2 * i..][..2], 16).expect("hex")).collect();
    Array::from_bytes(&bytes, &shape, dtype).expect("whole elements")
}

/// Within so much of the largest element. The wheel's exponential, sine and cosine are off by 5e-7, and halves by a rounding that went
/// the other way on the way.
fn difference(found: &Array, expected: &Array) -> Option<String> {
    if (found.dtype(), found.shape()) != (expected.dtype(), expected.shape()) {
        return Some(format!("{found:?} instead of {expected:?}"));
    }
    let tolerance = match found.dtype() {
        Dtype::F16 => 2f64.powi(-10),
        Dtype::BF16 => 2f64.powi(-7),
        _ => 1e-6,
    };
    let (found, expected) = (numbers(found), numbers(expected));
    let largest = expected.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
    let off = found.iter().zip(&expected).fold(0.0, |a: f64, (f, e)| a.max((f - e).abs()));
    (off.is_nan() || off > tolerance * largest).then(|| format!("off by {off:e}, the largest being {largest}"))
}

fn check(line: &str) -> Vec<String> {
    let [name, dtype, rest] = line.splitn(3, ' ').collect::<Vec<_>>()[..] else { panic!("not a line: {line}") };
    let dtype = Dtype::ALL.into_iter().find(|known| known.name() == dtype).expect("a type");
    let expected: Vec<Array> = rest.split('|').map(|text| expected(text, dtype)).collect();
    let inputs: Vec<Array> = shapes(name).iter().enumerate().map(|(i, shape)| given(i, shape, dtype)).collect();
    let mut found = vec![call(name, &inputs).expect("the wheel accepts it")];
    if expected.len() > 1 {
        let g = given(9, found[0].shape(), dtype);
        let (_, gradients) = vjp(|x| Ok(vec![call(name, x)?]), &inputs, &[g]).expect("it has a derivative");
        found.extend(gradients);
    }
    assert_eq!(found.len(), expected.len(), "{name}");
    let differences = found.iter().zip(&expected).enumerate().filter_map(|(i, (f, e))| Some((i, difference(f, e)?)));
    differences.map(|(i, why)| format!("{name} {dtype}, {i}: {why}")).collect()
}

#[test]
fn results_and_derivatives_are_those_of_the_wheel() {
    let mut wrong = Vec::new();
    for device in rig::devices() {
        let stream = default_stream(device).expect("the device is there");
        let lines = include_str!("oracle/fast.txt").lines();
        for line in lines.filter(|line| device == Device::CPU || !line.contains("float64")) {
            wrong.extend(with_stream(stream, || check(line)).into_iter().map(|why| format!("{device}: {why}")));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}
