//! The search on the CPU: the best of each block by vectors, then where in the best block it is.

use half::{bf16, f16};

use super::Wanted;
use crate::cpu::simd::vectorised;
use crate::dtype::{Complex64, Dtype};
use crate::eval::site::HostSite;
use crate::ops::reduce::axes::{Axes, Axis, Order};
use crate::ops::reduce::cpu::folds::{Fold, Max, Min};
use crate::ops::reduce::cpu::lanes::side_by_side;
use crate::ops::reduce::cpu::numbers::{Flag, Rank, Ranked};
use crate::ops::reduce::cpu::{in_threads, place};

/// Elements whose best is found at once.
const BLOCK: usize = 1024;
/// Elements that are compared to the best at once.
const CHUNK: usize = 32;
/// Columns that are searched together.
const TILE: usize = 256;

pub(super) fn run(wanted: Wanted, site: &mut HostSite<'_>, axes: &[usize]) {
    match wanted {
        Wanted::Least => by_type::<Least>(site, axes),
        Wanted::Greatest => by_type::<Greatest>(site, axes),
    }
}

/// A direction.
trait Search: 'static {
    /// The reduction to the best element of a type.
    type Best<T: Ranked + 'static>: Fold<In = T, Part = T::Rank>;
    /// Whether one comes strictly before another.
    fn first<R: Rank>(a: R, b: R) -> bool;
}

struct Least;
struct Greatest;

impl Search for Least {
    type Best<T: Ranked + 'static> = Min<T>;
    #[inline(always)]
    fn first<R: Rank>(a: R, b: R) -> bool {
        a.below(b)
    }
}

impl Search for Greatest {
    type Best<T: Ranked + 'static> = Max<T>;
    #[inline(always)]
    fn first<R: Rank>(a: R, b: R) -> bool {
        a.above(b)
    }
}

fn by_type<S: Search>(site: &mut HostSite<'_>, axes: &[usize]) {
    match site.inputs[0].dtype {
        Dtype::Bool => search::<S, Flag>(site, axes),
        Dtype::U8 => search::<S, u8>(site, axes),
        Dtype::U16 => search::<S, u16>(site, axes),
        Dtype::U32 => search::<S, u32>(site, axes),
        Dtype::U64 => search::<S, u64>(site, axes),
        Dtype::I8 => search::<S, i8>(site, axes),
        Dtype::I16 => search::<S, i16>(site, axes),
        Dtype::I32 => search::<S, i32>(site, axes),
        Dtype::I64 => search::<S, i64>(site, axes),
        Dtype::F16 => search::<S, f16>(site, axes),
        Dtype::F32 => search::<S, f32>(site, axes),
        Dtype::F64 => search::<S, f64>(site, axes),
        Dtype::BF16 => search::<S, bf16>(site, axes),
        Dtype::C64 => search::<S, Complex64>(site, axes),
    }
}

fn search<S: Search, T: Ranked + 'static>(site: &mut HostSite<'_>, axes: &[usize]) {
    let input = &site.inputs[0];
    let axes = Axes::new(&input.layout, axes, Order::Kept);
    let memory: &[T] = bytemuck::cast_slice(input.bytes());
    let n = axes.reduced() as usize;
    in_threads(site.outputs[0].bytes, size_of::<u32>(), n, axes.together(), &|first, bytes| {
        let results: &mut [u32] = bytemuck::cast_slice_mut(bytes);
        if axes.are_columns() {
            return columns::<S, T>(memory, &axes, first, results);
        }
        for (i, result) in results.iter_mut().enumerate() {
            let start = axes.start + place(&axes.kept, first + i);
            *result = match axes.reduced.as_slice() {
                [] => 0,
                [Axis { stride: 1, .. }] => row::<S, T>(&memory[start as usize..start as usize + n]),
                reduced => anywhere::<S, T::Rank>((0..n).map(|i| memory[(start + place(reduced, i)) as usize].rank())),
            };
        }
    });
}

/// The place of the best of elements that lie side by side.
fn row<S: Search, T: Ranked + 'static>(elements: &[T]) -> u32 {
    if elements.len() < CHUNK {
        return anywhere::<S, T::Rank>(elements.iter().map(|x| x.rank()));
    }
    if elements.len() <= BLOCK {
        return find::<S, T>(elements, side_by_side::<S::Best<T>>(elements));
    }
    let mut bests = vec![<S::Best<T> as Fold>::NONE; elements.len().div_ceil(BLOCK)];
    in_threads(bytemuck::cast_slice_mut(&mut bests), size_of::<T::Rank>(), BLOCK, 1, &|first, bytes| {
        let bests: &mut [T::Rank] = bytemuck::cast_slice_mut(bytes);
        let blocks = elements[first * BLOCK..].chunks(BLOCK);
        bests.iter_mut().zip(blocks).for_each(|(best, block)| *best = side_by_side::<S::Best<T>>(block));
    });
    let block = anywhere::<S, T::Rank>(bests.iter().copied()) as usize;
    (block * BLOCK) as u32 + find::<S, T>(&elements[block * BLOCK..], bests[block])
}

/// The first place of the best element: first the chunk, by vectors, then in it.
fn find<S: Search, T: Ranked + 'static>(elements: &[T], best: T::Rank) -> u32 {
    let worse = |x: &T| S::first(best, x.rank());
    let all_worse = |chunk: &[T; CHUNK]| chunk.iter().fold(true, |all, x| all & worse(x));
    let chunks = elements.as_chunks::<CHUNK>().0;
    let start = vectorised(
        (),
        (chunks, all_worse),
        #[inline(always)]
        |(), (chunks, all_worse)| CHUNK * chunks.iter().take_while(|chunk| all_worse(chunk)).count(),
    );
    let place = elements[start..].iter().position(|x| !worse(x));
    (start + place.expect("the best is one of them")) as u32
}

fn anywhere<S: Search, R: Rank>(ranks: impl Iterator<Item = R>) -> u32 {
    let numbered = ranks.enumerate();
    let best = numbered.reduce(|best, x| if S::first(x.1, best.1) { x } else { best });
    best.map_or(0, |(i, _)| i as u32)
}

fn columns<S: Search, T: Ranked + 'static>(memory: &[T], axes: &Axes, first: usize, mut results: &mut [u32]) {
    let (columns, outer) = axes.kept.split_last().expect("columns are a kept axis");
    let (columns, mut at) = (columns.size as usize, first);
    while !results.is_empty() {
        let column = at % columns;
        let (tile, rest) = results.split_at_mut((columns - column).min(TILE).min(results.len()));
        let start = axes.start + place(outer, at / columns) + column as i64;
        at += tile.len();
        search_tile::<S, T>(memory, start, &axes.reduced, tile);
        results = rest;
    }
}

fn search_tile<S: Search, T: Ranked + 'static>(memory: &[T], start: i64, axes: &[Axis], results: &mut [u32]) {
    let mut bests = [<S::Best<T> as Fold>::NONE; TILE];
    results.fill(0);
    for i in 0..axes.iter().map(|axis| axis.size as usize).product() {
        let from = (start + place(axes, i)) as usize;
        let elements = &memory[from..from + results.len()];
        let better = |best: &mut T::Rank, result: &mut u32, x: &T| {
            let better = S::first(x.rank(), *best);
            *best = if better { x.rank() } else { *best };
            *result = if better { i as u32 } else { *result };
        };
        vectorised(
            (&mut bests, &mut *results),
            (elements, better),
            #[inline(always)]
            |(bests, results), (elements, better)| {
                bests.iter_mut().zip(results).zip(elements).for_each(|((best, result), x)| better(best, result, x));
            },
        );
    }
}
