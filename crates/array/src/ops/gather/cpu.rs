//! Gathers on the CPU: runs of elements copied, in parallel where there are many.

use rayon::prelude::*;

use super::places::{Outside, Places};
use super::walk::Walk;
use crate::dtype::Element;
use crate::eval::site::HostInput;
use crate::shape::Layout;

/// Bytes that are worth a task of their own.
const TASK: usize = 1 << 16;
/// Runs that a task knows the places of at a time.
const BLOCK: usize = 1 << 12;

/// Gathers into elements that lie without gaps.
pub(super) fn gather(walk: &Walk, from: &HostInput<'_>, indices: &[HostInput<'_>], to: &mut [u8]) {
    match from.dtype.size() {
        1 => gather_as::<u8>(walk, from, indices, to),
        2 => gather_as::<u16>(walk, from, indices, to),
        4 => gather_as::<u32>(walk, from, indices, to),
        _ => gather_as::<u64>(walk, from, indices, to),
    }
}

/// Copies an array into elements that lie without gaps.
pub(crate) fn copy_on_host(from: &HostInput<'_>, to: &mut [u8]) {
    gather(&Walk::plain(&Layout::contiguous(&from.layout.shape), &from.layout), from, &[], to);
}

fn gather_as<T: Element + Send + Sync>(walk: &Walk, from: &HostInput<'_>, indices: &[HostInput<'_>], to: &mut [u8]) {
    let to: &mut [T] = bytemuck::cast_slice_mut(to);
    if to.is_empty() {
        return;
    }
    let memory: &[T] = bytemuck::cast_slice(from.bytes());
    let places = Places::new(walk, indices, Outside::Nearest);
    let run = places.run;
    let runs = (TASK / (run * size_of::<T>())).clamp(1, BLOCK);
    let work = |(task, to): (usize, &mut [T])| {
        let places = places.indexed(task * runs, to.len() / run, from.layout.offset);
        match run {
            1 => to.iter_mut().zip(places).for_each(|(to, at)| *to = memory[at as usize]),
            _ => to.chunks_mut(run).zip(places).for_each(|(to, at)| to.copy_from_slice(&memory[at as usize..][..run])),
        }
    };
    match to.len() > runs * run {
        true => to.par_chunks_mut(runs * run).enumerate().for_each(work),
        false => work((0, to)),
    }
}
