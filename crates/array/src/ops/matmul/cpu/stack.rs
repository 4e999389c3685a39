//! Matrices as they lie in memory, with the elements of a row or of a column together.

use std::borrow::Cow;

use ndarray::{ArrayView2, ShapeBuilder};
use rayon::prelude::*;

use super::number::Stored;
use crate::eval::site::HostInput;
use crate::shape::Layout;

/// An input whose last two axes are matrices.
pub(super) struct Stack<'a, S> {
    elements: &'a [S],
    layout: &'a Layout,
}

impl<'a, S: Stored> Stack<'a, S> {
    pub fn new(input: &'a HostInput<'_>) -> Stack<'a, S> {
        Stack { elements: bytemuck::cast_slice(input.bytes()), layout: &input.layout }
    }

    /// Rows and columns of a matrix.
    pub fn shape(&self) -> [usize; 2] {
        let last = self.layout.shape.len() - 1;
        [last - 1, last].map(|axis| self.layout.shape[axis] as usize)
    }

    /// One of the matrices, copied if neither its rows nor its columns lie together.
    pub fn matrix(&self, number: usize) -> Matrix<'a, S> {
        let Layout { shape, strides, offset } = self.layout;
        let last = shape.len() - 1;
        let (mut rest, mut start) = (number as i64, *offset);
        for axis in (0..last - 1).rev() {
            start += rest % shape[axis] as i64 * strides[axis];
            rest /= shape[axis] as i64;
        }
        let ([rows, columns], [by_row, by_column]) = (self.shape(), [strides[last - 1], strides[last]]);
        let lies = |length: usize, runs: usize, along: i64, across: i64| {
            (along == 1 || length == 1) && (across >= length as i64 || runs == 1)
        };
        let from = |runs: usize, pitch: i64, length: usize, by_rows: bool| {
            let pitch = if runs == 1 { length } else { pitch as usize };
            let elements = Cow::Borrowed(&self.elements[start as usize..][..(runs - 1) * pitch + length]);
            Matrix { elements, rows, columns, pitch, by_rows }
        };
        if lies(columns, rows, by_column, by_row) {
            return from(rows, by_row, columns, true);
        }
        if lies(rows, columns, by_row, by_column) {
            return from(columns, by_column, rows, false);
        }
        let row = |i: usize| (0..columns as i64).map(move |j| start + i as i64 * by_row + j * by_column);
        let elements = (0..rows).flat_map(|i| row(i).map(|at| self.elements[at as usize])).collect();
        Matrix { elements: Cow::Owned(elements), rows, columns, pitch: columns, by_rows: true }
    }
}

/// A matrix whose rows (or columns, if not `by_rows`) lie together, `pitch` elements from one to the next.
pub(super) struct Matrix<'a, S: Clone> {
    elements: Cow<'a, [S]>,
    pub rows: usize,
    pub columns: usize,
    pitch: usize,
    pub by_rows: bool,
}

impl<S: Stored> Matrix<'_, S> {
    fn length(&self) -> usize {
        if self.by_rows { self.columns } else { self.rows }
    }

    fn runs(&self) -> usize {
        if self.by_rows { self.rows } else { self.columns }
    }

    /// A row, or a column if those lie together.
    pub fn run(&self, i: usize) -> &[S] {
        &self.elements[i * self.pitch..][..self.length()]
    }

    /// The same elements as the transpose.
    pub fn transposed(&self) -> Matrix<'_, S> {
        Matrix {
            elements: Cow::Borrowed(&self.elements),
            rows: self.columns,
            columns: self.rows,
            pitch: self.pitch,
            by_rows: !self.by_rows,
        }
    }

    /// Some of the columns.
    pub fn panel(&self, first: usize, columns: usize) -> Matrix<'_, S> {
        let start = if self.by_rows { first } else { first * self.pitch };
        Matrix { elements: Cow::Borrowed(&self.elements[start..]), columns, ..self.without_elements() }
    }

    /// Everything but the elements.
    fn without_elements(&self) -> Matrix<'_, S> {
        let Matrix { rows, columns, pitch, by_rows, .. } = *self;
        Matrix { elements: Cow::Borrowed(&[]), rows, columns, pitch, by_rows }
    }

    /// The matrix as what it is summed in: itself, if that is the same.
    pub fn widened(&self) -> Matrix<'_, S::Sum> {
        let (rows, columns, by_rows, length) = (self.rows, self.columns, self.by_rows, self.length());
        if S::SAME {
            let elements = Cow::Borrowed(bytemuck::cast_slice(&self.elements));
            return Matrix { elements, rows, columns, pitch: self.pitch, by_rows };
        }
        let mut wide = bytemuck::allocation::zeroed_vec(self.runs() * length);
        wide.par_chunks_mut(length).enumerate().for_each(|(i, to)| S::widen(self.run(i), to));
        Matrix { elements: Cow::Owned(wide), rows, columns, pitch: length, by_rows }
    }
}

impl<T: Clone> Matrix<'_, T> {
    /// The matrix for `ndarray`.
    pub fn view(&self) -> ArrayView2<'_, T> {
        let strides = if self.by_rows { (self.pitch, 1) } else { (1, self.pitch) };
        ArrayView2::from_shape((self.rows, self.columns).strides(strides), &self.elements)
            .expect("the elements were counted")
    }
}
