//! Values: on all devices, by the op's own way and by its meaning, in floats of any width.

use pumice::eval::set_disabled;
use pumice::{Array, Device, Dtype, Result, default_stream, with_stream};

use crate::data::{Data, difference, largest_float, near};
use crate::types::{every_type, every_type_at_first, other_floats};
use crate::{Call, check};

/// The first output that differs from what is wanted.
pub fn first_difference(found: &[Array], wanted: &[Array], slack: f64, inputs: &[Data]) -> Result<Option<String>> {
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
    check(every_type_at_first, &[Device::GPU], against_the_cpu);
}

/// How results differ from the CPU's.
pub fn against_the_cpu(call: &Call) -> Result<Option<String>> {
    let inputs = call.inputs(0);
    let found = call.make(&arrays(&inputs))?;
    let cpu = default_stream(Device::CPU)?;
    let wanted = with_stream(cpu, || call.make(&arrays(&inputs)))?;
    first_difference(&found, &wanted, 1.0, &inputs)
}

#[test]
fn floats_of_any_width_agree() {
    check(other_floats, &[Device::CPU], against_float32);
}

/// How results differ from those of the same numbers as float32. Results of other types are decisions, which a rounding can turn.
pub fn against_float32(call: &Call) -> Result<Option<String>> {
    let inputs = call.inputs(0);
    let narrowest = if call.dtype == Dtype::F64 { Dtype::F32 } else { call.dtype };
    let as_type = |dtype: Dtype| -> Vec<Array> {
        let converted = |data: &Data| if data.dtype == call.dtype { data.with_dtype(dtype) } else { data.clone() };
        inputs.iter().map(|data| converted(data).array()).collect()
    };
    let (found, wanted) = (call.make(&as_type(call.dtype))?, call.make(&as_type(Dtype::F32))?);
    let terms = largest_float(&inputs);
    for (j, (found, wanted)) in found.iter().zip(&wanted).enumerate() {
        let (found, wanted) = (Data::read(found)?, Data::read(wanted)?);
        if !wanted.dtype.is_floating() || found.dtype == wanted.dtype {
            continue;
        }
        if let Some(why) = near(&found, &wanted, narrowest, 4.0, terms) {
            return Ok(Some(format!("result {j}: {why}")));
        }
    }
    Ok(None)
}

#[test]
fn the_meaning_gives_what_the_op_gives() {
    check(every_type, &[Device::CPU, Device::GPU], |call| {
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
