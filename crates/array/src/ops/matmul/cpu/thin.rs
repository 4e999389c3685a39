//! Products with few rows: the matrix is read once, and nothing is packed.

use ndarray::{ArrayViewMut2, Axis, Zip};
use rayon::prelude::*;

use super::number::{Number, Stored};
use super::stack::Matrix;
use crate::cpu::simd::vectorised;

/// The most rows.
pub(super) const FEW: usize = 4;
/// Elements widened at a time: a part of the first cache.
const BLOCK: usize = 1024;
/// Sums side by side in a dot product.
const LANES: usize = 32;

/// `c = x · w`, where `x` has few rows.
pub(super) fn product<S: Stored>(x: &Matrix<'_, S>, w: &Matrix<'_, S>, mut c: ArrayViewMut2<'_, S::Sum>) {
    let rows = wide_rows(x);
    let few = rows.len();
    // Strips of rows long enough to be read ahead; of columns, as many as are worth a task.
    let per_task = match w.by_rows {
        true => (w.columns / (2 * rayon::current_num_threads())).next_multiple_of(64).clamp(256, 4096),
        false => (BLOCK * LANES / w.rows.max(1)).clamp(1, BLOCK),
    };
    // The result transposed, so that a task's columns are one piece of memory.
    let mut sums = vec![S::Sum::ZERO; few * w.columns];
    sums.par_chunks_mut(few * per_task).enumerate().for_each(|(task, sums)| {
        let first = task * per_task;
        match w.by_rows {
            true => add_rows(&rows, w, first, sums),
            false => dot_columns(&rows, w, first, sums),
        }
    });
    let by_column = ndarray::ArrayView2::from_shape((w.columns, few), &sums).expect("few sums a column");
    for (mut row, sums) in c.axis_iter_mut(Axis(0)).zip(by_column.axis_iter(Axis(1))) {
        Zip::from(&mut row).and(sums).for_each(|to, &sum| *to = sum);
    }
}

/// The rows of X, each together.
fn wide_rows<S: Stored>(x: &Matrix<'_, S>) -> Vec<Vec<S::Sum>> {
    let wide = x.widened();
    wide.view().axis_iter(Axis(0)).map(|row| row.to_vec()).collect()
}

/// Columns that lie together: a dot product each.
fn dot_columns<S: Stored>(rows: &[Vec<S::Sum>], w: &Matrix<'_, S>, first: usize, sums: &mut [S::Sum]) {
    let mut wide = vec![S::Sum::ZERO; BLOCK];
    for (column, sums) in sums.chunks_mut(rows.len()).enumerate() {
        for (b, block) in w.run(first + column).chunks(BLOCK).enumerate() {
            let block = widened(block, &mut wide);
            for (row, sum) in rows.iter().zip(sums.iter_mut()) {
                *sum = *sum + dot::<S>(&row[b * BLOCK..][..block.len()], block);
            }
        }
    }
}

/// The elements as what they are summed in, without a copy if that is the same.
fn widened<'a, S: Stored>(elements: &'a [S], wide: &'a mut [S::Sum]) -> &'a [S::Sum] {
    if S::SAME {
        return bytemuck::cast_slice(elements);
    }
    S::widen(elements, &mut wide[..elements.len()]);
    &wide[..elements.len()]
}

fn dot<S: Stored>(x: &[S::Sum], w: &[S::Sum]) -> S::Sum {
    vectorised(
        (),
        (x, w),
        #[inline(always)]
        |(), (x, w)| {
            let mut lanes = [S::Sum::ZERO; LANES];
            let ((xs, x_rest), (ws, w_rest)) = (x.as_chunks::<LANES>(), w.as_chunks::<LANES>());
            for (x, w) in xs.iter().zip(ws) {
                for i in 0..LANES {
                    lanes[i] = lanes[i] + x[i] * w[i];
                }
            }
            let rest = x_rest.iter().zip(w_rest).fold(S::Sum::ZERO, |sum, (&x, &w)| sum + x * w);
            lanes.into_iter().fold(rest, |sum, lane| sum + lane)
        },
    )
}

/// Rows that lie together: each is added to the sums of its columns, as often as X says.
fn add_rows<S: Stored>(rows: &[Vec<S::Sum>], w: &Matrix<'_, S>, first: usize, sums: &mut [S::Sum]) {
    let (few, columns) = (rows.len(), sums.len() / rows.len());
    let mut by_row = vec![S::Sum::ZERO; sums.len()];
    let mut wide = vec![S::Sum::ZERO; columns];
    for k in 0..w.rows {
        let run = widened(&w.run(k)[first..first + columns], &mut wide);
        for (row, sums) in rows.iter().zip(by_row.chunks_mut(columns)) {
            vectorised(
                sums,
                (run, row[k]),
                #[inline(always)]
                |sums, (run, x)| sums.iter_mut().zip(run).for_each(|(sum, &w)| *sum = *sum + x * w),
            );
        }
    }
    for (i, row) in by_row.chunks(columns).enumerate() {
        row.iter().enumerate().for_each(|(column, &sum)| sums[column * few + i] = sum);
    }
}
