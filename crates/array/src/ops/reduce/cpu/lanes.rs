//! The loops of reductions: partial results side by side, as vectors hold them.

use super::folds::Fold;
use crate::cpu::simd::vectorised;

/// Partial results side by side: what the widest vectors hold, twice.
pub(crate) const LANES: usize = 32;
/// Elements of a run at most: so few that counts of them by bytes fit a byte.
pub(crate) const RUN: usize = 1024;
/// Elements from which on a run's end costs little beside the rest.
const LONG: usize = 256;
/// Bytes that are counted one by one.
const FEW: usize = 256;

/// The partial result of elements that lie side by side.
pub(crate) fn side_by_side<F: Fold>(elements: &[F::In]) -> F::Part {
    vectorised(
        (),
        elements,
        #[inline(always)]
        |(), elements| in_lanes::<F>(elements),
    )
}

/// That of a run of them, at most [`RUN`], by the fold's own way.
pub(super) fn of_run<F: Fold>(elements: &[F::In]) -> F::Part {
    vectorised(
        (),
        elements,
        #[inline(always)]
        |(), elements| F::of_run(elements),
    )
}

/// Those of rows of at most [`RUN`] elements, `stride` from one to the next.
pub(super) fn of_rows<F: Fold>(elements: &[F::In], length: usize, stride: usize, parts: &mut [F::Part]) {
    vectorised(
        parts,
        elements,
        #[inline(always)]
        |mut parts, mut elements| {
            // Eight rows share the shuffles at their ends, in the order that one alone has. Where elements take arithmetic that is faster
            // (squares of rows of 1,024: 133 instead of 205 µs a million), otherwise slower (rows of 64: 411 instead of 380, four millions).
            while F::LIFTS && !F::IN_TURN && length >= LANES && parts.len() >= 8 {
                let (now, later) = parts.split_at_mut(8);
                let mut eights = [[F::NONE; 8]; 8];
                for i in 0..8 {
                    eights[i] = in_eight::<F>(&elements[i * stride..][..length]);
                }
                now.copy_from_slice(&of_eight_rows::<F>(&eights));
                parts = later;
                elements = elements.get(8 * stride..).unwrap_or_default();
            }
            for (part, row) in parts.iter_mut().zip(elements.chunks(stride)) {
                *part = F::of_run(&row[..length]);
            }
        },
    );
}

/// In lanes, and those in halves until eight are left.
#[inline(always)]
fn in_eight<F: Fold>(elements: &[F::In]) -> [F::Part; 8] {
    let mut lanes = lanes_of::<F>(elements);
    let mut eight = [F::NONE; 8];
    for i in 0..LANES / 2 {
        lanes[i] = F::combine(lanes[i], lanes[i + LANES / 2]);
    }
    for i in 0..8 {
        eight[i] = F::combine(lanes[i], lanes[i + 8]);
    }
    eight
}

/// The results of eight rows of which eight partial ones are left.
#[inline(always)]
fn of_eight_rows<F: Fold>(rows: &[[F::Part; 8]; 8]) -> [F::Part; 8] {
    let mut fours = [[F::NONE; 8]; 4];
    for i in 0..4 {
        let (mut first, mut second) = ([F::NONE; 8], [F::NONE; 8]);
        for j in 0..4 {
            (first[j], first[j + 4]) = (rows[i][j], rows[i + 4][j]);
            (second[j], second[j + 4]) = (rows[i][j + 4], rows[i + 4][j + 4]);
        }
        fours[i] = each::<F>(first, second);
    }
    of_fours::<F>(fours)
}

/// In lanes, then those in halves. In the body of something `vectorised`.
#[inline(always)]
pub(super) fn in_lanes<F: Fold>(elements: &[F::In]) -> F::Part {
    if F::IN_TURN || elements.len() < LANES {
        return elements.iter().fold(F::NONE, |part, &x| F::combine(part, F::lift(x)));
    }
    let lanes = lanes_of::<F>(elements);
    match F::LIFTS && elements.len() >= LONG {
        // Hidden from the compiler, which would fill the lanes by pairs as the halves want them in the end.
        true => in_halves(std::hint::black_box(lanes), F::combine),
        false => in_halves(lanes, F::combine),
    }
}

/// Every so many elements together.
#[inline(always)]
fn lanes_of<F: Fold>(elements: &[F::In]) -> [F::Part; LANES] {
    let mut lanes = [F::NONE; LANES];
    let (chunks, rest) = elements.as_chunks::<LANES>();
    // Loops over numbers: those of iterators the compiler leaves as functions of their own, without the wide vectors.
    for chunk in chunks {
        for i in 0..LANES {
            lanes[i] = F::combine(lanes[i], F::lift(chunk[i]));
        }
    }
    for (i, &x) in rest.iter().enumerate() {
        lanes[i] = F::combine(lanes[i], F::lift(x));
    }
    lanes
}

/// How many of a run of bytes are not zero: eight a word where there are many, because the compiler makes no vectors of bytes of it.
#[inline(always)]
pub(super) fn count_nonzero(bytes: &[u8]) -> i32 {
    if bytes.len() <= FEW {
        return bytes.iter().map(|&byte| (byte != 0) as i32).sum();
    }
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let (chunks, rest) = bytes.as_chunks::<LANES>();
    let mut counts = [0u64; LANES / 8];
    for chunk in chunks {
        for (count, word) in counts.iter_mut().zip(chunk.as_chunks::<8>().0) {
            let word = u64::from_le_bytes(*word);
            // The highest bit of a byte is set by its own, or by a carry from the lower ones.
            *count += ((((word & LOW) + LOW) | word) >> 7) & (LOW / 0x7f);
        }
    }
    let counted = counts.iter().flat_map(|count| count.to_le_bytes()).map(i32::from).sum::<i32>();
    counted + rest.iter().filter(|&&byte| byte != 0).count() as i32
}

/// Combines lanes, the first half with the second and so on.
#[inline(always)]
fn in_halves<T: Copy>(mut lanes: [T; LANES], combine: impl Fn(T, T) -> T) -> T {
    let mut width = LANES;
    while width > 1 {
        width /= 2;
        for i in 0..width {
            lanes[i] = combine(lanes[i], lanes[i + width]);
        }
    }
    lanes[0]
}

/// The partial results of rows of fewer elements than lanes, `stride` from one row to the next.
pub(super) fn short_rows<F: Fold>(elements: &[F::In], length: usize, stride: usize, parts: &mut [F::Part]) {
    let full = |n: usize| length == n && stride == n;
    match length {
        2 if full(2) => rows_of::<F, 2>(elements, parts),
        3 if full(3) => rows_of::<F, 3>(elements, parts),
        4 if full(4) => rows_of::<F, 4>(elements, parts),
        8 if full(8) => rows_of::<F, 8>(elements, parts),
        16 if full(16) => rows_of::<F, 16>(elements, parts),
        _ => {
            for (part, row) in parts.iter_mut().zip(elements.chunks(stride)) {
                *part = row[..length].iter().fold(F::NONE, |part, &x| F::combine(part, F::lift(x)));
            }
        }
    }
}

/// Rows of a length known here: eight at once, a row a lane, where the order of the elements is ours to choose.
fn rows_of<F: Fold, const N: usize>(elements: &[F::In], parts: &mut [F::Part]) {
    vectorised(
        parts,
        elements.as_chunks::<N>().0,
        #[inline(always)]
        |parts, rows| {
            if F::IN_TURN || N < 16 {
                for (part, row) in parts.iter_mut().zip(rows) {
                    *part = row.iter().fold(F::NONE, |part, &x| F::combine(part, F::lift(x)));
                }
                return;
            }
            let (rows, last) = rows[..parts.len()].as_chunks::<8>();
            let (parts, last_parts) = parts.as_chunks_mut::<8>();
            for (parts, rows) in parts.iter_mut().zip(rows) {
                *parts = eight_rows::<F, N>(rows);
            }
            if let Some(&row) = last.first() {
                // In the same order, so that a row's result does not depend on those beside it.
                let mut rows = [row; 8];
                rows[..last.len()].copy_from_slice(last);
                last_parts.copy_from_slice(&eight_rows::<F, N>(&rows)[..last.len()]);
            }
        },
    );
}

/// Every fourth element of each row together, then those four by halves. Two rows lie side by side in a vector from the start, so that
/// three shuffles of vectors follow where a transposition would take all eight.
#[inline(always)]
fn eight_rows<F: Fold, const N: usize>(rows: &[[F::In; N]; 8]) -> [F::Part; 8] {
    let mut fours = [[F::NONE; 8]; 4];
    for i in 0..4 {
        let (upper, lower) = (rows[i].as_chunks::<4>().0, rows[i + 4].as_chunks::<4>().0);
        for j in 0..N / 4 {
            fours[i] = each::<F>(fours[i], lifted::<F>(&upper[j], &lower[j]));
        }
    }
    of_fours::<F>(fours)
}

/// The results of eight rows of which four partial ones are left, those of two rows side by side: the first's and the fifth's first.
#[inline(always)]
fn of_fours<F: Fold>([a, b, c, d]: [[F::Part; 8]; 4]) -> [F::Part; 8] {
    let (a, b) = (halves::<F>(a, b), halves::<F>(c, d));
    each::<F>([a[0], a[2], b[0], b[2], a[4], a[6], b[4], b[6]], [a[1], a[3], b[1], b[3], a[5], a[7], b[5], b[7]])
}

#[inline(always)]
fn halves<F: Fold>(a: [F::Part; 8], b: [F::Part; 8]) -> [F::Part; 8] {
    each::<F>([a[0], a[1], b[0], b[1], a[4], a[5], b[4], b[5]], [a[2], a[3], b[2], b[3], a[6], a[7], b[6], b[7]])
}

#[inline(always)]
fn lifted<F: Fold>(a: &[F::In; 4], b: &[F::In; 4]) -> [F::Part; 8] {
    let mut both = [F::NONE; 8];
    for i in 0..4 {
        (both[i], both[i + 4]) = (F::lift(a[i]), F::lift(b[i]));
    }
    both
}

#[inline(always)]
fn each<F: Fold>(mut a: [F::Part; 8], b: [F::Part; 8]) -> [F::Part; 8] {
    for i in 0..8 {
        a[i] = F::combine(a[i], b[i]);
    }
    a
}

/// Adds rows to the partial results of columns, several at a time: those are read and written less often.
pub(super) fn add_rows<F: Fold, const N: usize>(parts: &mut [F::Part], rows: [&[F::In]; N]) {
    vectorised(
        parts,
        rows,
        #[inline(always)]
        |parts, rows| {
            let rows = rows.map(|row| &row[..parts.len()]);
            for (i, part) in parts.iter_mut().enumerate() {
                let mut elements = rows.map(|row| F::lift(row[i]));
                let mut width = N;
                while width > 1 {
                    width /= 2;
                    for j in 0..width {
                        elements[j] = F::combine(elements[2 * j], elements[2 * j + 1]);
                    }
                }
                *part = F::combine(*part, elements[0]);
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use half::bf16;

    use super::super::folds::{Max, Sum, SumOfSquares};
    use super::*;

    /// Whether rows have the results that each has by itself, however many there are.
    fn agree<F: Fold>(element: impl Fn(f32) -> F::In)
    where
        F::Part: PartialEq + std::fmt::Debug,
    {
        for length in [32, 33, 64, 100, 256, 300, 1024] {
            for (count, stride) in [(1, length), (8, length), (13, length + 3), (24, length)] {
                let number = |i: usize| ((i * 7919 % 1009) as f32 - 500.0) / 37.0;
                let elements: Vec<F::In> = (0..count * stride).map(|i| element(number(i))).collect();
                let mut parts = vec![F::NONE; count];
                of_rows::<F>(&elements, length, stride, &mut parts);
                let alone: Vec<F::Part> =
                    (0..count).map(|row| side_by_side::<F>(&elements[row * stride..][..length])).collect();
                assert_eq!(parts, alone, "{count} rows of {length}");
            }
        }
    }

    #[test]
    fn rows_do_not_depend_on_those_beside_them() {
        agree::<Sum<f32>>(|x| x);
        agree::<Sum<bf16>>(bf16::from_f32);
        agree::<SumOfSquares>(|x| x);
        agree::<Max<bf16>>(bf16::from_f32);
    }
}
