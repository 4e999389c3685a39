//! Writes: results put together from parts. Each part is a strided copy into the result's memory; those of one result
//! touch different elements, so they run side by side.

use pumice_kernel::arguments::Argument;
use smallvec::{SmallVec, smallvec};

use crate::device::DeviceKind;
use crate::error::Result;
use crate::eval::cache;
use crate::eval::fuse::lowered;
use crate::eval::order::Tape;
use crate::eval::plan::{Home, LaunchStep, PlanArgument, Planner, Work, moving, spans_long};
use crate::eval::site::Placed;
use crate::kernels::copy::{WORKGROUP, copy};
use crate::launch::fold_groups;
use crate::op::{Key, Lowering};
use crate::shape::{Layout, Spec, collapse};

/// Copies into parts of one memory.
pub(crate) struct WriteStep {
    pub parts: Vec<PartStep>,
}

pub(crate) enum PartStep {
    Launch(Box<LaunchStep>),
    Host(Box<HostCopy>),
}

/// A strided copy on the CPU; its axes are joined.
pub(crate) struct HostCopy {
    pub operands: [Placed; 2],
    pub shape: Vec<usize>,
    pub from_strides: Vec<i64>,
    pub to_strides: Vec<i64>,
}

impl WriteStep {
    /// Everything that is read and written.
    pub fn operands(&self) -> impl Iterator<Item = &Placed> {
        self.parts.iter().flat_map(|part| match part {
            PartStep::Launch(launch) => launch.operands.iter(),
            PartStep::Host(copy) => copy.operands.iter(),
        })
    }
}

impl Planner {
    pub(super) fn write(&mut self, tape: &Tape, index: usize) -> Result<()> {
        let call = &tape.calls[index];
        let (parts, has_base) = lowered(tape, call, self.target, |lowering, place| match lowering {
            Lowering::Write(write) => (write.parts(place), write.has_base()),
            _ => unreachable!("[{}] was a write when it was ordered", call.op.name()),
        });
        let spec = &tape.values[call.outputs[0] as usize].spec;
        let to = match has_base {
            true => {
                let base = self.at(call.inputs[0]).clone();
                self.copy_unless_donated(&base, spec)?
            }
            false => self.allocate(spec),
        };
        self.placed[call.outputs[0] as usize] = Some(to.clone());
        let written = call.inputs[has_base as usize..].iter().map(|&value| self.at(value).clone());
        let mut copies: Vec<(Placed, Layout)> = written.zip(parts).filter(|(_, part)| part.size() > 0).collect();
        let mut to = to;
        if let [(_, part)] = copies.as_mut_slice()
            && let Some(moving) = moving(call, &to, &Placed { layout: part.clone(), ..to.clone() })
        {
            *part = moving.layout;
            (to.align, to.moves) = (moving.align, moving.moves);
        }
        self.write_parts(&to, copies)
    }

    /// What a write begins as: a copy that is left out if the memory can be taken over.
    pub(super) fn copy_unless_donated(&mut self, base: &Placed, spec: &Spec) -> Result<Placed> {
        let steps = self.plan.steps.len();
        let to = self.copy(base, spec)?;
        self.plan.steps[steps..].iter_mut().for_each(|step| step.is_copy = true);
        Ok(to)
    }

    /// Plans copies into parts of memory.
    pub(super) fn write_parts(&mut self, to: &Placed, copies: Vec<(Placed, Layout)>) -> Result<()> {
        let mut parts = Vec::with_capacity(copies.len());
        for (mut from, layout) in copies {
            from.layout = from.layout.broadcast_to(&layout.shape);
            let offset = layout.offset * to.dtype.size() as i64;
            let align = to.align.min(1 << offset.trailing_zeros().min(4));
            let (from, to) = forwards(from, Placed { layout, align, ..to.clone() });
            parts.push(match self.stream().device.kind {
                DeviceKind::Gpu => PartStep::Launch(Box::new(self.launch_part(from, to)?)),
                DeviceKind::Cpu => PartStep::Host(Box::new(host_part(from, to))),
            });
        }
        if !parts.is_empty() {
            self.push(Work::Write(WriteStep { parts }));
        }
        Ok(())
    }

    fn launch_part(&mut self, mut from: Placed, to: Placed) -> Result<LaunchStep> {
        if let Home::Value(_) = from.home {
            // Kernels copy from memory: the one value goes there first.
            let single = Placed { layout: Layout::contiguous(&[]), ..from.clone() };
            let copied = self.copy(&single, &Spec::new(&[][..], from.dtype))?;
            from = Placed { layout: copied.layout.broadcast_to(&to.layout.shape), ..copied };
        }
        let (mut sizes, mut strides) = collapse(&to.layout.shape, &[&from.layout.strides, &to.layout.strides]);
        if sizes.is_empty() {
            sizes.push(1);
            strides.iter_mut().for_each(|s| s.push(1));
        }
        let wide = wide(&sizes, &strides, &from, &to);
        *sizes.last_mut().expect("one axis at least") /= wide;
        let last = sizes.len() - 1;
        strides.iter_mut().for_each(|s| s[..last].iter_mut().for_each(|stride| *stride /= wide));
        let long =
            spans_long(&from.layout) || spans_long(&to.layout) || sizes.iter().product::<i64>() > i32::MAX as i64 / 2;
        let count: i64 = sizes.iter().product();
        let (from, start) = from.base();
        let number = |n: i64| PlanArgument::Fixed(if long { Argument::I64(n) } else { Argument::I32(n as i32) });
        let mut arguments: SmallVec<[PlanArgument; 8]> = smallvec![number(count)];
        arguments.extend(sizes.iter().map(|&n| number(n)));
        arguments.push(number(start / wide));
        arguments.extend(strides.iter().flatten().map(|&stride| number(stride)));
        let (unit, rank) = (wide as usize * to.dtype.size(), sizes.len() as u32);
        let mut key = Key::default();
        key.name("copy_strided");
        key.word((unit as u64) << 32 | (rank as u64) << 1 | long as u64);
        let kernel = cache::kernel(&key, || Ok(copy(unit, rank, long)?))?;
        let groups = fold_groups((count as u64).div_ceil(WORKGROUP as u64));
        Ok(LaunchStep { kernel, groups, operands: smallvec![from, to], arguments, donors: SmallVec::new() })
    }
}

/// The same copy with every axis in the direction in which it is written.
fn forwards(mut from: Placed, mut to: Placed) -> (Placed, Placed) {
    for axis in 0..to.layout.shape.len() {
        if to.layout.strides[axis] < 0 {
            let steps = to.layout.shape[axis] as i64 - 1;
            for placed in [&mut from, &mut to] {
                let stride = &mut placed.layout.strides[axis];
                let moved = *stride * steps;
                *stride = -*stride;
                placed.layout.offset += moved;
                let bytes = moved * placed.dtype.size() as i64;
                placed.align = placed.align.min(1 << bytes.trailing_zeros().min(4));
            }
        }
    }
    (from, to)
}

/// Elements that one access covers: 16 bytes if rows lie without gaps on both sides and everything is aligned to that.
fn wide(sizes: &[i64], strides: &[crate::shape::Strides], from: &Placed, to: &Placed) -> i64 {
    let size = to.dtype.size() as i64;
    let last = sizes.len() - 1;
    let fits = |wide: i64| {
        let bytes = wide * size;
        let rows = strides.iter().all(|s| s[last] == 1 && s[..last].iter().all(|stride| stride % wide == 0));
        rows && sizes[last] % wide == 0 && from.align as i64 >= bytes && to.align as i64 >= bytes
    };
    [16, 8, 4, 2].into_iter().filter(|wide| wide * size <= 16).find(|&wide| fits(wide)).unwrap_or(1)
}

fn host_part(from: Placed, to: Placed) -> HostCopy {
    let (sizes, mut strides) = collapse(&to.layout.shape, &[&from.layout.strides, &to.layout.strides]);
    let to_strides = strides.pop().expect("two were given").to_vec();
    let from_strides = strides.pop().expect("two were given").to_vec();
    HostCopy { operands: [from, to], shape: sizes.iter().map(|&n| n as usize).collect(), from_strides, to_strides }
}
