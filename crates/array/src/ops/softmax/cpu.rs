//! Softmax and logsumexp on the CPU: rows by threads, exponentials by vectors.

use half::{bf16, f16};
use rayon::prelude::*;

use crate::cpu::half::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};
use crate::cpu::simd::vectorised;
use crate::dtype::Dtype;
use crate::eval::site::{HostInput, HostSite};
use crate::ops::reduce::axes::{Axes, Axis, Order};
use crate::ops::reduce::cpu::folds::Max;
use crate::ops::reduce::cpu::lanes::side_by_side;
use crate::ops::reduce::cpu::{in_threads, place};

/// Elements worth a thread.
const WORTH: usize = 16 * 1024;
/// Elements of a long row that one thread takes at a time.
const CHUNK: usize = 16 * 1024;
/// Sums side by side.
const LANES: usize = 16;

/// Softmax along the last axis.
pub(super) fn softmax(site: &mut HostSite<'_>) {
    let n = *site.outputs[0].spec.shape.last().expect("softmax is along an axis") as usize;
    let input = &site.inputs[0];
    let bytes = &mut *site.outputs[0].bytes;
    match input.dtype {
        Dtype::F32 => softmax_rows::<f32>(&elements(input), bytemuck::cast_slice_mut(bytes), n),
        Dtype::F16 => softmax_rows::<f16>(&elements(input), bytemuck::cast_slice_mut(bytes), n),
        Dtype::BF16 => softmax_rows::<bf16>(&elements(input), bytemuck::cast_slice_mut(bytes), n),
        Dtype::F64 => softmax_doubles(&elements(input), bytemuck::cast_slice_mut(bytes), n),
        dtype => unreachable!("softmax is computed in floating types, not in {dtype}"),
    }
}

/// Logsumexp along axes.
pub(super) fn logsumexp(site: &mut HostSite<'_>, axes: &[usize]) {
    let input = &site.inputs[0];
    let bytes = &mut *site.outputs[0].bytes;
    match input.dtype {
        Dtype::F32 => reduce_rows::<f32>(input, axes, bytemuck::cast_slice_mut(bytes)),
        Dtype::F16 => reduce_rows::<f16>(input, axes, bytemuck::cast_slice_mut(bytes)),
        Dtype::BF16 => reduce_rows::<bf16>(input, axes, bytemuck::cast_slice_mut(bytes)),
        Dtype::F64 => reduce_doubles(input, axes, bytemuck::cast_slice_mut(bytes)),
        dtype => unreachable!("logsumexp is computed in floating types, not in {dtype}"),
    }
}

/// The elements in order, copied only if they are not so already.
fn elements<'a, T: crate::Element>(input: &'a HostInput<'_>) -> std::borrow::Cow<'a, [T]> {
    match input.contiguous() {
        Some(all) => all.into(),
        None => input.to_vec().into(),
    }
}

/// A type whose exponentials are computed in f32.
trait Single: crate::Element + Send + Sync {
    fn read(from: &[Self], to: &mut [f32]);
    fn write(from: &[f32], to: &mut [Self]);
}

impl Single for f32 {
    fn read(from: &[f32], to: &mut [f32]) {
        to.copy_from_slice(from);
    }
    fn write(from: &[f32], to: &mut [f32]) {
        to.copy_from_slice(from);
    }
}

macro_rules! halves {
    ($($half:ty, $from:path, $to:path;)*) => {$(
        impl Single for $half {
            fn read(from: &[$half], to: &mut [f32]) {
                vectorised(
                    to,
                    from,
                    #[inline(always)]
                    |to, from| to.iter_mut().zip(from).for_each(|(to, x)| *to = $from(x.to_bits())),
                );
            }
            fn write(from: &[f32], to: &mut [$half]) {
                vectorised(
                    to,
                    from,
                    #[inline(always)]
                    |to, from| to.iter_mut().zip(from).for_each(|(to, x)| *to = <$half>::from_bits($to(*x))),
                );
            }
        }
    )*};
}
halves! {
    f16, f16_to_f32, f32_to_f16;
    bf16, bf16_to_f32, f32_to_bf16;
}

fn softmax_rows<T: Single>(x: &[T], y: &mut [T], n: usize) {
    let rows = (WORTH / n).max(1);
    let each = |(x, y): (&[T], &mut [T])| {
        let mut powers = vec![0f32; n];
        for (x, y) in x.chunks(n).zip(y.chunks_mut(n)) {
            T::read(x, &mut powers);
            let (_, sum) = exponentiate(&mut powers);
            let scale = 1.0 / sum;
            vectorised(
                &mut powers[..],
                scale,
                #[inline(always)]
                |powers, scale| powers.iter_mut().for_each(|p| *p *= scale),
            );
            T::write(&powers, y);
        }
    };
    x.par_chunks(rows * n).zip(y.par_chunks_mut(rows * n)).for_each(each);
}

fn reduce_rows<T: Single>(input: &HostInput<'_>, axes: &[usize], results: &mut [T]) {
    let axes = Axes::new(&input.layout, axes, Order::Free);
    let memory: &[T] = input.memory();
    let n = axes.reduced() as usize;
    in_threads(bytemuck::cast_slice_mut(results), size_of::<T>(), 4 * n, 1, &|first, bytes| {
        let results: &mut [T] = bytemuck::cast_slice_mut(bytes);
        let mut powers = vec![0f32; n];
        for (i, result) in results.iter_mut().enumerate() {
            let start = axes.start + place(&axes.kept, first + i);
            read_row(memory, start, &axes.reduced, |i, x| T::read(x, &mut powers[i..i + x.len()]));
            let (most, sum) = exponentiate(&mut powers);
            let lse = if most.is_finite() { most + sum.ln() } else { most };
            T::write(&[lse], std::slice::from_mut(result));
        }
    });
}

/// Gives the runs of a row, each with the number of its first element.
fn read_row<T>(memory: &[T], start: i64, axes: &[Axis], mut take: impl FnMut(usize, &[T])) {
    let side_by_side = axes.last().is_some_and(|axis| axis.stride == 1);
    let run = if side_by_side { axes[axes.len() - 1].size as usize } else { 1 };
    let n = axes.iter().map(|axis| axis.size as usize).product();
    for i in (0..n).step_by(run) {
        let from = (start + place(axes, i)) as usize;
        take(i, &memory[from..from + run]);
    }
}

/// Replaces a row by its exponentials around its greatest element; gives that and their sum.
fn exponentiate(row: &mut [f32]) -> (f32, f32) {
    if row.len() <= CHUNK {
        let most = side_by_side::<Max<f32>>(row);
        return (most, exponentiate_around(row, most));
    }
    let most = match row.len() {
        n if n > 2 * CHUNK => row.par_chunks(CHUNK).map(side_by_side::<Max<f32>>).reduce(|| f32::NEG_INFINITY, greater),
        _ => row.chunks(CHUNK).map(side_by_side::<Max<f32>>).fold(f32::NEG_INFINITY, greater),
    };
    let sums = in_chunks(row, |part| exponentiate_around(part, most));
    // In f64 the sum of the chunks' sums is as exact as they are.
    let sum = sums.into_iter().map(f64::from).sum::<f64>() as f32;
    (most, sum)
}

fn greater(a: f32, b: f32) -> f32 {
    if b > a || b.is_nan() { b } else { a }
}

/// Applies a function to the chunks of a row, by threads if it is long; gives what it gave in order.
fn in_chunks<R: Send>(row: &mut [f32], f: impl Fn(&mut [f32]) -> R + Send + Sync) -> Vec<R> {
    match row.len() {
        n if n > 2 * CHUNK => row.par_chunks_mut(CHUNK).map(f).collect(),
        _ => row.chunks_mut(CHUNK).map(f).collect(),
    }
}

fn exponentiate_around(part: &mut [f32], most: f32) -> f32 {
    vectorised(
        part,
        most,
        #[inline(always)]
        |part, most| {
            let mut sums = [0f32; LANES];
            let (chunks, rest) = part.as_chunks_mut::<LANES>();
            for chunk in chunks {
                for (sum, x) in sums.iter_mut().zip(chunk) {
                    *x = exp_below_one(*x - most);
                    *sum += *x;
                }
            }
            for (sum, x) in sums.iter_mut().zip(rest) {
                *x = exp_below_one(*x - most);
                *sum += *x;
            }
            let mut width = LANES;
            while width > 1 {
                width /= 2;
                for i in 0..width {
                    sums[i] += sums[i + width];
                }
            }
            sums[0]
        },
    )
}

/// `exp x` of `x ≤ 0` to 1 ulp, without branches, so that loops over it become vectors; results below the smallest normal
/// number are zero.
#[inline(always)]
fn exp_below_one(x: f32) -> f32 {
    const SMALLEST: f32 = -87.336_54;
    // Adding and subtracting it rounds to a whole number, which then stands in the low bits.
    const WHOLE: f32 = 12_582_912.0;
    let bounded = if x < SMALLEST { SMALLEST } else { x };
    let shifted = bounded * std::f32::consts::LOG2_E + WHOLE;
    let n = shifted - WHOLE;
    // ln 2 in two parts: n times the first is exact.
    let r = bounded - n * 0.693_359_4 + n * 2.121_944_4e-4;
    // Taylor's series: what it leaves out is below 6e-9 for |r| ≤ ln 2 / 2.
    let p = 1.0 / 5040.0;
    let p = p * r + 1.0 / 720.0;
    let p = p * r + 1.0 / 120.0;
    let p = p * r + 1.0 / 24.0;
    let p = p * r + 1.0 / 6.0;
    let p = p * r + 0.5;
    let power = p * (r * r) + r + 1.0;
    let scale = f32::from_bits(shifted.to_bits().wrapping_add(127) << 23);
    if x < SMALLEST { 0.0 } else { power * scale }
}

fn softmax_doubles(x: &[f64], y: &mut [f64], n: usize) {
    x.par_chunks(n).zip(y.par_chunks_mut(n)).for_each(|(x, y)| {
        let most = side_by_side::<Max<f64>>(x);
        y.iter_mut().zip(x).for_each(|(y, x)| *y = (x - most).exp());
        let sum: f64 = y.iter().sum();
        y.iter_mut().for_each(|y| *y /= sum);
    });
}

fn reduce_doubles(input: &HostInput<'_>, axes: &[usize], results: &mut [f64]) {
    let axes = Axes::new(&input.layout, axes, Order::Free);
    let memory: &[f64] = input.memory();
    for (i, result) in results.iter_mut().enumerate() {
        let mut row = Vec::with_capacity(axes.reduced() as usize);
        read_row(memory, axes.start + place(&axes.kept, i), &axes.reduced, |_, x| row.extend_from_slice(x));
        let most = side_by_side::<Max<f64>>(&row);
        let sum: f64 = row.iter().map(|x| (x - most).exp()).sum();
        *result = if most.is_finite() { most + sum.ln() } else { most };
    }
}
