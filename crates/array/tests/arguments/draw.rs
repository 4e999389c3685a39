//! What functions are given: mostly what could be right, often what cannot, and now and then what is far too large.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pumice::indexing::Index;
use pumice::ops::broadcast_to::broadcast_to;
use pumice::ops::slices::slice;
use pumice::ops::views::transpose;
use pumice::{Array, Dtype};

/// Sizes, axes and places that are seldom right.
const EXTREME: [i32; 10] =
    [i32::MIN, i32::MIN + 1, -65_536, -100, 100, 46_341, 65_536, 1 << 30, i32::MAX - 1, i32::MAX];

/// Numbers that sizes are made of, and those that no size can be.
const NUMBERS: [f64; 12] =
    [0.0, 1.0, -1.0, 2.5, -3.0, 7.0, 1e9, -1e18, 1e300, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];

/// A source of arguments: a seed names them for ever.
pub struct Draw {
    state: u64,
    /// Arrays that calls are given before others: those a transform follows.
    given: Vec<Array>,
    huge: Arc<AtomicBool>,
}

impl Draw {
    pub fn new(seed: u64) -> Draw {
        let mut draw =
            Draw { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, given: Vec::new(), huge: Arc::default() };
        // The first numbers of near seeds are near too.
        for _ in 0..8 {
            draw.below(2);
        }
        draw
    }

    /// A source of a function's own, with arrays that calls are given first.
    pub fn with(seed: u64, given: &[Array], huge: &Arc<AtomicBool>) -> Draw {
        Draw { given: given.to_vec(), huge: huge.clone(), ..Draw::new(seed) }
    }

    /// Whether something was drawn that nobody should compute, here or in a function that shares the flag.
    pub fn huge(&self) -> &Arc<AtomicBool> {
        &self.huge
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 11) as usize % n
    }

    /// True once in `n` times.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    pub fn flag(&mut self) -> bool {
        self.once_in(2)
    }

    fn extreme(&mut self) -> i32 {
        self.huge.store(true, Ordering::Relaxed);
        self.pick(&EXTREME)
    }

    /// An axis, a place, a step or a count.
    pub fn int(&mut self) -> i32 {
        if self.once_in(12) { self.extreme() } else { self.below(9) as i32 - 4 }
    }

    /// An axis, mostly one of an array of three axes.
    pub fn axis(&mut self) -> i32 {
        if self.once_in(8) { self.int() } else { self.below(6) as i32 - 3 }
    }

    pub fn maybe_axis(&mut self) -> Option<i32> {
        (!self.once_in(4)).then(|| self.axis())
    }

    pub fn ints(&mut self, count: usize) -> Vec<i32> {
        (0..count).map(|_| self.int()).collect()
    }

    pub fn axes(&mut self) -> Vec<i32> {
        (0..self.below(4)).map(|_| self.axis()).collect()
    }

    pub fn maybe_axes(&mut self) -> Option<Vec<i32>> {
        (!self.once_in(4)).then(|| self.axes())
    }

    /// One size of a shape.
    fn size(&mut self) -> i32 {
        match self.below(40) {
            0 => -(self.below(3) as i32),
            1 => self.extreme(),
            n => (n % 6) as i32,
        }
    }

    /// A shape, seldom with sizes that no shape has.
    pub fn shape(&mut self) -> Vec<i32> {
        let rank = if self.once_in(30) { 9 + self.below(12) } else { self.below(5) };
        (0..rank).map(|_| if rank > 8 { 1 + self.below(2) as i32 } else { self.size() }).collect()
    }

    /// A shape that differs in one place from an array's, or not at all.
    pub fn shape_near(&mut self, x: &Array) -> Vec<i32> {
        let mut shape = x.shape().to_vec();
        let at = self.below(shape.len() + 1);
        match self.below(6) {
            0 => shape.insert(at, self.size()),
            1 if at < shape.len() => drop(shape.remove(at)),
            2 if at < shape.len() => shape[at] = self.size(),
            3 => shape = self.shape(),
            4 => shape.reverse(),
            _ => {}
        }
        shape
    }

    /// As many numbers as an array has axes, or nearly.
    pub fn ints_near(&mut self, x: &Array) -> Vec<i32> {
        let count = if self.once_in(8) { self.below(5) } else { x.ndim() };
        self.ints(count)
    }

    pub fn dtype(&mut self) -> Dtype {
        self.pick(&Dtype::ALL)
    }

    pub fn number(&mut self) -> f64 {
        let number = self.pick(&NUMBERS);
        self.huge.fetch_or(number.is_nan() || number.abs() >= 100.0, Ordering::Relaxed);
        number
    }

    pub fn array(&mut self) -> Array {
        if !self.given.is_empty() && !self.once_in(4) {
            let at = self.below(self.given.len());
            return self.given[at].clone();
        }
        let dtype = if self.flag() { self.pick(&[Dtype::F32, Dtype::I32, Dtype::U32]) } else { self.dtype() };
        self.array_of(dtype)
    }

    /// An array of a type, lying in memory in one of many ways.
    pub fn array_of(&mut self, dtype: Dtype) -> Array {
        let shape: Vec<i32> = (0..self.below(4)).map(|_| self.pick(&[0, 1, 1, 2, 2, 3, 3, 4])).collect();
        let bytes = shape.iter().product::<i32>() as usize * dtype.size();
        let values: Vec<u8> =
            (0..bytes).map(|_| self.below(256) as u8 & if dtype == Dtype::Bool { 1 } else { 255 }).collect();
        let x = Array::from_bytes(&values, &shape, dtype).expect("as many bytes as the shape has");
        let (first, last, back) = (vec![-1; shape.len()], vec![-100; shape.len()], vec![-1; shape.len()]);
        match self.below(12) {
            // The GPU refuses float64.
            0 => transpose(&x, None).unwrap_or(x),
            1 => slice(&x, &first, &last, &back).unwrap_or(x),
            2 => self.repeated(dtype),
            _ => x,
        }
    }

    /// One value over a shape that may be larger than any memory.
    fn repeated(&mut self, dtype: Dtype) -> Array {
        let shape: Vec<i32> = self.shape().into_iter().map(|n| n.max(0)).collect();
        let value = Array::from_bytes(&vec![1; dtype.size()], &[], dtype).expect("one value");
        // Some shapes are too large even to name.
        broadcast_to(&value, &shape).unwrap_or(value)
    }

    /// An array near another: of its shape or type, or neither.
    pub fn array_near(&mut self, x: &Array) -> Array {
        if self.once_in(3) {
            return self.array();
        }
        let dtype = if self.flag() { x.dtype() } else { self.dtype() };
        let shape = if self.flag() { x.shape().to_vec() } else { self.shape_near(x) };
        let value = Array::from_bytes(&vec![1; dtype.size()], &[], dtype).expect("one value");
        broadcast_to(&value, &shape).unwrap_or(value)
    }

    pub fn arrays(&mut self) -> Vec<Array> {
        let first = self.array();
        let rest: Vec<Array> = (0..self.below(3)).map(|_| self.array_near(&first)).collect();
        if self.once_in(10) { Vec::new() } else { std::iter::once(first).chain(rest).collect() }
    }

    /// Places to look at: integers mostly, of few values.
    pub fn indices(&mut self) -> Array {
        let dtype =
            if self.once_in(6) { self.dtype() } else { self.pick(&[Dtype::I32, Dtype::U32, Dtype::I64, Dtype::U8]) };
        self.array_of(dtype)
    }

    /// An index expression.
    pub fn expression(&mut self) -> Vec<Index> {
        (0..self.below(5)).map(|_| self.index()).collect()
    }

    fn index(&mut self) -> Index {
        match self.below(12) {
            0 => Index::NewAxis,
            1 => Index::Ellipsis,
            2 => Index::Array(self.indices()),
            3 => Index::Array(self.array_of(Dtype::Bool)),
            4 => Index::Array(self.array()),
            5..9 => Index::Slice { start: self.place(), stop: self.place(), step: self.place() },
            _ => Index::Int(self.place().unwrap_or(0)),
        }
    }

    fn place(&mut self) -> Option<i64> {
        match self.below(10) {
            0 => Some(self.pick(&[i64::MIN, i64::MIN + 1, i32::MIN as i64 - 1, i32::MAX as i64 + 1, i64::MAX])),
            1..3 => None,
            _ => Some(self.int() as i64),
        }
    }
}
