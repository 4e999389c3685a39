//! Products on the CPU: packed panels by `matrixmultiply` (through `ndarray`), few rows or columns by plain loops, on all cores.
//!
//! f16 and bf16 are widened to f32, a panel of columns at a time, summed there, and rounded once at the end.

mod number;
mod stack;
mod thin;

use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayView2, ArrayViewMut2, Axis};
use rayon::prelude::*;

use super::addmm::AddMm;
use crate::dtype::Dtype;
use crate::error::Result;
use crate::eval::site::{HostInput, HostSite};
use number::{Complex32, Number, Stored};
use stack::{Matrix, Stack};

/// Which inputs are what: the factors, and what is added with which scales.
#[derive(Clone, Copy)]
pub(super) struct Inputs {
    pub a: usize,
    pub b: usize,
    pub c: Option<(usize, AddMm)>,
}

/// Computes the product.
pub(super) fn run(site: &mut HostSite<'_>, inputs: Inputs) -> Result<()> {
    match site.outputs[0].spec.dtype {
        Dtype::F32 => run_as::<f32>(site, inputs),
        Dtype::F64 => run_as::<f64>(site, inputs),
        Dtype::C64 => run_as::<Complex32>(site, inputs),
        Dtype::F16 => run_as::<half::f16>(site, inputs),
        Dtype::BF16 => run_as::<half::bf16>(site, inputs),
        other => unreachable!("infer refuses {other}"),
    }
    Ok(())
}

/// Elements that are rounded at a time.
const BLOCK: usize = 16 << 10;
/// Elements of B that are widened at a time.
const PANEL: usize = 4 << 20;
/// Multiplications that are worth a task of their own.
const TASK: usize = 1 << 16;

fn run_as<S: Stored>(site: &mut HostSite<'_>, inputs: Inputs) {
    let [a, b] = [inputs.a, inputs.b].map(|i| Stack::<S>::new(&site.inputs[i]));
    let addend = inputs.c.map(|(i, scales)| (&site.inputs[i], scales));
    let out: &mut [S] = bytemuck::cast_slice_mut(site.outputs[0].bytes);
    if S::SAME {
        return sum_up(&a, &b, addend, bytemuck::cast_slice_mut(out));
    }
    let mut sums: Vec<S::Sum> = bytemuck::allocation::zeroed_vec(out.len());
    sum_up(&a, &b, addend, &mut sums);
    out.par_chunks_mut(BLOCK).zip(sums.par_chunks(BLOCK)).for_each(|(out, sums)| S::round(sums, out));
}

fn sum_up<S: Stored>(a: &Stack<'_, S>, b: &Stack<'_, S>, addend: Option<(&HostInput<'_>, AddMm)>, sums: &mut [S::Sum]) {
    let (rows, columns) = (a.shape()[0], b.shape()[1]);
    if sums.is_empty() {
        return;
    }
    sums.par_chunks_mut(rows * columns).enumerate().for_each(|(number, sums)| {
        let sums = ArrayViewMut2::from_shape((rows, columns), sums).expect("a chunk is a matrix");
        product(&a.matrix(number), &b.matrix(number), sums);
    });
    if let Some((c, scales)) = addend {
        add_scaled::<S>(sums, c, scales);
    }
}

/// `c = a · b`.
fn product<S: Stored>(a: &Matrix<'_, S>, b: &Matrix<'_, S>, mut c: ArrayViewMut2<'_, S::Sum>) {
    if a.rows <= thin::FEW {
        return thin::product(a, b, c);
    }
    if b.columns <= thin::FEW {
        return thin::product(&b.transposed(), &a.transposed(), c.reversed_axes());
    }
    let wide = a.widened();
    let step = if S::SAME { b.columns } else { (PANEL / b.rows).next_multiple_of(64).min(b.columns) };
    for first in (0..b.columns).step_by(step) {
        let (panel, rest) = c.split_at(Axis(1), step.min(b.columns - first));
        let columns = b.panel(first, panel.ncols());
        multiply(wide.view(), columns.widened().view(), panel, 4 * rayon::current_num_threads());
        c = rest;
    }
}

/// `c = a · b`, by at most so many tasks side by side.
fn multiply<T: Number>(a: ArrayView2<'_, T>, b: ArrayView2<'_, T>, mut c: ArrayViewMut2<'_, T>, tasks: usize) {
    let (m, n) = c.dim();
    if tasks <= 1 || m * n * a.ncols() < 2 * TASK {
        return general_mat_mul(T::one(), &a, &b, T::zero(), &mut c);
    }
    // Halves on a border of the packed panels.
    let half = |n: usize| (n / 2).next_multiple_of(16).min(n);
    let axis = Axis(if m >= n { 0 } else { 1 });
    let middle = half(m.max(n));
    let (first, second) = c.split_at(axis, middle);
    let ((a0, a1), (b0, b1)) = match axis {
        Axis(0) => (a.split_at(axis, middle), (b, b)),
        _ => ((a, a), b.split_at(axis, middle)),
    };
    rayon::join(|| multiply(a0, b0, first, tasks / 2), || multiply(a1, b1, second, tasks / 2));
}

/// `alpha · sums + beta · c`; a factor of zero takes its term out, whatever it is.
fn add_scaled<S: Stored>(sums: &mut [S::Sum], c: &HostInput<'_>, AddMm { alpha, beta, .. }: AddMm) {
    let elements: &[S] = bytemuck::cast_slice(c.bytes());
    let zero = S::Sum::ZERO;
    for (sum, at) in sums.iter_mut().zip(c.offsets()) {
        let mut term = [zero];
        if beta != 0.0 {
            S::widen(&elements[at..at + 1], &mut term);
        }
        let product = if alpha == 0.0 { zero } else { sum.scaled(alpha) };
        *sum = product + term[0].scaled(beta);
    }
}
