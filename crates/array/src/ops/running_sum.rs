//! `running_sum(x)`: along the last axis, the sum of all elements before each. Masks are counted by it, and chances
//! added up.

use pumice_kernel::arguments::Argument;
use pumice_kernel::{Kernel, Val};
use smallvec::smallvec;

use crate::array::{Array, call_one};
use crate::device::DeviceKind;
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::eval::site::{HostSite, Site};
use crate::launch::fold_groups;
use crate::op::{At, Host, Kernels, Key, Lowering, Op, Place, Specs, expect_inputs};
use crate::ops::full::zeros_like;
use crate::ops::views::moveaxis;
use crate::shape::Spec;
use crate::typed::{Typed, constant};

/// Along the last axis, the sums of what comes before: of bools as int32, of float32 as it is.
pub(crate) fn running_sum(x: &Array) -> Result<Array> {
    call_one(RunningSum, [x.clone()])
}

#[derive(Debug)]
struct RunningSum;

impl Op for RunningSum {
    fn name(&self) -> &'static str {
        "running_sum"
    }

    fn key(&self, _: &mut Key) {}

    fn infer(&self, inputs: &[&Spec]) -> Result<Specs> {
        let [x] = expect_inputs(self.name(), inputs)?;
        match x.dtype {
            _ if x.ndim() == 0 => Err(Error::Value("[running_sum] the array must have an axis but has none.".into())),
            Dtype::Bool => Ok(smallvec![x.with_dtype(Dtype::I32)]),
            Dtype::F32 => Ok(smallvec![x]),
            other => Err(Error::Type(format!("[running_sum] the elements must be bool or float32 but are {other}."))),
        }
    }

    fn vjp(&self, at: &At<'_>, _: &[Array]) -> Result<Vec<Option<Array>>> {
        match at.inputs[0].dtype() {
            Dtype::Bool => Ok(vec![None]),
            _ => Err(Error::Value("[vjp] running_sum must have a rule for it but has none.".into())),
        }
    }

    fn jvp(&self, at: &At<'_>, tangents: &[Option<Array>]) -> Result<Vec<Array>> {
        match (&tangents[0], at.outputs[0].dtype()) {
            (Some(tangent), Dtype::F32) => Ok(vec![running_sum(tangent)?]),
            _ => Ok(vec![zeros_like(&at.outputs[0])?]),
        }
    }

    fn vmap(&self, inputs: &[Array], axes: &[Option<usize>]) -> Result<Vec<(Array, Option<usize>)>> {
        let x = match axes[0] {
            Some(axis) => moveaxis(&inputs[0], axis as i32, 0)?,
            None => inputs[0].clone(),
        };
        Ok(vec![(running_sum(&x)?, axes[0].map(|_| 0))])
    }

    fn lower(&self, place: &Place<'_>) -> Lowering<'_> {
        match place.device {
            DeviceKind::Cpu => Lowering::Host(self),
            DeviceKind::Gpu => Lowering::Kernels(self),
        }
    }
}

impl Host for RunningSum {
    fn run(&self, site: &mut HostSite<'_>) -> Result<()> {
        let x = &site.inputs[0];
        let n = (*x.layout.shape.last().expect("it has an axis")).max(1) as usize;
        match x.dtype {
            Dtype::Bool => {
                let values: Vec<i32> = x.offsets().map(|at| x.bytes()[at] as i32).collect();
                sum_rows(&values, site.outputs[0].elements(), n, 0);
            }
            _ => sum_rows(&x.to_vec::<f32>(), site.outputs[0].elements(), n, 0.0),
        }
        Ok(())
    }
}

fn sum_rows<T: Copy + std::ops::Add<Output = T>>(values: &[T], sums: &mut [T], n: usize, zero: T) {
    for (values, sums) in values.chunks(n).zip(sums.chunks_mut(n)) {
        let mut before = zero;
        for (&value, sum) in values.iter().zip(sums) {
            *sum = before;
            before = before + value;
        }
    }
}

/// Invocations per workgroup.
const WORKGROUP: u32 = 256;
/// Neighbouring elements that an invocation adds up on its own.
const EACH: i32 = 8;

/// A workgroup a row: it sums one stretch of it after the other.
impl Kernels for RunningSum {
    fn launch(&self, site: &mut Site<'_>) -> Result<()> {
        let (x, sums) = (site.contiguous(0)?, site.output(0));
        let n = *sums.layout.shape.last().expect("it has an axis");
        let rows = sums.layout.size() / n.max(1) as usize;
        let mut key = Key::default();
        key.name("running_sum");
        key.word(x.dtype as u64);
        let scalars = [Argument::I64(rows as i64), Argument::I64(n as i64)];
        let (from, to) = (x.dtype, sums.dtype);
        site.launch(&key, || kernel(from, to), fold_groups(rows as u64), &[&x, &sums], &scalars)
    }
}

fn kernel(from: Dtype, to: Dtype) -> Result<Kernel> {
    Ok(Kernel::build("running_sum", [WORKGROUP, 1, 1], |k| {
        let (x, sums) = (k.input("x", from.elem()), k.output("sums", to.elem()));
        let (rows, n) = (k.arg_i64("rows"), k.arg_i64("n"));
        let shared = k.shared("shared", to.elem(), WORKGROUP);
        let (row, own) = (k.group_index().to_u(pumice_kernel::Scalar::I64), k.local_index());
        let zero = constant(k, to, 0.0).val;
        k.when(row.lt(rows), || {
            k.for_(0, n, WORKGROUP as i32 * EACH, zero, |first, before| {
                let at = first + own.to_u(pumice_kernel::Scalar::I64) * EACH;
                let load = |i: i32| {
                    let load = || Typed::new(x.load(row * n + at + i), from).to(to).val;
                    k.if_((at + i).lt(n), load, || zero)
                };
                let values: Vec<Val> = (0..EACH).map(load).collect();
                let mine = values.iter().copied().reduce(|a, b| a + b).expect("there are some");
                // Sums of twice as many invocations each time.
                let mut upto = mine;
                for step in (0..8).map(|i| 1 << i) {
                    shared.store(own, upto);
                    k.barrier();
                    let left = k.if_(own.ge(step), || shared.load(own - step), || zero);
                    upto = upto + left;
                    k.barrier();
                }
                shared.store(own, upto);
                k.barrier();
                let whole = shared.load(WORKGROUP as i32 - 1);
                let left = k.if_(own.gt(0), || shared.load(own - 1), || zero);
                let mut sum = before + left;
                for (i, &value) in values.iter().enumerate() {
                    k.when((at + i as i32).lt(n), || sums.store(row * n + at + i as i32, sum));
                    sum = sum + value;
                }
                k.barrier();
                before + whole
            });
        });
    })?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::views::tests::on_each_device;

    #[test]
    fn sums_run_along_every_row() {
        on_each_device(|| {
            for n in [1, 5, 256, 2048, 5000] {
                let values: Vec<f32> = (0..3 * n).map(|i| (i % 7) as f32).collect();
                let x = Array::from_slice(&values, &[3, n]).expect("three rows");
                let sums = running_sum(&x).expect("it sums").to_vec::<f32>().expect("floats");
                for (values, sums) in values.chunks(n as usize).zip(sums.chunks(n as usize)) {
                    let mut before = 0.0;
                    for (value, &sum) in values.iter().zip(sums) {
                        assert_eq!(sum, before, "{n}");
                        before += value;
                    }
                }
            }
        });
    }
}
