//! Elements read by index: `gather`, and `take`, `take_along_axis` beside it.
//!
//! `gather(x, indices, axes, sizes)`: at every position of the index arrays, the part of `x` of the given sizes that
//! begins where the indices point along their axes. Negative indices count from the end. Nobody checks indices: those
//! outside read the nearest element.

mod along_axis;
mod cpu;
mod gpu;
mod places;
mod rules;
mod take;
mod walk;

pub use along_axis::take_along_axis;
pub use take::{take, take_one};

pub(crate) use cpu::copy_on_host;
pub(crate) use gpu::{Form, Position, WORKGROUP, copy, index_buffers};
pub(crate) use places::{Outside, Places};
pub(crate) use rules::{mapped_indices, with_front_axis, with_own_index};
pub(crate) use walk::Walk;

use smallvec::{SmallVec, smallvec};

use crate::array::{Array, call_one};
use crate::device::DeviceKind;
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::eval::site::{HostSite, Placed, Site};
use crate::op::{At, Host, Kernels, Key, Lowering, Op, Place, Specs};
use crate::ops::astype::astype;
use crate::ops::broadcast_to::broadcast_together;
use crate::ops::catalogue::{Case, Entry, Sample};
use crate::ops::full::zeros_like;
use crate::ops::scatter;
use crate::shape::{Layout, Shape, Spec, display, normalize_axis};

/// The parts of `x` of the given sizes that begin where index arrays point along axes. The result has the axes of the
/// index arrays, broadcast together, and then those of a part.
pub fn gather(x: &Array, indices: &[Array], axes: &[i32], sizes: &[i32]) -> Result<Array> {
    let axes = axes_of("gather", x, indices, axes)?;
    let indices = indices_together("gather", indices)?;
    if sizes.len() != x.ndim() {
        let (given, wanted) = (sizes.len(), x.ndim());
        return Err(Error::Value(format!(
            "[gather] there must be {wanted} sizes, one for each axis, but are {given}."
        )));
    }
    let taken = indices.iter().all(|index| index.size() > 0);
    if let Some((size, n)) = sizes.iter().zip(x.shape()).find(|(size, n)| **size < 0 || taken && size > n) {
        return Err(Error::Value(format!("[gather] sizes must be in [0, {n}] along their axis but one is {size}.")));
    }
    let op = Gather { axes, sizes: Shape::from_slice(sizes) };
    call_one(op, std::iter::once(x.clone()).chain(indices))
}

/// The axes that index arrays point along, or the user's error.
pub(crate) fn axes_of(op: &str, x: &Array, indices: &[Array], axes: &[i32]) -> Result<SmallVec<[usize; 2]>> {
    if indices.len() != axes.len() {
        let (arrays, axes) = (indices.len(), axes.len());
        return Err(Error::Value(format!(
            "[{op}] there must be an index array for each axis but are {arrays} for {axes}."
        )));
    }
    let axes = axes.iter().map(|&axis| normalize_axis(op, axis, x.ndim())).collect::<Result<SmallVec<[usize; 2]>>>()?;
    let mut sorted = axes.clone();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(twice) => Err(Error::Value(format!("[{op}] axes must differ but axis {} is given twice.", twice[0]))),
        None => Ok(axes),
    }
}

/// Index arrays of one integer type, broadcast to one shape.
pub(crate) fn indices_together(op: &str, indices: &[Array]) -> Result<Vec<Array>> {
    indices.iter().try_for_each(|index| integers(op, index))?;
    let dtype = indices.iter().map(Array::dtype).reduce(Dtype::promote).unwrap_or(Dtype::I32);
    // Beside a signed type uint64 promotes to a float: what such an index could mean beyond 2^63 is outside anyway.
    let dtype = if dtype.is_integer() { dtype } else { Dtype::I64 };
    let indices = indices.iter().map(|index| astype(index, dtype)).collect::<Result<Vec<Array>>>()?;
    broadcast_together(op, &indices)
}

/// Refuses what is no integer.
pub(crate) fn integers(op: &str, index: &Array) -> Result<()> {
    match index.dtype() {
        dtype if dtype.is_integer() => Ok(()),
        dtype => Err(Error::Value(format!("[{op}] indices must be integers but are {dtype}."))),
    }
}

/// Gathers; inputs are the array, then the index arrays, of one shape and type.
#[derive(Clone, Debug)]
struct Gather {
    axes: SmallVec<[usize; 2]>,
    sizes: Shape,
}

impl Gather {
    fn of(&self, x: &Array, indices: &[Array]) -> Result<Array> {
        call_one(self.clone(), std::iter::once(x.clone()).chain(indices.iter().cloned()))
    }

    fn signed_axes(&self) -> Vec<i32> {
        self.axes.iter().map(|&axis| axis as i32).collect()
    }

    fn walk(&self, to: &Layout, from: &Layout, indices: &[&Layout]) -> Walk {
        Walk::parts(to, from, indices, &self.axes, &self.sizes)
    }
}

impl Op for Gather {
    fn name(&self) -> &'static str {
        "gather"
    }

    fn key(&self, key: &mut Key) {
        key.word(self.axes.len() as u64);
        self.axes.iter().for_each(|&axis| key.word(axis as u64));
        key.ints(&self.sizes);
    }

    fn infer(&self, inputs: &[&Spec]) -> Result<Specs> {
        let mut shape = inputs.get(1).map_or_else(Shape::new, |index| index.shape.clone());
        shape.extend_from_slice(&self.sizes);
        within_memory("gather", &shape)?;
        Ok(smallvec![Spec::new(shape, inputs[0].dtype)])
    }

    fn vjp(&self, at: &At<'_>, cotangents: &[Array]) -> Result<Vec<Option<Array>>> {
        let (x, indices) = (&at.inputs[0], &at.inputs[1..]);
        let mut all = vec![None; at.inputs.len()];
        if at.wanted[0] {
            let zeros = zeros_like(x)?;
            all[0] = Some(scatter::scatter_add(&zeros, indices, &cotangents[0], &self.signed_axes())?);
        }
        Ok(all)
    }

    fn jvp(&self, at: &At<'_>, tangents: &[Option<Array>]) -> Result<Vec<Array>> {
        match &tangents[0] {
            Some(tangent) => Ok(vec![self.of(tangent, &at.inputs[1..])?]),
            None => Ok(vec![zeros_like(&at.outputs[0])?]),
        }
    }

    fn vmap(&self, inputs: &[Array], axes: &[Option<usize>]) -> Result<Vec<(Array, Option<usize>)>> {
        let (result, axis) = rules::mapped_gather(self, inputs, axes)?;
        Ok(vec![(result, axis)])
    }

    fn lower(&self, place: &Place<'_>) -> Lowering<'_> {
        match place.device {
            DeviceKind::Cpu => Lowering::Host(self),
            DeviceKind::Gpu => Lowering::Kernels(self),
        }
    }
}

impl Kernels for Gather {
    fn launch(&self, site: &mut Site<'_>) -> Result<()> {
        let from = site.input(0)?;
        let indices = index_places(site)?;
        let to = site.output(0);
        let layouts: Vec<&Layout> = indices.iter().map(|index| &index.layout).collect();
        let walk = self.walk(&to.layout, &from.layout, &layouts);
        gpu::launch(site, &walk, &from, &indices, &to)
    }
}

/// Where the index arrays after the first input lie.
pub(crate) fn index_places(site: &mut Site<'_>) -> Result<Vec<Placed>> {
    (1..site.input_specs.len()).map(|i| site.input(i)).collect()
}

impl Host for Gather {
    fn run(&self, site: &mut HostSite<'_>) -> Result<()> {
        let (from, indices) = site.inputs.split_first().expect("the array comes first");
        let layouts: Vec<&Layout> = indices.iter().map(|index| &index.layout).collect();
        let walk = self.walk(&Layout::contiguous(&site.outputs[0].spec.shape), &from.layout, &layouts);
        cpu::gather(&walk, from, indices, site.outputs[0].bytes);
        Ok(())
    }
}

/// Refuses shapes of more elements than memory can be counted in.
pub(crate) fn within_memory(op: &str, shape: &[i32]) -> Result<()> {
    let size = shape.iter().try_fold(1i64, |size, &n| size.checked_mul(n as i64));
    match size {
        Some(size) if size <= i64::MAX / 16 => Ok(()),
        _ => Err(Error::Value(format!("[{op}] the result must fit into memory but has shape {}.", display(shape)))),
    }
}

pub(super) fn entries() -> Vec<Entry> {
    let index = |shape: &[i32], n: f64| Sample::within(shape, -n, n - 0.01).of(Dtype::I32);
    let case = |name: &str, x: &[i32], indices: Vec<Sample>, axes: &'static [i32], sizes: &'static [i32]| Case {
        name: name.into(),
        inputs: std::iter::once(Sample::new(x)).chain(indices).collect(),
        dtypes: &Dtype::ALL,
        call: Box::new(move |x| Ok(vec![gather(&x[0], &x[1..], axes, sizes)?])),
        differentiable: true,
    };
    let gather = Entry {
        name: "gather",
        doc: "Parts that begin where index arrays point.",
        cases: vec![
            case("rows", &[5, 4], vec![index(&[3], 5.0)], &[0], &[1, 4]),
            case("columns", &[3, 6], vec![index(&[2, 2], 6.0)], &[1], &[3, 1]),
            case("two axes", &[3, 4, 5], vec![index(&[2, 1], 3.0), index(&[3], 5.0)], &[0, 2], &[1, 2, 1]),
            case("one element", &[7], vec![index(&[], 7.0)], &[0], &[1]),
            case("no indices", &[5, 4], vec![index(&[0], 5.0)], &[0], &[1, 4]),
            case("empty part", &[5, 4], vec![index(&[2], 5.0)], &[0], &[1, 0]),
        ],
    };
    [vec![gather], take::entries(), along_axis::entries()].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests;
