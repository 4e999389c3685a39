//! Scatters on the CPU: one update after the other, a run of elements at a time.

use half::{bf16, f16};

use super::Combine;
use crate::dtype::{Complex64, Dtype, Element};
use crate::eval::site::HostInput;
use crate::ops::gather::{Outside, Places, Walk};

/// Runs whose places are known at a time.
const BLOCK: usize = 1 << 12;

/// What a scatter is given.
struct Work<'a> {
    combine: Combine,
    walk: &'a Walk,
    updates: &'a HostInput<'a>,
    indices: &'a [HostInput<'a>],
    to: &'a mut [u8],
}

/// Writes updates into elements that lie without gaps.
pub(super) fn scatter(
    combine: Combine,
    walk: &Walk,
    updates: &HostInput<'_>,
    indices: &[HostInput<'_>],
    to: &mut [u8],
) {
    let work = Work { combine, walk, updates, indices, to };
    match (combine, updates.dtype.size()) {
        (Combine::Replace, 1) => work.each(|_, new: u8| new),
        (Combine::Replace, 2) => work.each(|_, new: u16| new),
        (Combine::Replace, 4) => work.each(|_, new: u32| new),
        (Combine::Replace, _) => work.each(|_, new: u64| new),
        _ => work.accumulate(),
    }
}

impl Work<'_> {
    fn accumulate(self) {
        match self.updates.dtype {
            Dtype::Bool => self.merge(|a: u8, b| a | b, |a, b| a & b, |a, b| a > b),
            Dtype::U8 => self.merge(u8::wrapping_add, u8::wrapping_mul, |a, b| a > b),
            Dtype::U16 => self.merge(u16::wrapping_add, u16::wrapping_mul, |a, b| a > b),
            Dtype::U32 => self.merge(u32::wrapping_add, u32::wrapping_mul, |a, b| a > b),
            Dtype::U64 => self.merge(u64::wrapping_add, u64::wrapping_mul, |a, b| a > b),
            Dtype::I8 => self.merge(i8::wrapping_add, i8::wrapping_mul, |a, b| a > b),
            Dtype::I16 => self.merge(i16::wrapping_add, i16::wrapping_mul, |a, b| a > b),
            Dtype::I32 => self.merge(i32::wrapping_add, i32::wrapping_mul, |a, b| a > b),
            Dtype::I64 => self.merge(i64::wrapping_add, i64::wrapping_mul, |a, b| a > b),
            Dtype::F16 => self.merge(|a: f16, b| a + b, |a, b| a * b, |a, b| a > b),
            Dtype::BF16 => self.merge(|a: bf16, b| a + b, |a, b| a * b, |a, b| a > b),
            Dtype::F32 => self.merge(|a: f32, b| a + b, |a, b| a * b, |a, b| a > b),
            Dtype::F64 => self.merge(|a: f64, b| a + b, |a, b| a * b, |a, b| a > b),
            Dtype::C64 => self.merge(complex_add, complex_multiply, complex_greater),
        }
    }

    fn merge<T: Element>(self, add: impl Fn(T, T) -> T, multiply: impl Fn(T, T) -> T, greater: impl Fn(T, T) -> bool) {
        match self.combine {
            Combine::Replace => self.each(|_, new: T| new),
            Combine::Add => self.each(add),
            Combine::Multiply => self.each(multiply),
            Combine::Max => self.each(|old, new| if greater(old, new) { old } else { new }),
            Combine::Min => self.each(|old, new| if greater(new, old) { old } else { new }),
        }
    }

    fn each<T: Element>(self, combine: impl Fn(T, T) -> T) {
        let updates: &[T] = bytemuck::cast_slice(self.updates.bytes());
        let to: &mut [T] = bytemuck::cast_slice_mut(self.to);
        let places = Places::new(self.walk, self.indices, Outside::Nothing);
        let runs = if self.walk.count() == 0 { 0 } else { places.runs() };
        for first in (0..runs).step_by(BLOCK) {
            let count = BLOCK.min(runs - first);
            let into = places.indexed(first, count, 0);
            let from = places.moved(first, count, self.updates.layout.offset);
            for (into, from) in into.into_iter().zip(from).filter(|(into, _)| *into >= 0) {
                let pairs = to[into as usize..][..places.run].iter_mut().zip(&updates[from as usize..][..places.run]);
                pairs.for_each(|(old, &new)| *old = combine(*old, new));
            }
        }
    }
}

fn complex_add(a: Complex64, b: Complex64) -> Complex64 {
    Complex64 { re: a.re + b.re, im: a.im + b.im }
}

fn complex_multiply(a: Complex64, b: Complex64) -> Complex64 {
    Complex64 { re: a.re * b.re - a.im * b.im, im: a.re * b.im + a.im * b.re }
}

fn complex_greater(a: Complex64, b: Complex64) -> bool {
    a.re > b.re || (a.re == b.re && a.im > b.im)
}
