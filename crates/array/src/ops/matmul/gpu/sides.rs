//! A factor of a product as it lies in memory, seen before kernels are chosen.

use smallvec::SmallVec;

use crate::error::Result;
use crate::eval::site::{Placed, Site};
use crate::kernels::matmul::Order;
use crate::shape::{Layout, Strides, collapse};

/// A factor: `extent` rows of A or columns of B, of `depth` elements each, and as many matrices as the axes in front count.
#[derive(Clone, Debug)]
pub(super) struct Side {
    /// The memory from its lowest element on.
    pub placed: Placed,
    /// Elements from there to the first one.
    pub start: i64,
    pub extent: i64,
    pub depth: i64,
    /// From one row of A (column of B) to the next, and along K.
    pub strides: [i64; 2],
    /// Along the axes in front, as both factors' joined ones.
    pub batch: Strides,
}

impl Side {
    /// The order its elements lie in; none if neither axis has them together.
    pub fn order(&self) -> Option<Order> {
        let [side, depth] = self.strides;
        match (self.extent, self.depth) {
            (_, 2..) if depth == 1 => Some(Order::AlongDepth),
            (1, _) => Some(Order::AlongSide),
            _ if side == 1 => Some(Order::AlongSide),
            (_, 1) => Some(Order::AlongDepth),
            _ => None,
        }
    }

    /// From one run of elements that lie together to the next.
    pub fn pitch(&self, order: Order) -> i64 {
        match order {
            Order::AlongDepth => self.strides[0],
            Order::AlongSide => self.strides[1],
        }
    }

    /// Whether runs can be read `count` elements at a time, in one aligned access each.
    pub fn is_wide(&self, order: Order, count: i64) -> bool {
        let (length, together) = match order {
            Order::AlongDepth => (self.depth, self.strides[1] == 1),
            Order::AlongSide => (self.extent, self.strides[0] == 1),
        };
        let aligned = self.placed.align as i64 >= (count * self.placed.dtype.size() as i64).min(16);
        let jumps = [self.start, self.pitch(order), length];
        together && aligned && jumps.iter().chain(&self.batch).all(|jump| jump % count == 0)
    }

    /// Whether runs follow each other without gaps, and the memory begins with the first.
    pub fn is_compact(&self, order: Order) -> bool {
        let (length, runs) = match order {
            Order::AlongDepth => (self.depth, self.extent),
            Order::AlongSide => (self.extent, self.depth),
        };
        self.start == 0 && (runs == 1 || self.pitch(order) == length)
    }

    /// Whether 32 bits do not count its elements.
    pub fn is_long(&self) -> bool {
        self.placed.layout.extent().is_some_and(|(low, high)| high - low > i32::MAX as i64 / 2)
    }
}

/// Both factors, and the axes in front that they have in common, joined where they lie without gaps.
pub(super) struct Pair {
    pub a: Side,
    pub b: Side,
    pub batch: SmallVec<[i64; 4]>,
}

impl Pair {
    /// The factors where they lie. `neat` are copied first where neither axis has its elements together.
    pub fn new(site: &mut Site<'_>, inputs: [usize; 2], neat: bool) -> Result<Pair> {
        let mut placed = [site.input(inputs[0])?, site.input(inputs[1])?];
        if neat {
            for (i, placed) in placed.iter_mut().enumerate() {
                if side(placed, i, Strides::new()).order().is_none() {
                    *placed = site.contiguous(inputs[i])?;
                }
            }
        }
        let front = placed[0].layout.shape.len() - 2;
        let strides: Vec<&[i64]> = placed.iter().map(|p| &p.layout.strides[..front]).collect();
        let (batch, joined) = collapse(&placed[0].layout.shape[..front], &strides);
        let [a, b] = [0, 1].map(|i| side(&placed[i], i, joined[i].clone()));
        Ok(Pair { a, b, batch })
    }

    /// Number of matrices.
    pub fn count(&self) -> i64 {
        self.batch.iter().product()
    }

    /// The product's transpose: `Bᵀ · Aᵀ`.
    pub fn swapped(self) -> Pair {
        Pair { a: self.b, b: self.a, batch: self.batch }
    }
}

fn side(placed: &Placed, which: usize, batch: Strides) -> Side {
    let Layout { shape, strides, .. } = &placed.layout;
    let last = shape.len() - 1;
    let (outer, inner) = if which == 0 { (last - 1, last) } else { (last, last - 1) };
    let (base, start) = placed.base();
    Side {
        placed: base,
        start,
        extent: shape[outer] as i64,
        depth: shape[inner] as i64,
        strides: [strides[outer], strides[inner]],
        batch,
    }
}
