//! Products against double precision, and against the MLX wheel, on both devices.

mod reference;
mod rules;
mod wheel;

use crate::array::{Array, Data};
use crate::dtype::{Complex64, Dtype};
use crate::ops::astype::astype;
use crate::shape::{Layout, Shape, Spec, Strides};
use crate::storage::{Source, Storage};
use crate::{Device, default_stream, with_stream};

/// Runs the test on every device there is; float64 is the CPU's alone.
fn on_each_device(dtype: Dtype, test: impl Fn(Device)) {
    for device in crate::device::test_devices() {
        if dtype != Dtype::F64 || device == Device::CPU {
            with_stream(default_stream(device).expect("the device is there"), || test(device));
        }
    }
}

/// An array of these numbers, converted on the CPU.
fn array(values: &[f64], shape: &[i32], dtype: Dtype) -> Array {
    let x = Array::from_slice(values, shape).expect("they are as many as the shape has");
    let cpu = default_stream(Device::CPU).expect("there is always a CPU");
    with_stream(cpu, || {
        let x = astype(&x, dtype).expect("any type");
        x.eval().expect("it evaluates");
        x
    })
}

/// The numbers that these bytes are; of complex ones real and imaginary parts in turn.
fn numbers(bytes: &[u8], dtype: Dtype) -> Vec<f64> {
    let floats = |bytes: &[u8]| bytemuck::pod_collect_to_vec::<u8, f32>(bytes).into_iter().map(f64::from).collect();
    let halves = |bytes: &[u8]| bytemuck::pod_collect_to_vec::<u8, u16>(bytes);
    match dtype {
        Dtype::F32 | Dtype::C64 => floats(bytes),
        Dtype::F64 => bytemuck::pod_collect_to_vec(bytes),
        Dtype::F16 => halves(bytes).into_iter().map(|b| half::f16::from_bits(b).to_f64()).collect(),
        Dtype::BF16 => halves(bytes).into_iter().map(|b| half::bf16::from_bits(b).to_f64()).collect(),
        Dtype::I32 => bytemuck::pod_collect_to_vec::<u8, i32>(bytes).into_iter().map(f64::from).collect(),
        Dtype::U8 => bytes.iter().map(|&b| b as f64).collect(),
        other => panic!("products are not {other}"),
    }
}

/// The array's numbers.
fn values(x: &Array) -> Vec<f64> {
    numbers(&x.to_bytes().expect("it evaluates"), x.dtype())
}

/// Complex numbers of these parts.
fn complex(parts: &[f64], shape: &[i32]) -> Array {
    let all: Vec<Complex64> = parts.chunks(2).map(|z| Complex64 { re: z[0] as f32, im: z[1] as f32 }).collect();
    Array::from_slice(&all, shape).expect("they are as many as the shape has")
}

/// The same elements in the same places, lying in memory by other strides (in any order, any sign), with gaps untouched.
fn lying(x: &Array, strides: &[i64]) -> Array {
    let shape = x.shape();
    let spans = shape.iter().zip(strides).map(|(&n, &stride)| (n.max(1) as i64 - 1) * stride);
    let offset: i64 = spans.clone().filter(|&span| span < 0).map(i64::abs).sum();
    let length = spans.map(i64::abs).sum::<i64>() + 1;
    let layout = Layout { shape: Shape::from_slice(shape), strides: Strides::from_slice(strides), offset };
    let size = x.dtype().size();
    let mut memory = vec![0u8; length as usize * size];
    let bytes = x.to_bytes().expect("it evaluates");
    for (element, at) in bytes.chunks(size).zip(crate::eval::site::offsets(&layout)) {
        memory[at * size..][..size].copy_from_slice(element);
    }
    let source = Source::Memory(std::sync::Arc::new(Storage::from_bytes(&memory).expect("there is room")));
    Array::evaluated(Spec::new(Shape::from_slice(shape), x.dtype()), Data { source, layout })
}
