//! Gathers on the GPU: an invocation a unit of up to 16 bytes, whatever the elements are.

use pumice_kernel::arguments::Argument;
use pumice_kernel::{Access, Buffer, Builder, Elem, Kernel, Scalar, Val};

use super::walk::Walk;
use crate::dtype::Dtype;
use crate::error::Result;
use crate::eval::site::{Placed, Site};
use crate::launch::fold_groups;
use crate::op::Key;

/// Invocations per workgroup.
pub(crate) const WORKGROUP: u32 = 256;

/// Launches a gather into `to`, which lies without gaps.
pub(super) fn launch(site: &mut Site<'_>, walk: &Walk, from: &Placed, indices: &[Placed], to: &Placed) -> Result<()> {
    let (from, start) = from.base();
    let unit = widest_unit(walk, start, from.align.min(to.align), from.dtype.size());
    let per_unit = (unit / from.dtype.size()) as i64;
    let walk = walk.in_units_of(per_unit).expect("it was asked before");
    let form = Form::of(&walk, &from, indices, unit);
    let mut scalars = form.walk_arguments(&walk, start / per_unit);
    let (bases, starts): (Vec<Placed>, Vec<i64>) = indices.iter().map(Placed::base).unzip();
    form.index_arguments(&walk, &starts, &mut scalars);
    let operands: Vec<&Placed> = std::iter::once(&from).chain(&bases).chain([to]).collect();
    let groups = fold_groups((walk.count() as u64).div_ceil(WORKGROUP as u64));
    site.launch(&form.key("gather"), || kernel(form), groups, &operands, &scalars)
}

/// Copies an array into memory without gaps.
pub(crate) fn copy(site: &mut Site<'_>, from: &Placed, to: &Placed) -> Result<()> {
    launch(site, &Walk::plain(&to.layout, &from.layout), from, &[], to)
}

/// The bytes that are moved at a time.
fn widest_unit(walk: &Walk, start: i64, align: u32, size: usize) -> usize {
    let fits = |&unit: &usize| {
        let n = (unit / size) as i64;
        unit >= size && (align as usize).is_multiple_of(unit) && start % n == 0 && walk.in_units_of(n).is_some()
    };
    [16, 8, 4, 2].into_iter().find(fits).unwrap_or(size)
}

/// What distinguishes the kernels of walks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    pub unit: usize,
    pub rank: usize,
    pub count: usize,
    pub index: Dtype,
    pub long: bool,
}

impl Form {
    pub fn of(walk: &Walk, array: &Placed, indices: &[Placed], unit: usize) -> Form {
        const MOST: i64 = i32::MAX as i64 / 2;
        let spans = |placed: &Placed| placed.layout.extent().is_some_and(|(low, high)| high - low > MOST);
        let long = walk.count() > MOST || spans(array) || indices.iter().any(spans);
        let index = indices.first().map_or(Dtype::I32, |placed| placed.dtype);
        Form { unit, rank: walk.sizes.len(), count: indices.len(), index, long }
    }

    pub fn key(self, name: &'static str) -> Key {
        let mut key = Key::default();
        key.name(name);
        [self.unit, self.rank, self.count, self.index as usize, self.long as usize]
            .into_iter()
            .for_each(|part| key.word(part as u64));
        key
    }

    /// The type of numbers among the arguments.
    pub fn scalar(self) -> Scalar {
        if self.long { Scalar::I64 } else { Scalar::I32 }
    }

    /// A number among the arguments.
    pub fn number(self, n: i64) -> Argument {
        if self.long { Argument::I64(n) } else { Argument::I32(n as i32) }
    }

    /// The arguments that [`Position::new`] declares.
    pub fn walk_arguments(self, walk: &Walk, start: i64) -> Vec<Argument> {
        let mut all = vec![walk.count()];
        all.extend(padded(&walk.sizes, 1));
        all.push(start);
        all.extend(padded(&walk.direct, 0));
        all.into_iter().map(|n| self.number(n)).collect()
    }

    /// The arguments that [`Position::indexed`] declares.
    pub fn index_arguments(self, walk: &Walk, starts: &[i64], into: &mut Vec<Argument>) {
        for (index, &start) in walk.indices.iter().zip(starts) {
            let mut all = vec![start, index.stride, index.size, index.last];
            all.extend(padded(&index.strides, 0));
            into.extend(all.into_iter().map(|n| self.number(n)));
        }
    }

    /// A stride for each axis, declared as one argument.
    pub fn strides(self, strides: &[i64]) -> impl Iterator<Item = Argument> {
        padded(strides, 0).into_iter().map(move |n| self.number(n))
    }
}

/// An argument array has at least one element.
fn padded(values: &[i64], rest: i64) -> Vec<i64> {
    if values.is_empty() { vec![rest] } else { values.to_vec() }
}

/// Where an invocation stands on a walk.
pub(crate) struct Position<'k> {
    k: &'k Builder,
    form: Form,
    /// The unit's number.
    pub at: Val<'k>,
    /// Units of the walk.
    pub count: Val<'k>,
    along: Vec<Val<'k>>,
    direct: Val<'k>,
}

impl<'k> Position<'k> {
    /// The position of the unit that this invocation moves; declares the walk's arguments.
    pub fn new(k: &'k Builder, form: Form) -> Position<'k> {
        let at = match form.long {
            true => {
                let group = k.group_index().to_u(Scalar::I64);
                group * (WORKGROUP as i32) + k.local_index().to_u(Scalar::I64)
            }
            false => k.global_index(),
        };
        Position::at(k, form, k.arg("n", form.scalar()), at)
    }

    /// The position of a unit by its number.
    pub fn at(k: &'k Builder, form: Form, count: Val<'k>, at: Val<'k>) -> Position<'k> {
        let rank = form.rank.max(1) as u32;
        let sizes = k.arg_array("sizes", form.scalar(), rank);
        let start = k.arg("start", form.scalar());
        let strides = k.arg_array("strides", form.scalar(), rank);
        let stride = |axis| strides.at(axis);
        let (mut rest, mut along) = (at, vec![at; form.rank]);
        for axis in (0..form.rank).rev() {
            let size = sizes.at(axis as i32);
            along[axis] = if axis == 0 { rest } else { rest.rem_u(size) };
            rest = rest.div_u(size);
        }
        let mut position = Position { k, form, at, count, along, direct: start };
        position.direct = position.place(start, stride);
        position
    }

    /// The place that strides lead to.
    pub fn place(&self, start: Val<'k>, stride: impl Fn(i32) -> Val<'k>) -> Val<'k> {
        let steps = self.along.iter().enumerate();
        steps.fold(start, |place, (axis, &along)| place + along * stride(axis as i32))
    }

    /// The place in the indexed array, and whether every index is inside; declares the index arrays' arguments. Indices
    /// outside are moved to the nearest inside.
    pub fn indexed(&self, buffers: &[Buffer<'k>]) -> (Val<'k>, Val<'k>) {
        let (mut place, mut inside) = (self.direct, self.k.bool(true));
        for (j, buffer) in buffers.iter().enumerate() {
            let number = |name: &str| self.k.arg(&format!("{name}{j}"), self.form.scalar());
            let (start, stride, size, last) = (number("start"), number("stride"), number("size"), number("last"));
            let strides = self.k.arg_array(&format!("strides{j}"), self.form.scalar(), self.form.rank.max(1) as u32);
            let given = self.load_index(*buffer, self.place(start, |axis| strides.at(axis)));
            let wide = given.ty().scalar().expect("indices are integers");
            let (size, last) = (size.to(wide), last.to(wide));
            let index = match self.form.index.is_signed() {
                true => given.lt(self.k.constant(given.ty(), 0)).select(given + size, given),
                false => given,
            };
            inside = inside & index.le_u(last);
            let index = match self.form.index.is_signed() {
                true => index.max(self.k.constant(index.ty(), 0)).min(last),
                false => index.min_u(last),
            };
            place = place + index.to(self.form.scalar()) * stride;
        }
        (place, inside)
    }

    /// The place in the moved elements, by strides; declares their arguments.
    pub fn moved(&self) -> Val<'k> {
        let start = self.k.arg("moved_start", self.form.scalar());
        let strides = self.k.arg_array("moved_strides", self.form.scalar(), self.form.rank.max(1) as u32);
        self.place(start, |axis| strides.at(axis))
    }

    /// An index in a type that holds it: 32-bit unsigned ones beside 64-bit numbers have 64 bits.
    fn load_index(&self, buffer: Buffer<'k>, place: Val<'k>) -> Val<'k> {
        let index = buffer.load(place);
        match (self.form.long, self.form.index.is_signed()) {
            (true, true) => index.to(Scalar::I64),
            (true, false) => index.to_u(Scalar::I64),
            (false, _) => index,
        }
    }
}

/// Buffers of the index arrays.
pub(crate) fn index_buffers<'k>(k: &'k Builder, form: Form) -> Vec<Buffer<'k>> {
    (0..form.count).map(|j| k.input(&format!("index{j}"), form.index.elem())).collect()
}

fn kernel(form: Form) -> Result<Kernel> {
    let (elem, wide) = unit_elem(form.unit);
    Ok(Kernel::build("gather", [WORKGROUP, 1, 1], |k| {
        let from = k.buffer("from", elem, Access::Read, form.unit as u32);
        let indices = index_buffers(k, form);
        let to = k.buffer("to", elem, Access::Write, form.unit as u32);
        let position = Position::new(k, form);
        k.when(position.at.lt_u(position.count), || {
            let (place, _) = position.indexed(&indices);
            match wide {
                1 => to.store(position.at, from.load(place)),
                _ => to.store_wide(position.at * wide, &from.load_wide(place * wide, wide as usize)),
            }
        });
    })?)
}

/// The storage type that moves units of so many bytes, and how many of it.
fn unit_elem(unit: usize) -> (Elem, i32) {
    match unit {
        1 => (Elem::U8, 1),
        2 => (Elem::U16, 1),
        n => (Elem::U32, n as i32 / 4),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::the_gpu;
    use crate::launch::Build;
    use crate::shape::Layout;

    /// Rows of a table, by a kernel that is told whether its numbers have 64 bits.
    fn rows(long: bool, index: Dtype, unit: usize) -> Vec<i32> {
        let gpu = the_gpu().expect("a GPU");
        let (table, picked) = (Layout::contiguous(&[4, 8]), Layout::contiguous(&[3]));
        let walk = Walk::parts(&Layout::contiguous(&[3, 1, 8]), &table, &[&picked], &[0], &[1, 8]);
        let walk = walk.in_units_of(unit as i64 / 4).expect("rows are whole units");
        let form = Form { unit, rank: walk.sizes.len(), count: 1, index, long };
        let mut scalars = form.walk_arguments(&walk, 0);
        form.index_arguments(&walk, &[0], &mut scalars);
        let indices = [3i64, -4, 1];
        let bytes: Vec<u8> = indices.iter().flat_map(|n| n.to_le_bytes()[..index.size()].to_vec()).collect();
        let buffers = [128, bytes.len() as u64, 96].map(|n| gpu.allocate(n).expect("memory"));
        gpu.device().upload(&buffers[0], 0, bytemuck::cast_slice(&(0..32).collect::<Vec<i32>>())).expect("it uploads");
        gpu.device().upload(&buffers[1], 0, &bytes).expect("it uploads");
        let compiled = gpu.compile(&kernel(form).expect("a kernel"), Build::Checked).expect("it compiles");
        compiled.launch(gpu.stream(), [1, 1, 1], &buffers.each_ref(), &scalars).expect("it launches");
        let mut got = [0u8; 96];
        gpu.stream().download(&buffers[2], 0, &mut got).expect("it downloads");
        compiled.report(gpu.stream()).expect("no index is out of bounds");
        bytemuck::pod_collect_to_vec(&got)
    }

    #[test]
    fn numbers_of_32_and_64_bits_lead_to_the_same_places() {
        if the_gpu().is_err() {
            return;
        }
        let wanted: Vec<i32> = (24..32).chain(0..8).chain(8..16).collect();
        for (index, unit) in [(Dtype::I32, 4), (Dtype::I64, 16), (Dtype::I8, 8)] {
            assert_eq!(rows(false, index, unit), wanted, "{index}");
            assert_eq!(rows(true, index, unit), wanted, "{index}");
        }
    }
}
