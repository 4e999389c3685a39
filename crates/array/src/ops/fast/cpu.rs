//! Norms on the CPU: a block of rows at a time, which stays in the cache from its first sum to its last product. Every number is
//! rounded where the meaning rounds it, and sums have the reductions' order, so that both give the same bits.

use std::sync::LazyLock;

use half::{bf16, f16};
use pumice_kernel::{Elem, Kernel};

use crate::cpu::block::{BlockProgram, Input, Output};
use crate::cpu::half::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};
use crate::cpu::simd::vectorised;
use crate::device::DeviceKind;
use crate::dtype::Dtype;
use crate::error::Result;
use crate::eval::site::{HostInput, HostSite};
use crate::op::{Host, Lowering, Place};
use crate::ops::reduce::cpu::folds::{PreciseSum, SumOfSquares};
use crate::ops::reduce::cpu::{WORTH, in_threads, of_rows_without_gaps};
use crate::ops::reduce::leading_axes;
use crate::shape::Spec;

/// Elements that are worked on together: with their results what the second-level cache holds. Twice as many are no faster, half as
/// many a tenth slower.
const BLOCK: usize = 32 << 10;
/// Elements of a row that are worked on at once.
const LANES: usize = 8;

/// What a norm does besides scaling rows.
#[derive(Clone, Copy)]
pub(super) struct Norm {
    pub eps: f32,
    /// Whether rows are moved to mean zero first.
    pub centred: bool,
    /// Which inputs are the weight and the bias.
    pub weight: Option<usize>,
    pub bias: Option<usize>,
}

/// How a norm with a result of this type is computed there.
pub(super) fn lower<'a>(norm: &'a dyn Host, dtype: Dtype, place: &Place<'_>) -> Lowering<'a> {
    match place.device {
        DeviceKind::Cpu if takes(place.inputs[0], dtype) => Lowering::Host(norm),
        _ => Lowering::Decompose,
    }
}

/// How many axes number the rows.
pub(super) fn row_axes(place: &Place<'_>) -> Option<usize> {
    leading_axes(&[place.inputs[0].ndim() - 1], place.inputs[0])
}

/// Whether rows of this type are computed here, for a result of this type: not where one row is work for several threads.
fn takes(x: &Spec, dtype: Dtype) -> bool {
    let narrow = |dtype| matches!(dtype, Dtype::F32 | Dtype::F16 | Dtype::BF16);
    let row = x.shape.last().map_or(0, |&n| n as usize);
    narrow(x.dtype) && narrow(dtype) && (1..=WORTH).contains(&row)
}

/// Computes a norm of the first input's rows.
pub(super) fn run(norm: Norm, site: &mut HostSite<'_>) -> Result<()> {
    match site.outputs[0].spec.dtype {
        Dtype::F32 => rows::<f32>(norm, site),
        Dtype::F16 => rows::<f16>(norm, site),
        Dtype::BF16 => rows::<bf16>(norm, site),
        dtype => unreachable!("norms of {dtype} are computed by their meaning"),
    }
    Ok(())
}

/// `(sum · 1/n + eps)^-½`, as maps compute it.
static SCALE: LazyLock<BlockProgram> = LazyLock::new(|| {
    let kernel = Kernel::build("scale_of_row", [1, 1, 1], |k| {
        let [sum, share, eps] = ["sum", "share", "eps"].map(|name| k.input(name, Elem::F32).load(0));
        k.output("scale", Elem::F32).store(0, (sum * share + eps).rsqrt());
    });
    BlockProgram::new(&kernel.expect("it is well formed")).expect("it is a map")
});

/// A type of elements that are computed in f32.
trait Rounded: crate::Element + Send + Sync {
    /// Rounds to it.
    fn of(value: f32) -> Self;
    /// The same number.
    fn value(self) -> f32;
}

impl Rounded for f32 {
    #[inline(always)]
    fn of(value: f32) -> f32 {
        value
    }
    #[inline(always)]
    fn value(self) -> f32 {
        self
    }
}

impl Rounded for f16 {
    #[inline(always)]
    fn of(value: f32) -> f16 {
        f16::from_bits(f32_to_f16(value))
    }
    #[inline(always)]
    fn value(self) -> f32 {
        f16_to_f32(self.to_bits())
    }
}

impl Rounded for bf16 {
    #[inline(always)]
    fn of(value: f32) -> bf16 {
        bf16::from_bits(f32_to_bf16(value))
    }
    #[inline(always)]
    fn value(self) -> f32 {
        bf16_to_f32(self.to_bits())
    }
}

fn rows<T: Rounded>(norm: Norm, site: &mut HostSite<'_>) {
    match site.inputs[0].dtype {
        Dtype::F32 => rows_of::<f32, T>(norm, site),
        Dtype::F16 => rows_of::<f16, T>(norm, site),
        Dtype::BF16 => rows_of::<bf16, T>(norm, site),
        dtype => unreachable!("norms of {dtype} are computed by their meaning"),
    }
}

fn rows_of<X: Rounded, T: Rounded>(norm: Norm, site: &mut HostSite<'_>) {
    let n = *site.outputs[0].spec.shape.last().expect("norms are along an axis") as usize;
    let inputs = &site.inputs;
    let copied: Vec<X>;
    let x: &[X] = match inputs[0].contiguous() {
        Some(x) => x,
        None => {
            copied = inputs[0].to_vec();
            &copied
        }
    };
    let values = |input: &HostInput<'_>| input.to_vec::<T>().into_iter().map(T::value).collect::<Vec<f32>>();
    let [weight, bias] = [norm.weight, norm.bias].map(|input| input.map(|input| values(&inputs[input])));
    let part = Part { norm, n, weight: weight.as_deref(), bias: bias.as_deref() };
    in_threads(site.outputs[0].bytes, n * size_of::<T>(), 2 * n, 1, &|first, bytes| {
        let out: &mut [T] = bytemuck::cast_slice_mut(bytes);
        let mut room = Room::default();
        let block = (BLOCK / n).max(1) * n;
        for (x, out) in x[first * n..].chunks(block).zip(out.chunks_mut(block)) {
            part.block(&x[..out.len()], out, &mut room);
        }
    });
}

/// What a thread works in.
#[derive(Default)]
struct Room {
    elements: Vec<f32>,
    sums: Vec<f32>,
    scales: Vec<f32>,
}

struct Part<'a> {
    norm: Norm,
    /// Elements of a row.
    n: usize,
    weight: Option<&'a [f32]>,
    bias: Option<&'a [f32]>,
}

impl Part<'_> {
    fn block<X: Rounded, T: Rounded>(&self, x: &[X], out: &mut [T], room: &mut Room) {
        let Room { elements, sums, scales } = room;
        // What is f32 already and stays as it is needs no copy.
        let plain = (X::DTYPE == Dtype::F32 && !self.norm.centred).then(|| bytemuck::cast_slice::<X, f32>(x));
        if plain.is_none() {
            elements.resize(x.len(), 0.0);
            widen(x, elements);
        }
        sums.resize(x.len() / self.n, 0.0);
        scales.resize(x.len() / self.n, 0.0);
        let share = (1.0 / self.n as f64) as f32;
        if self.norm.centred {
            of_rows_without_gaps::<PreciseSum<f32>>(elements, self.n, sums);
            sums.iter_mut().for_each(|sum| *sum *= share);
            centre(elements, sums, self.n);
        }
        let elements = plain.unwrap_or(elements);
        of_rows_without_gaps::<SumOfSquares>(elements, self.n, sums);
        let [share, eps] = [share, self.norm.eps].map(f32::to_le_bytes);
        let inputs = [Input::Contiguous(bytemuck::cast_slice(sums)), Input::Scalar(&share), Input::Scalar(&eps)];
        let mut outputs = [Output::Contiguous(bytemuck::cast_slice_mut(scales))];
        SCALE.run_here(sums.len(), &inputs, &mut outputs).expect("the operands are the program's");
        match (self.weight, self.bias) {
            (None, None) => finish::<T, false, false>(elements, scales, [&[], &[]], out, self.n),
            (Some(weight), None) => finish::<T, true, false>(elements, scales, [weight, &[]], out, self.n),
            (None, Some(bias)) => finish::<T, false, true>(elements, scales, [&[], bias], out, self.n),
            (Some(weight), Some(bias)) => finish::<T, true, true>(elements, scales, [weight, bias], out, self.n),
        }
    }
}

/// The elements in f32.
fn widen<X: Rounded>(x: &[X], elements: &mut [f32]) {
    vectorised(
        elements,
        x,
        #[inline(always)]
        |elements, x| {
            for (element, x) in elements.iter_mut().zip(x) {
                *element = x.value();
            }
        },
    );
}

/// Takes its mean from every row.
fn centre(elements: &mut [f32], means: &[f32], n: usize) {
    vectorised(
        elements,
        means,
        #[inline(always)]
        |elements, means| {
            for (row, mean) in elements.chunks_exact_mut(n).zip(means) {
                let (chunks, rest) = row.as_chunks_mut::<LANES>();
                chunks.iter_mut().for_each(|chunk| *chunk = chunk.map(|x| x - mean));
                rest.iter_mut().for_each(|x| *x -= mean);
            }
        },
    );
}

/// Scales rows, applies weight and bias where they are there, and rounds after each.
fn finish<T: Rounded, const W: bool, const B: bool>(
    elements: &[f32],
    scales: &[f32],
    [weight, bias]: [&[f32]; 2],
    out: &mut [T],
    n: usize,
) {
    vectorised(
        out,
        (elements, scales, weight, bias),
        #[inline(always)]
        |out, (elements, scales, weight, bias)| {
            let one = |x: f32, scale: f32, weight: f32, bias: f32| {
                let scaled = x * scale;
                let weighed = if W { T::of(scaled).value() * weight } else { scaled };
                T::of(if B { T::of(weighed).value() + bias } else { weighed })
            };
            for ((row, out), &scale) in elements.chunks_exact(n).zip(out.chunks_exact_mut(n)).zip(scales) {
                // Where there is none, something as long stands for it.
                let (weight, bias) = (if W { &weight[..n] } else { row }, if B { &bias[..n] } else { row });
                let ((row, rest), (weight, weights)) = (row.as_chunks::<LANES>(), weight.as_chunks::<LANES>());
                let ((bias, biases), (out, last)) = (bias.as_chunks::<LANES>(), out.as_chunks_mut::<LANES>());
                for (((out, row), weight), bias) in out.iter_mut().zip(row).zip(weight).zip(bias) {
                    for i in 0..LANES {
                        out[i] = one(row[i], scale, weight[i], bias[i]);
                    }
                }
                for (((out, &x), &weight), &bias) in last.iter_mut().zip(rest).zip(weights).zip(biases) {
                    *out = one(x, scale, weight, bias);
                }
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::Array;
    use crate::device::{Device, default_stream, with_stream};
    use crate::eval::set_disabled;
    use crate::ops::astype::astype;
    use crate::ops::binary::multiply;
    use crate::ops::create::arange;
    use crate::ops::fast::{layer_norm, rms_norm};
    use crate::ops::unary::sin;
    use crate::ops::views::reshape;

    #[test]
    fn norms_have_the_bits_of_their_meaning() {
        let cpu = default_stream(Device::CPU).expect("the CPU is there");
        let numbers = |count: i32, step: f32, dtype: Dtype| {
            astype(&sin(&multiply(arange(0.0, count as f64, 1.0, None)?, step)?)?, dtype)
        };
        let norms = |rows: i32, n: i32, [x, w]: [Dtype; 2]| -> Result<Vec<Vec<u8>>> {
            let x = reshape(&numbers(rows * n, 0.7, x)?, &[rows, n])?;
            let (weight, bias) = (numbers(n, 0.3, w)?, numbers(n, 0.2, w)?);
            let all: [Array; 5] = [
                rms_norm(&x, None, 1e-5)?,
                rms_norm(&x, Some(&weight), 1e-5)?,
                layer_norm(&x, None, None, 1e-5)?,
                layer_norm(&x, Some(&weight), Some(&bias), 1e-5)?,
                layer_norm(&x, None, Some(&bias), 1e-5)?,
            ];
            all.iter().map(Array::to_bytes).collect()
        };
        let halves = [[Dtype::F16; 2], [Dtype::BF16; 2], [Dtype::BF16, Dtype::F32]];
        for types in [[Dtype::F32; 2]].into_iter().chain(halves) {
            for (rows, n) in [(3, 1), (2000, 16), (7, 31), (9, 100), (5, 1024), (3, 5000)] {
                with_stream(cpu, || {
                    let found = norms(rows, n, types).expect("norms");
                    ["rms_norm", "layer_norm"].iter().for_each(|name| set_disabled(name, true));
                    let wanted = norms(rows, n, types);
                    ["rms_norm", "layer_norm"].iter().for_each(|name| set_disabled(name, false));
                    assert!(found == wanted.expect("norms"), "{rows} rows of {n}, {types:?}");
                });
            }
        }
    }
}
