//! `argmin` and `argmax`: where the smallest or largest element is. Of equal ones the first, and NaN before all.

mod cpu;
mod gpu;

use smallvec::smallvec;

use crate::array::{Array, call_one};
use crate::device::DeviceKind;
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::eval::site::{HostSite, Site};
use crate::op::{Accepts, At, Host, Kernels, Key, Lowering, Op, Place, Sizes, Specs, expect_inputs};
use crate::ops::catalogue::{Case, Entry, Sample};
use crate::ops::full::zeros_like;
use crate::ops::reduce::axes::Order;
use crate::ops::reduce::{AxisList, axes_of, beside_mapped, leading_axes, reduced_shape};
use crate::shape::Spec;

/// Where along an axis the least element is; counted over the whole array if no axis is given.
pub fn argmin(x: &Array, axis: Option<i32>, keepdims: bool) -> Result<Array> {
    apply(Wanted::Least, x, axis, keepdims)
}

/// Where along an axis the greatest element is; counted over the whole array if no axis is given.
pub fn argmax(x: &Array, axis: Option<i32>, keepdims: bool) -> Result<Array> {
    apply(Wanted::Greatest, x, axis, keepdims)
}

/// Which element is looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wanted {
    Least,
    Greatest,
}

fn apply(wanted: Wanted, x: &Array, axis: Option<i32>, keepdims: bool) -> Result<Array> {
    let mut op = ArgReduce { wanted, axes: AxisList::new(), keepdims };
    op.refuse_empty(x.spec())?;
    let axis = axis.map(|axis| [axis]);
    op.axes = axes_of(op.name(), x, axis.as_ref().map(|axis| &axis[..]))?;
    call_one(op, [x.clone()])
}

#[derive(Debug)]
struct ArgReduce {
    wanted: Wanted,
    axes: AxisList,
    keepdims: bool,
}

impl ArgReduce {
    fn refuse_empty(&self, x: &Spec) -> Result<()> {
        if x.size() > 0 {
            return Ok(());
        }
        let (name, shape) = (self.name(), crate::shape::display(&x.shape));
        Err(Error::Value(format!("[{name}] x must have elements but has shape {shape}.")))
    }
}

impl Op for ArgReduce {
    fn name(&self) -> &'static str {
        match self.wanted {
            Wanted::Least => "argmin",
            Wanted::Greatest => "argmax",
        }
    }

    fn key(&self, key: &mut Key) {
        self.axes.iter().for_each(|&axis| key.word(axis as u64));
        key.word(self.keepdims as u64);
    }

    fn infer(&self, inputs: &[&Spec]) -> Result<Specs> {
        let [x] = expect_inputs(self.name(), inputs)?;
        self.refuse_empty(&x)?;
        Ok(smallvec![Spec::new(reduced_shape(&x.shape, &self.axes, self.keepdims), Dtype::U32)])
    }

    fn vjp(&self, _: &At<'_>, _: &[Array]) -> Result<Vec<Option<Array>>> {
        Ok(vec![None])
    }

    fn jvp(&self, at: &At<'_>, _: &[Option<Array>]) -> Result<Vec<Array>> {
        Ok(vec![zeros_like(&at.outputs[0])?])
    }

    fn vmap(&self, inputs: &[Array], axes: &[Option<usize>]) -> Result<Vec<(Array, Option<usize>)>> {
        let (along, mapped) = beside_mapped(&self.axes, axes[0], self.keepdims);
        let op = ArgReduce { wanted: self.wanted, axes: along, keepdims: self.keepdims };
        Ok(vec![(call_one(op, [inputs[0].clone()])?, mapped)])
    }

    fn sizes(&self) -> Sizes {
        Sizes::Any
    }

    fn lower(&self, place: &Place<'_>) -> Lowering<'_> {
        match place.device {
            DeviceKind::Cpu => Lowering::Host(self),
            DeviceKind::Gpu => Lowering::Kernels(self),
        }
    }
}

impl Kernels for ArgReduce {
    fn launch(&self, site: &mut Site<'_>) -> Result<()> {
        let combiner = gpu::Finder { wanted: self.wanted, dtype: site.input_spec(0).dtype };
        crate::ops::reduce::gpu::launch(&combiner, site, &self.axes, Order::Kept)
    }

    fn accepts(&self) -> Accepts {
        Accepts { before: true, after: true }
    }
}

impl Host for ArgReduce {
    fn run(&self, site: &mut HostSite<'_>) -> Result<()> {
        cpu::run(self.wanted, site, &self.axes);
        Ok(())
    }

    fn row_axes(&self, place: &Place<'_>) -> Option<usize> {
        leading_axes(&self.axes, place.inputs[0])
    }
}

pub(super) fn entries() -> Vec<Entry> {
    type Call = fn(&Array, Option<i32>, bool) -> Result<Array>;
    let case = |call: Call, shape: &[i32], axis: Option<i32>| Case {
        name: format!("{shape:?} along {axis:?}"),
        inputs: vec![Sample::new(shape)],
        dtypes: &Dtype::ALL,
        call: Box::new(move |x| Ok(vec![call(&x[0], axis, false)?])),
        differentiable: false,
    };
    let entry = |name, doc, call: Call| Entry {
        name,
        doc,
        cases: vec![
            case(call, &[3, 37], Some(-1)),
            case(call, &[37, 3], Some(0)),
            case(call, &[4, 5, 6], None),
            case(call, &[], None),
        ],
    };
    vec![
        entry("argmin", "Where along an axis the least element is.", argmin),
        entry("argmax", "Where along an axis the greatest element is.", argmax),
    ]
}
