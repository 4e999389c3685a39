//! Arrays made from rules: ranges, grids, triangles, diagonals.

mod diagonal;
mod grid;
mod linspace;
mod meshgrid;
mod triangle;

pub use diagonal::{diag, diagonal};
pub use grid::{eye, identity, tri};
pub use linspace::linspace;
pub use meshgrid::{Indexing, meshgrid};
pub use triangle::{tril, triu};

use bytemuck::Zeroable;
use half::{bf16, f16};
use smallvec::smallvec;

use crate::array::{Array, call_one};
use crate::device::DeviceKind;
use crate::dtype::{Complex64, Dtype, Element as Stored};
use crate::error::{Error, Result};
use crate::eval::site::HostSite;
use crate::op::{Element, Host, Key, Lowering, Map, Op, Place, Specs, expect_inputs};
use crate::ops::broadcast_to::broadcast_to;
use crate::ops::catalogue::{Case, Entry};
use crate::scalar::{Operand, Weak};
use crate::shape::Spec;
use crate::typed::Typed;
use crate::typed_bits::bits;

/// The numbers `start, start + step, …` before `stop`: int32 of whole numbers and float32 of others, unless a type is
/// given.
pub fn arange(start: impl Operand, stop: impl Operand, step: impl Operand, dtype: Option<Dtype>) -> Result<Array> {
    let given = [start.operand(), stop.operand(), step.operand()];
    let dtype = dtype.unwrap_or_else(|| default_dtype(&given));
    let [start, stop, step] = given.map(|weak| number("arange", &weak));
    let (start, stop, step) = (start?, stop?, step?);
    if dtype == Dtype::Bool {
        return Err(Error::Value("[arange] the type must be a number's but is bool.".into()));
    }
    let n = length(start, stop, step)?;
    let first = bits(start, dtype);
    // The step is what lies between the first two elements as the type has them.
    let between = bits(value(bits(start + step, dtype), dtype) - value(first, dtype), dtype);
    let inputs = [first, between].map(|bits| broadcast_to(&Array::from_bits(bits, dtype), &[n]));
    let [first, between] = inputs;
    call_one(Arange, [first?, between?])
}

fn length(start: f64, stop: f64, step: f64) -> Result<i32> {
    if step == 0.0 {
        return Err(Error::Value("[arange] step must not be zero but is.".into()));
    }
    let n = ((stop - start) / step).ceil();
    match n {
        _ if n.is_nan() || stop.is_infinite() || start.is_infinite() => {
            Err(Error::Value(format!("[arange] start and stop must be finite but are {start} and {stop}.")))
        }
        _ if n > i32::MAX as f64 => {
            Err(Error::Value(format!("[arange] there must be at most {} numbers but are {n}.", i32::MAX)))
        }
        _ => Ok(n.max(0.0) as i32),
    }
}

fn default_dtype(given: &[Weak<'_>]) -> Dtype {
    let whole = given.iter().map(|weak| match weak {
        Weak::Int(n) => Some(i32::try_from(*n).is_ok()),
        _ => None,
    });
    match whole.collect::<Option<Vec<bool>>>() {
        Some(fits) if fits.iter().all(|&fits| fits) => Dtype::I32,
        Some(_) => Dtype::I64,
        None => Dtype::F32,
    }
}

/// A plain number, or the user's error.
fn number(op: &str, weak: &Weak<'_>) -> Result<f64> {
    match *weak {
        Weak::Int(n) => Ok(n as f64),
        Weak::Float(x) => Ok(x),
        _ => Err(Error::Type(format!("[{op}] start, stop and step must be numbers but one is {weak:?}."))),
    }
}

/// The number that bits are.
fn value(bits: u64, dtype: Dtype) -> f64 {
    match dtype {
        Dtype::F16 => f16::from_bits(bits as u16).to_f64(),
        Dtype::BF16 => bf16::from_bits(bits as u16).to_f64(),
        Dtype::F32 | Dtype::C64 => f32::from_bits(bits as u32) as f64,
        Dtype::F64 => f64::from_bits(bits),
        Dtype::I8 => bits as i8 as f64,
        Dtype::I16 => bits as i16 as f64,
        Dtype::I32 => bits as i32 as f64,
        Dtype::I64 => bits as i64 as f64,
        _ => bits as f64,
    }
}

/// `first + i · step`, of a first element and a step repeated along the result.
#[derive(Debug)]
struct Arange;

impl Op for Arange {
    fn name(&self) -> &'static str {
        "arange"
    }

    fn key(&self, _: &mut Key) {}

    fn infer(&self, inputs: &[&Spec]) -> Result<Specs> {
        let [first, _step] = expect_inputs(self.name(), inputs)?;
        Ok(smallvec![first])
    }

    fn lower(&self, place: &Place<'_>) -> Lowering<'_> {
        // On the CPU MLX adds the step again and again, and rounds every time; on the GPU it multiplies.
        match place.device {
            DeviceKind::Cpu if place.outputs[0].dtype.is_inexact() => Lowering::Host(self),
            _ => Lowering::Map(self),
        }
    }
}

impl Map for Arange {
    fn map<'k>(&self, at: &Element<'k>, inputs: &[Typed<'k>]) -> Typed<'k> {
        let [first, step] = [inputs[0], inputs[1]];
        match at.dtype {
            // Rounded once: an index beyond 2048 is no f16.
            Dtype::F16 | Dtype::BF16 => {
                let index = Typed::new(at.index, Dtype::I64).to(Dtype::F32).val;
                Typed::rounded(first.val + index * step.val, at.dtype)
            }
            dtype => first + Typed::new(at.index, Dtype::I64).to(dtype) * step,
        }
    }
}

impl Host for Arange {
    fn run(&self, site: &mut HostSite<'_>) -> Result<()> {
        match site.outputs[0].spec.dtype {
            Dtype::F16 => accumulate(site, |a: f16, b| a + b),
            Dtype::BF16 => accumulate(site, |a: bf16, b| a + b),
            Dtype::F32 => accumulate(site, |a: f32, b| a + b),
            Dtype::F64 => accumulate(site, |a: f64, b| a + b),
            _ => accumulate(site, |a: Complex64, b| Complex64 { re: a.re + b.re, im: a.im + b.im }),
        }
        Ok(())
    }
}

fn accumulate<T: Stored + Zeroable>(site: &mut HostSite<'_>, add: impl Fn(T, T) -> T) {
    let [mut next, step] =
        [0, 1].map(|i| site.inputs[i].offsets().next().map_or(T::zeroed(), |at| site.inputs[i].memory::<T>()[at]));
    for element in site.outputs[0].elements::<T>() {
        *element = next;
        next = add(next, step);
    }
}

pub(super) fn entries() -> Vec<Entry> {
    let case = |name: &str, dtype: Dtype, start: f64, stop: f64, step: f64| Case {
        name: format!("{name}, {dtype}"),
        inputs: Vec::new(),
        dtypes: &[Dtype::F32],
        call: Box::new(move |_| Ok(vec![arange(start, stop, step, Some(dtype))?])),
        differentiable: false,
    };
    let cases = Dtype::ALL.into_iter().filter(|&dtype| dtype != Dtype::Bool).flat_map(|dtype| {
        [case("up", dtype, 2.0, 60.0, 3.0), case("down", dtype, 50.0, 0.0, -2.5), case("empty", dtype, 1.0, 0.0, 1.0)]
    });
    let arange = Entry { name: "arange", doc: "Numbers a step apart.", cases: cases.collect() };
    let others = [linspace::entries(), grid::entries(), triangle::entries(), diagonal::entries(), meshgrid::entries()];
    std::iter::once(arange).chain(others.into_iter().flatten()).collect()
}

#[cfg(test)]
mod tests;
