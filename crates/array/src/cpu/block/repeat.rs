//! Operands that are one element for each row, or one row for all: lanes filled without a step for each row.

use crate::cpu::simd::vectorised;

/// Elements that stand for a row each: where the first lies, and how far the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    pub(super) first: i64,
    pub(super) stride: i64,
    /// Lanes of a row.
    pub(super) row: usize,
}

/// The lanes from `at` on, each the element of its row.
#[inline(always)]
pub(super) fn repeat_each<E: Copy, T: Copy>(
    elements: &[E],
    column: Column,
    at: usize,
    out: &mut [T],
    decode: impl Fn(E) -> T + Copy,
) {
    vectorised(
        out,
        (elements, column, decode),
        #[inline(always)]
        |mut out, (elements, column, decode)| {
            let Column { first, stride, row } = column;
            let mut address = first + (at / row) as i64 * stride;
            if !at.is_multiple_of(row) {
                let (head, rest) = out.split_at_mut((row - at % row).min(out.len()));
                head.fill(decode(elements[address as usize]));
                (out, address) = (rest, address + stride);
            }
            match row {
                4 => whole_rows::<4, E, T>(elements, address, stride, out, decode),
                8 => whole_rows::<8, E, T>(elements, address, stride, out, decode),
                16 => whole_rows::<16, E, T>(elements, address, stride, out, decode),
                32 => whole_rows::<32, E, T>(elements, address, stride, out, decode),
                64 => whole_rows::<64, E, T>(elements, address, stride, out, decode),
                _ => {
                    for out in out.chunks_mut(row) {
                        out.fill(decode(elements[address as usize]));
                        address += stride;
                    }
                }
            }
        },
    );
}

/// Rows of a length known here: a few vectors each, and no call.
#[inline(always)]
fn whole_rows<const N: usize, E: Copy, T: Copy>(
    elements: &[E],
    mut address: i64,
    stride: i64,
    out: &mut [T],
    decode: impl Fn(E) -> T,
) {
    let (rows, rest) = out.as_chunks_mut::<N>();
    for out in rows {
        *out = [decode(elements[address as usize]); N];
        address += stride;
    }
    if !rest.is_empty() {
        rest.fill(decode(elements[address as usize]));
    }
}

/// The lanes from `at` on of rows that are all the same.
#[inline(always)]
pub(super) fn repeat_all<E: Copy, T: Copy>(row: &[E], at: usize, out: &mut [T], decode: impl Fn(E) -> T + Copy) {
    let first = row.len().min(out.len());
    let begin = at % row.len();
    let head = (row.len() - begin).min(first);
    vectorised(
        &mut out[..first],
        (row, decode),
        #[inline(always)]
        |out, (row, decode)| {
            let (to_end, again) = out.split_at_mut(head);
            for (out, element) in to_end.iter_mut().zip(&row[begin..]) {
                *out = decode(*element);
            }
            for (out, element) in again.iter_mut().zip(row) {
                *out = decode(*element);
            }
        },
    );
    // What is there is whole rows, so it may go on with itself.
    let mut filled = first;
    while filled < out.len() {
        let more = filled.min(out.len() - filled);
        out.copy_within(..more, filled);
        filled += more;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_element_is_repeated_over_its_row() {
        for row in [1, 3, 4, 8, 16, 32, 64, 70] {
            let elements: Vec<u16> = (0..90).collect();
            let column = Column { first: 80, stride: -2, row };
            for at in [0, 1, row - 1, row, 2 * row + 1] {
                for lanes in [0, 1, row - 1, 3 * row, 5 * row + 1] {
                    let mut out = vec![u32::MAX; lanes];
                    repeat_each(&elements, column, at, &mut out, |x| x as u32);
                    let expected: Vec<u32> = (at..at + lanes).map(|i| 80 - 2 * (i / row) as u32).collect();
                    assert_eq!(out, expected, "{lanes} lanes from {at} on of rows of {row}");
                }
            }
        }
    }

    #[test]
    fn a_row_is_repeated_for_all() {
        for row in [1, 2, 5, 16] {
            let elements: Vec<u8> = (0..row as u8).collect();
            for at in [0, 1, row, 3 * row + 1] {
                for lanes in [0, 1, row, 4 * row + 1, 100] {
                    let mut out = vec![u32::MAX; lanes];
                    repeat_all(&elements, at, &mut out, |x| x as u32);
                    let expected: Vec<u32> = (at..at + lanes).map(|i| (i % row) as u32).collect();
                    assert_eq!(out, expected, "{lanes} lanes from {at} on of rows of {row}");
                }
            }
        }
    }
}
