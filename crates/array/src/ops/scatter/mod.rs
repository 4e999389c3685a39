//! Elements written by index: `scatter` and its accumulating forms, and `put_along_axis`.
//!
//! `scatter(x, indices, updates, axes)` is `x` with parts replaced: at every position of the index arrays, a part of
//! `updates` is written to where the indices point along their axes. Negative indices count from the end, and what
//! would be written outside is dropped. Where several updates meet, one wins, or all accumulate.

mod combine;
mod cpu;
mod gpu;
mod rules;

pub(crate) use combine::Combine;

use smallvec::{SmallVec, smallvec};

use crate::array::{Array, call_one};
use crate::device::DeviceKind;
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::eval::site::{HostSite, Site};
use crate::op::{At, Host, Kernels, Key, Lowering, Op, Place, Specs};
use crate::ops::astype::astype;
use crate::ops::broadcast_to::broadcast_to;
use crate::ops::catalogue::{Case, Entry, Sample};
use crate::ops::gather::{self, Walk};
use crate::ops::views::{flatten, reshape};
use crate::shape::{Layout, Shape, Spec, display, normalize_axis};

/// Makes a public function of each way to combine.
macro_rules! scatters {
    ($(#[doc = $doc:literal] $name:ident $combine:ident;)*) => {$(
        #[doc = $doc]
        pub fn $name(x: &Array, indices: &[Array], updates: &Array, axes: &[i32]) -> Result<Array> {
            scatter_by(Combine::$combine, x, indices, updates, axes)
        }
    )*};
}
scatters! {
    /// The array with parts replaced by updates.
    scatter Replace;
    /// The array with updates added to its parts.
    scatter_add Add;
    /// The array with its parts multiplied by updates.
    scatter_prod Multiply;
    /// The larger of updates and the array's parts.
    scatter_max Max;
    /// The smaller of updates and the array's parts.
    scatter_min Min;
}

/// Scatters by any of the ways to combine.
pub(crate) fn scatter_by(
    combine: Combine,
    x: &Array,
    indices: &[Array],
    updates: &Array,
    axes: &[i32],
) -> Result<Array> {
    let name = combine.name();
    let axes = gather::axes_of(name, x, indices, axes)?;
    let indices = gather::indices_together(name, indices)?;
    let positions = indices.first().map_or(&[][..], Array::shape);
    let parts = updates.shape().strip_prefix(positions).filter(|parts| parts.len() == x.ndim());
    let Some(parts) = parts else {
        let [updates, positions, x] = [updates.shape(), positions, x.shape()].map(display);
        return Err(Error::Value(format!(
            "[{name}] updates must have the axes of the indices, {positions}, and those of a part of the array, {x}, \
             but have {updates}."
        )));
    };
    let too_long = parts.iter().zip(x.shape()).find(|(part, n)| part > n);
    if let Some((part, n)) = too_long.filter(|_| updates.size() > 0) {
        return Err(Error::Value(format!("[{name}] parts must be at most {n} along their axis but one is {part}.")));
    }
    let inputs = std::iter::once(x.clone()).chain(indices).chain([astype(updates, x.dtype())?]);
    call_one(Scatter { combine, pointing: Pointing::Parts(axes) }, inputs)
}

/// The array with the elements at indices along an axis replaced by values, which broadcast with the indices. Without
/// an axis, of the flattened array.
pub fn put_along_axis(x: &Array, indices: &Array, values: &Array, axis: Option<i32>) -> Result<Array> {
    let Some(axis) = axis else {
        let flat = put_along_axis(&flatten(x, 0, -1)?, indices, values, Some(0))?;
        return reshape(&flat, x.shape());
    };
    let axis = normalize_axis("put_along_axis", axis, x.ndim())?;
    scatter_along_axis(Combine::Replace, x, indices, values, axis)
}

/// The array combined with values at indices along an axis.
pub(crate) fn scatter_along_axis(
    combine: Combine,
    x: &Array,
    indices: &Array,
    values: &Array,
    axis: usize,
) -> Result<Array> {
    const NAME: &str = "put_along_axis";
    let shape = crate::shape::broadcast(NAME, indices.shape(), values.shape())?;
    gather::integers(NAME, indices)?;
    if indices.ndim() != x.ndim() || shape.len() != x.ndim() {
        let [x, indices] = [x.shape(), indices.shape()].map(display);
        return Err(Error::Value(format!(
            "[{NAME}] indices must have as many axes as the array, {x}, but have {indices}."
        )));
    }
    if x.shape()[axis] == 0 && indices.size() > 0 {
        return Err(Error::Value(format!("[{NAME}] the axis must have elements to be indexed but is empty.")));
    }
    // Along the other axes indices and values repeat to cover the array.
    let mut whole = Shape::from_slice(x.shape());
    whole[axis] = shape[axis];
    let indices = broadcast_to(indices, &whole)?;
    let values = broadcast_to(&astype(values, x.dtype())?, &whole)?;
    call_one(Scatter { combine, pointing: Pointing::Along(axis) }, [x.clone(), indices, values])
}

/// Where indices point.
#[derive(Clone, Debug)]
enum Pointing {
    /// To parts, along these axes.
    Parts(SmallVec<[usize; 2]>),
    /// To elements along this axis.
    Along(usize),
}

/// Scatters; inputs are the array, the index arrays, of one shape and type, and the updates, of the array's type.
#[derive(Clone, Debug)]
struct Scatter {
    combine: Combine,
    pointing: Pointing,
}

impl Scatter {
    fn walk(&self, updates: &Layout, array: &Layout, indices: &[&Layout]) -> Walk {
        match &self.pointing {
            Pointing::Parts(axes) => {
                let sizes = &updates.shape[updates.shape.len() - array.shape.len()..];
                Walk::parts(updates, array, indices, axes, sizes)
            }
            Pointing::Along(axis) => Walk::along_axis(updates, array, indices[0], *axis),
        }
    }
}

impl Op for Scatter {
    fn name(&self) -> &'static str {
        self.combine.name()
    }

    fn key(&self, key: &mut Key) {
        match &self.pointing {
            Pointing::Parts(axes) => axes.iter().for_each(|&axis| key.word(axis as u64)),
            Pointing::Along(axis) => key.word((1 << 32) | *axis as u64),
        }
    }

    fn infer(&self, inputs: &[&Spec]) -> Result<Specs> {
        Ok(smallvec![inputs[0].clone()])
    }

    fn vjp(&self, at: &At<'_>, cotangents: &[Array]) -> Result<Vec<Option<Array>>> {
        rules::vjp(self, at, &cotangents[0])
    }

    fn jvp(&self, at: &At<'_>, tangents: &[Option<Array>]) -> Result<Vec<Array>> {
        Ok(vec![rules::jvp(self, at, tangents)?])
    }

    fn vmap(&self, inputs: &[Array], axes: &[Option<usize>]) -> Result<Vec<(Array, Option<usize>)>> {
        Ok(vec![rules::vmap(self, inputs, axes)?])
    }

    fn lower(&self, place: &Place<'_>) -> Lowering<'_> {
        match place.device {
            DeviceKind::Cpu => Lowering::Host(self),
            DeviceKind::Gpu => Lowering::Kernels(self),
        }
    }
}

impl Kernels for Scatter {
    fn launch(&self, site: &mut Site<'_>) -> Result<()> {
        let last = site.input_specs.len() - 1;
        let to = gpu::Destination::new(site, self.combine)?;
        let updates = site.input(last)?;
        let indices = (1..last).map(|i| site.input(i)).collect::<Result<Vec<_>>>()?;
        if updates.layout.size() > 0 {
            let layouts: Vec<&Layout> = indices.iter().map(|index| &index.layout).collect();
            let walk = self.walk(&updates.layout, &to.place().layout, &layouts);
            gpu::launch(site, self.combine, &walk, &updates, &indices, to.place())?;
        }
        to.finish(site)
    }
}

impl Host for Scatter {
    fn run(&self, site: &mut HostSite<'_>) -> Result<()> {
        let (updates, rest) = site.inputs.split_last().expect("the updates come last");
        let (x, indices) = rest.split_first().expect("the array comes first");
        let layouts: Vec<&Layout> = indices.iter().map(|index| &index.layout).collect();
        let walk = self.walk(&updates.layout, &Layout::contiguous(&x.layout.shape), &layouts);
        let to = &mut *site.outputs[0].bytes;
        gather::copy_on_host(x, to);
        cpu::scatter(self.combine, &walk, updates, indices, to);
        Ok(())
    }
}

pub(super) fn entries() -> Vec<Entry> {
    let mut all: Vec<Entry> = Combine::ALL.into_iter().map(entry).collect();
    let case = |name: &str, x: &[i32], indices: &[i32], values: &[i32], n: f64, axis: Option<i32>| Case {
        name: name.into(),
        inputs: vec![Sample::new(x), Sample::within(indices, 0.0, n - 0.01).of(Dtype::I32), Sample::new(values)],
        dtypes: &Dtype::ALL,
        call: Box::new(move |x| Ok(vec![put_along_axis(&x[0], &x[1], &x[2], axis)?])),
        differentiable: true,
    };
    // One index along the axis: with several the winner would be left to chance.
    let cases = vec![
        case("last axis", &[3, 5], &[3, 1], &[3, 1], 5.0, Some(-1)),
        case("first axis", &[5, 3], &[1, 3], &[], 5.0, Some(0)),
        case("flattened", &[2, 5], &[1], &[1], 10.0, None),
        case("empty", &[2, 5], &[2, 0], &[2, 0], 5.0, Some(1)),
    ];
    all.push(Entry { name: "put_along_axis", doc: "Along an axis, the elements at indices replaced.", cases });
    all
}

fn entry(combine: Combine) -> Entry {
    let case = |name: &str, x: &[i32], index: &[i32], updates: &[i32], n: f64, axis: i32| Case {
        name: name.into(),
        inputs: vec![Sample::new(x), Sample::within(index, -n, n - 0.01).of(Dtype::I32), Sample::new(updates)],
        dtypes: &Dtype::ALL,
        call: Box::new(move |x| Ok(vec![scatter_by(combine, &x[0], &x[1..2], &x[2], &[axis])?])),
        differentiable: matches!(combine, Combine::Replace | Combine::Add),
    };
    let many = if combine == Combine::Replace { 1 } else { 4 };
    let cases = vec![
        case("rows", &[5, 4], &[many], &[many, 1, 4], 5.0, 0),
        case("columns", &[3, 6], &[many, 1], &[many, 1, 2, 1], 6.0, 1),
        case("one element", &[7], &[], &[1], 7.0, 0),
        case("empty", &[5, 4], &[0], &[0, 1, 4], 5.0, 0),
    ];
    Entry { name: combine.name(), doc: combine.doc(), cases }
}

#[cfg(test)]
mod tests;
