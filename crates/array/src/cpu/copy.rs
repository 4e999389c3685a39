//! Elements from one strided place to another, on the CPU: what puts arrays into parts of others.

use bytemuck::Pod;
use rayon::prelude::*;

/// Elements below which one thread does it.
const PARALLEL: usize = 1 << 16;
/// Bytes of a run that one thread copies.
const RUN: usize = 1 << 20;

/// What is copied: elements of `size` bytes (1, 2, 4 or 8) over a space whose axes are joined where they can be.
pub(crate) struct Copy<'a> {
    pub size: usize,
    pub shape: &'a [usize],
    pub from_strides: &'a [i64],
    /// Positive, and an axis' stride is no less than what the axes after it span: elements do not overlap.
    pub to_strides: &'a [i64],
}

impl Copy<'_> {
    /// Copies from element `from_start` on to element `to_start` on.
    pub fn run(&self, from: &[u8], from_start: i64, to: &mut [u8], to_start: usize) {
        let to = &mut to[to_start * self.size..];
        match self.size {
            1 => self.elements::<u8>(from, from_start, to),
            2 => self.elements::<u16>(from, from_start, to),
            4 => self.elements::<u32>(from, from_start, to),
            8 => self.elements::<u64>(from, from_start, to),
            size => unreachable!("no element has {size} bytes"),
        }
    }

    fn elements<T: Pod + Send + Sync>(&self, from: &[u8], start: i64, to: &mut [u8]) {
        let (from, to) = (bytemuck::cast_slice::<u8, T>(from), bytemuck::cast_slice_mut::<u8, T>(to));
        nested(self.shape, self.from_strides, self.to_strides, from, start, to);
    }
}

/// One axis after the other; large ones side by side.
fn nested<T: Pod + Send + Sync>(
    shape: &[usize],
    from_strides: &[i64],
    to_strides: &[i64],
    from: &[T],
    start: i64,
    to: &mut [T],
) {
    match shape {
        [] => to[0] = from[start as usize],
        [n] => line(*n, from_strides[0], to_strides[0] as usize, from, start, to),
        [n, rest @ ..] => {
            let stride = from_strides[0];
            let inner = |(i, to): (usize, &mut [T])| {
                nested(rest, &from_strides[1..], &to_strides[1..], from, start + i as i64 * stride, to);
            };
            let pieces = to_strides[0] as usize;
            match shape.iter().product::<usize>() >= PARALLEL {
                true => to.par_chunks_mut(pieces).take(*n).enumerate().for_each(inner),
                false => to.chunks_mut(pieces).take(*n).enumerate().for_each(inner),
            }
        }
    }
}

fn line<T: Pod + Send + Sync>(n: usize, from_stride: i64, to_stride: usize, from: &[T], start: i64, to: &mut [T]) {
    let first = start as usize;
    match (from_stride, to_stride) {
        (1, 1) => {
            let run = RUN / size_of::<T>();
            let runs = to[..n].par_chunks_mut(run).zip(from[first..first + n].par_chunks(run));
            match n <= run {
                true => to[..n].copy_from_slice(&from[first..first + n]),
                false => runs.for_each(|(to, from)| to.copy_from_slice(from)),
            }
        }
        (0, 1) => to[..n].fill(from[first]),
        (stride, 1) if stride > 0 => {
            let from = from[first..].iter().step_by(stride as usize);
            to[..n].iter_mut().zip(from).for_each(|(to, from)| *to = *from);
        }
        (1, stride) => {
            let to = to.iter_mut().step_by(stride);
            from[first..first + n].iter().zip(to).for_each(|(from, to)| *to = *from);
        }
        (from_stride, to_stride) => {
            (0..n).for_each(|i| to[i * to_stride] = from[(start + i as i64 * from_stride) as usize]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copied(copy: &Copy<'_>, from: &[u16], start: i64, room: usize, at: usize) -> Vec<u16> {
        let mut to = vec![0u16; room];
        copy.run(bytemuck::cast_slice(from), start, bytemuck::cast_slice_mut(&mut to), at);
        to
    }

    #[test]
    fn rows_go_into_wider_rows() {
        let copy = Copy { size: 2, shape: &[2, 3], from_strides: &[3, 1], to_strides: &[5, 1] };
        assert_eq!(copied(&copy, &[1, 2, 3, 4, 5, 6], 0, 10, 1), [0, 1, 2, 3, 0, 0, 4, 5, 6, 0]);
    }

    #[test]
    fn columns_are_read_backwards_and_written_with_gaps() {
        let copy = Copy { size: 2, shape: &[3, 2], from_strides: &[1, -3], to_strides: &[4, 2] };
        assert_eq!(copied(&copy, &[1, 2, 3, 4, 5, 6], 3, 12, 0), [4, 0, 1, 0, 5, 0, 2, 0, 6, 0, 3, 0]);
    }

    #[test]
    fn many_elements_are_copied_side_by_side() {
        let from: Vec<u16> = (0..400 * 300).map(|i| i as u16).collect();
        let copy = Copy { size: 2, shape: &[300, 400], from_strides: &[1, 300], to_strides: &[401, 1] };
        let to = copied(&copy, &from, 0, 300 * 401, 0);
        for row in 0..300 {
            assert!((0..400).all(|column| to[row * 401 + column] == from[column * 300 + row]), "row {row}");
        }
    }
}
