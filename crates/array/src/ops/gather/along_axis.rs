//! `take_along_axis(x, indices, axis)`: along an axis, the elements at indices that differ from place to place.

use smallvec::smallvec;

use super::walk::Walk;
use super::{cpu, gpu, integers};
use crate::array::{Array, call_one};
use crate::device::DeviceKind;
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::eval::site::{HostSite, Site};
use crate::op::{At, Host, Kernels, Key, Lowering, Op, Place, Specs, expect_inputs};
use crate::ops::broadcast_to::broadcast_to;
use crate::ops::catalogue::{Case, Entry, Sample};
use crate::ops::full::zeros_like;
use crate::ops::scatter::{Combine, scatter_along_axis};
use crate::ops::views::flatten;
use crate::shape::{self, Layout, Shape, Spec, display, normalize_axis};
use crate::transforms::align_mapped;

/// Along an axis, the elements at indices. The other axes of the two arrays broadcast. Without an axis, of the
/// flattened array.
pub fn take_along_axis(x: &Array, indices: &Array, axis: Option<i32>) -> Result<Array> {
    let Some(axis) = axis else { return take_along_axis(&flatten(x, 0, -1)?, indices, Some(0)) };
    let axis = normalize_axis("take_along_axis", axis, x.ndim())?;
    let [x, indices] = fit("take_along_axis", [x, indices], axis)?;
    call_one(GatherAxis { axis }, [x, indices])
}

/// Arrays broadcast together along all axes but one.
pub(crate) fn fit<const N: usize>(op: &str, arrays: [&Array; N], axis: usize) -> Result<[Array; N]> {
    let [x, indices] = [arrays[0], arrays[1]];
    integers(op, indices)?;
    if indices.ndim() != x.ndim() {
        let (given, wanted) = (indices.ndim(), x.ndim());
        return Err(Error::Value(format!("[{op}] indices must have {wanted} axes, as the array, but have {given}.")));
    }
    if x.shape()[axis] == 0 && indices.size() > 0 {
        return Err(Error::Value(format!("[{op}] the axis must have elements to be indexed but is empty.")));
    }
    let mut common = Shape::new();
    for array in arrays {
        let mut shape = Shape::from_slice(array.shape());
        let last = shape.len() + axis - x.ndim();
        shape[last] = 1;
        common = shape::broadcast(op, &common, &shape)?;
    }
    let broadcast = |array: &Array| {
        let mut shape = common.clone();
        shape[axis] = array.shape()[array.ndim() + axis - x.ndim()];
        broadcast_to(array, &shape)
    };
    let all = arrays.iter().map(|&array| broadcast(array)).collect::<Result<Vec<Array>>>()?;
    Ok(all.try_into().expect("as many as were given"))
}

/// Takes along an axis; inputs are the array and the indices, of one shape but for the axis.
#[derive(Debug)]
struct GatherAxis {
    axis: usize,
}

impl Op for GatherAxis {
    fn name(&self) -> &'static str {
        "take_along_axis"
    }

    fn key(&self, key: &mut Key) {
        key.word(self.axis as u64);
    }

    fn infer(&self, inputs: &[&Spec]) -> Result<Specs> {
        let [x, indices] = expect_inputs(self.name(), inputs)?;
        let fits = (0..x.ndim()).all(|i| i == self.axis || x.shape[i] == indices.shape[i]);
        if !fits {
            let [x, indices] = [&x, &indices].map(|spec| display(&spec.shape));
            return Err(Error::Value(format!("[take_along_axis] shapes must agree but are {x} and {indices}.")));
        }
        Ok(smallvec![indices.with_dtype(x.dtype)])
    }

    fn vjp(&self, at: &At<'_>, cotangents: &[Array]) -> Result<Vec<Option<Array>>> {
        let zeros = zeros_like(&at.inputs[0])?;
        let x = scatter_along_axis(Combine::Add, &zeros, &at.inputs[1], &cotangents[0], self.axis)?;
        Ok(vec![Some(x), None])
    }

    fn jvp(&self, at: &At<'_>, tangents: &[Option<Array>]) -> Result<Vec<Array>> {
        match &tangents[0] {
            Some(tangent) => {
                Ok(vec![call_one(GatherAxis { axis: self.axis }, [tangent.clone(), at.inputs[1].clone()])?])
            }
            None => Ok(vec![zeros_like(&at.outputs[0])?]),
        }
    }

    fn vmap(&self, inputs: &[Array], axes: &[Option<usize>]) -> Result<Vec<(Array, Option<usize>)>> {
        let (inputs, mapped) = align_mapped(inputs, axes)?;
        let axis = self.axis + mapped.is_some_and(|mapped| mapped <= self.axis) as usize;
        Ok(vec![(call_one(GatherAxis { axis }, inputs)?, mapped)])
    }

    fn lower(&self, place: &Place<'_>) -> Lowering<'_> {
        match place.device {
            DeviceKind::Cpu => Lowering::Host(self),
            DeviceKind::Gpu => Lowering::Kernels(self),
        }
    }
}

impl Kernels for GatherAxis {
    fn launch(&self, site: &mut Site<'_>) -> Result<()> {
        let (from, indices, to) = (site.input(0)?, site.input(1)?, site.output(0));
        let walk = Walk::along_axis(&to.layout, &from.layout, &indices.layout, self.axis);
        gpu::launch(site, &walk, &from, &[indices], &to)
    }
}

impl Host for GatherAxis {
    fn run(&self, site: &mut HostSite<'_>) -> Result<()> {
        let (from, indices) = site.inputs.split_first().expect("the array comes first");
        let to = Layout::contiguous(&site.outputs[0].spec.shape);
        let walk = Walk::along_axis(&to, &from.layout, &indices[0].layout, self.axis);
        cpu::gather(&walk, from, indices, site.outputs[0].bytes);
        Ok(())
    }
}

pub(super) fn entries() -> Vec<Entry> {
    let case = |name: &str, x: &[i32], indices: &[i32], n: f64, axis: Option<i32>| Case {
        name: name.into(),
        inputs: vec![Sample::new(x), Sample::within(indices, -n, n - 0.01).of(Dtype::I32)],
        dtypes: &Dtype::ALL,
        call: Box::new(move |x| Ok(vec![take_along_axis(&x[0], &x[1], axis)?])),
        differentiable: true,
    };
    let cases = vec![
        case("last axis", &[3, 5], &[3, 2], 5.0, Some(-1)),
        case("first axis", &[5, 3], &[7, 3], 5.0, Some(0)),
        case("broadcast", &[2, 5, 1], &[1, 2, 3], 5.0, Some(1)),
        case("flattened", &[2, 5], &[3], 10.0, None),
        case("empty", &[2, 5], &[2, 0], 5.0, Some(1)),
    ];
    vec![Entry { name: "take_along_axis", doc: "Along an axis, the elements at indices.", cases }]
}
