//! What an op is: a name, a shape rule, a meaning, rules for the transforms, and how it is computed.
//!
//! Evaluation knows only the seven ways of [`Lowering`], never which op it has. An op says what it means in simpler ops
//! (`decompose`), and everything else follows from that; it overrides a rule where it knows a better one. The basis, ops
//! without a meaning in others, must give all rules that are used.

use std::fmt::Debug;
use std::ops::Deref;
use std::sync::Arc;

use pumice_kernel::{Builder, Target, Val};
use smallvec::SmallVec;

use crate::array::{Array, call};
use crate::device::DeviceKind;
use crate::error::{Error, Result};
use crate::eval::site::{HostSite, Site};
use crate::shape::{Layout, Spec};
use crate::transforms;
use crate::transforms::program::Program;
use crate::typed::Typed;

/// Specs of an op's results; mostly one.
pub type Specs = SmallVec<[Spec; 1]>;

/// An operation on arrays. One value of it stands for one call's parameters (axes, a shape, a flag).
pub trait Op: Debug + Send + Sync + 'static {
    /// The op's name, as users and errors say it.
    fn name(&self) -> &'static str;

    /// Writes what distinguishes this op from others of the same name: its parameters. Two calls with equal keys and equal
    /// inputs are the same computation.
    fn key(&self, key: &mut Key);

    /// Writes what plans must know of it: the key, without the [starts](Op::starts).
    fn plan_key(&self, key: &mut Key) {
        self.key(key);
    }

    /// Where a view, or the one part of a write, begins along the axes of the first input, if plans ask for that when they run: a
    /// part that moves has one plan. The layouts that the op gives begin there as well.
    fn starts(&self) -> Option<Starts> {
        None
    }

    /// Shapes and types of the results, or the user's error.
    fn infer(&self, inputs: &[&Spec]) -> Result<Specs>;

    /// What it means in simpler ops; none for the basis.
    fn decompose(&self, inputs: &[Array]) -> Result<Option<Vec<Array>>> {
        let _ = inputs;
        Ok(None)
    }

    /// Cotangents of the inputs from those of the outputs; none where an input has no influence, or was not asked for.
    fn vjp(&self, at: &At<'_>, cotangents: &[Array]) -> Result<Vec<Option<Array>>> {
        transforms::vjp_of_meaning(self.name(), at, cotangents, &|inputs| self.decompose(inputs))
    }

    /// Tangents of the outputs from those of the inputs; none stands for zero.
    fn jvp(&self, at: &At<'_>, tangents: &[Option<Array>]) -> Result<Vec<Array>> {
        transforms::jvp_of_meaning(self.name(), at, tangents, &|inputs| self.decompose(inputs))
    }

    /// The op over inputs that have an extra axis where `axes` says so; gives the outputs and their extra axes.
    fn vmap(&self, inputs: &[Array], axes: &[Option<usize>]) -> Result<Vec<(Array, Option<usize>)>> {
        transforms::vmap_of_meaning(self.name(), inputs, axes, &|inputs| self.decompose(inputs))
    }

    /// What its parameters say of the sizes of its inputs.
    fn sizes(&self) -> Sizes {
        Sizes::Fixed
    }

    /// How it is computed there.
    fn lower(&self, place: &Place<'_>) -> Lowering<'_> {
        let _ = place;
        Lowering::Decompose
    }
}

/// What the parameters of an op say of the sizes of its inputs: functions that are compiled once for all shapes ask.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sizes {
    /// They hold sizes, or were made from them.
    Fixed,
    /// Nothing: it means the same for inputs of any sizes.
    Any,
    /// Nothing, and its inputs were broadcast to one shape.
    Together,
    /// That its input is broadcast to the shape of those beside it, wherever the result is used.
    Beside,
}

/// Where a part begins along each axis.
pub type Starts = SmallVec<[i32; 4]>;

/// The op of a call: one that lives as long as the program, or one that was made for the call.
#[derive(Clone)]
pub(crate) enum OpRef {
    Static(&'static dyn Op),
    Made(Arc<dyn Op>),
}

impl Deref for OpRef {
    type Target = dyn Op;

    fn deref(&self) -> &dyn Op {
        match self {
            OpRef::Static(op) => *op,
            OpRef::Made(op) => &**op,
        }
    }
}

impl<O: Op> From<O> for OpRef {
    fn from(op: O) -> OpRef {
        OpRef::Made(Arc::new(op))
    }
}

/// A call that rules are asked about.
pub struct At<'a> {
    /// What the op was given.
    pub inputs: &'a [Array],
    /// What it gave.
    pub outputs: &'a [Array],
    /// Which inputs' derivatives are wanted.
    pub wanted: &'a [bool],
}

/// Where a call is computed, and on what.
pub struct Place<'a> {
    /// The kind of device.
    pub device: DeviceKind,
    /// What the GPU can do; none on the CPU.
    pub target: Option<&'a Target>,
    /// What it is given.
    pub inputs: &'a [&'a Spec],
    /// What it gives.
    pub outputs: &'a [Spec],
}

/// The ways to compute a call.
pub enum Lowering<'a> {
    /// By what it means.
    Decompose,
    /// By looking at an input's memory in another way.
    View(&'a dyn View),
    /// Element by element.
    Map(&'a dyn Map),
    /// By copying the inputs to where they go.
    Write(&'a dyn Write),
    /// By kernels on the GPU.
    Kernels(&'a dyn Kernels),
    /// By Rust on the CPU.
    Host(&'a dyn Host),
    /// By the calls of a compiled function, which are planned like any others.
    Program(&'a Program),
}

/// Another look at the first input's memory.
pub trait View {
    /// The layout of the result; none if the input's layout does not allow it, and a contiguous copy is looked at instead.
    fn view(&self, input: &Layout, output: &Spec) -> Option<Layout>;
}

/// One element of the result from one element of each input. Inputs are broadcast to the result's shape.
pub trait Map {
    /// Writes the computation of an element in the kernel language.
    fn map<'k>(&self, at: &Element<'k>, inputs: &[Typed<'k>]) -> Typed<'k>;
}

/// A result put together from the elements of its inputs.
pub trait Write {
    /// Whether the result begins as the first input, and takes over its memory if nobody else needs it. The other inputs are
    /// written over it. Otherwise the parts cover the result.
    fn has_base(&self) -> bool;

    /// Where in the result, laid out without gaps, each input goes that is written. Parts do not overlap.
    fn parts(&self, place: &Place<'_>) -> Vec<Layout>;
}

/// The element a map computes.
pub struct Element<'k> {
    /// The kernel being written.
    pub builder: &'k Builder,
    /// Its number, counted along the last axis first; an I64.
    pub index: Val<'k>,
    /// What it must be.
    pub dtype: crate::Dtype,
}

/// Computed by kernels.
///
/// Kernels can compute the maps around the op along: `x * x` as a sum loads its elements, a mean's `· 1/n` as it stores them. An op
/// gets that in three steps: [`accepts`](Kernels::accepts) says so, `launch` asks for [`Site::elements`] instead of an input
/// and for [`Site::results`] instead of an output, and the kernel declares them and goes through
/// [`load`](crate::eval::elements::Loader::load) and [`store`](crate::eval::elements::Storer::store):
///
/// ```ignore
/// let (x, y) = (site.elements(0)?, site.results(0));
/// let build = || Ok(Kernel::build("cumulate", [256, 1, 1], |k| {
///     let (x, y) = (x.declare(k, 1), y.declare(k, 1));
///     let n = k.arg_i32("n");
///     ... x.load(place, 1)[0] ... y.store(number, &[sum]) ...
/// })?);
/// site.launch_on(&key, build, groups, &[Operand::Elements(&x), Operand::Results(&y)], &[Argument::I32(n)])
/// ```
///
/// Elements that are computed have the layout, the type and the alignment of the array they stand for, so the kernel takes the
/// same way through them and gives the same bits. An op may still ask for `input` or `output`: then the maps are launched on
/// their own.
pub trait Kernels {
    /// Says which kernels are launched, and with what.
    fn launch(&self, site: &mut Site<'_>) -> Result<()>;

    /// Which maps the kernels compute along.
    fn accepts(&self) -> Accepts {
        Accepts::default()
    }
}

/// Maps that kernels compute along.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Accepts {
    /// Those that make the first input: the kernels read it by [`Site::elements`], each element once or little more.
    pub before: bool,
    /// Those of the first output, which is the only one: the kernels write it by [`Site::results`].
    pub after: bool,
}

/// Computed by Rust.
pub trait Host {
    /// Reads the inputs and writes the outputs.
    fn run(&self, site: &mut HostSite<'_>) -> Result<()>;

    /// How many leading axes, of the first input and all outputs, number rows that have nothing to do with each other: a row of the
    /// results is made of the same row of the first input and of all of the others, and has the same bits whichever rows are
    /// beside it, as long as the first input lies without gaps. Some rows are then computed on their own, together with what is
    /// computed before and after.
    fn row_axes(&self, place: &Place<'_>) -> Option<usize> {
        let _ = place;
        None
    }
}

/// What distinguishes computations, exactly: words that are compared one by one.
#[derive(Clone, Default, PartialEq, Eq, Hash, Debug)]
pub struct Key {
    words: Vec<u64>,
}

impl Key {
    /// Adds one word.
    pub fn word(&mut self, word: impl Into<u64>) {
        self.words.push(word.into());
    }

    /// Adds a signed number.
    pub fn int(&mut self, value: i64) {
        self.words.push(value as u64);
    }

    /// Adds a list of numbers and its length.
    pub fn ints<T: Copy + Into<i64>>(&mut self, values: &[T]) {
        self.words.push(values.len() as u64);
        self.words.extend(values.iter().map(|&v| v.into() as u64));
    }

    /// Adds a float, by its bits.
    pub fn float(&mut self, value: f64) {
        self.words.push(value.to_bits());
    }

    /// Adds a text.
    pub fn text(&mut self, text: &str) {
        self.words.push(text.len() as u64);
        for part in text.as_bytes().chunks(8) {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            self.words.push(u64::from_le_bytes(word));
        }
    }

    /// Adds a name that lives as long as the program: by its address, which is all an equal name of the same op needs.
    pub fn name(&mut self, name: &'static str) {
        self.words.push(name.as_ptr() as u64);
    }

    /// Adds a shape and a type.
    pub fn spec(&mut self, spec: &Spec) {
        self.words.push(((spec.dtype as u64) << 32) | spec.shape.len() as u64);
        self.words.extend(spec.shape.iter().map(|&n| n as u64));
    }

    /// Forgets everything, but keeps the memory.
    pub fn clear(&mut self) {
        self.words.clear();
    }

    /// The words.
    pub fn words(&self) -> &[u64] {
        &self.words
    }
}

/// Calls an op of one's own: the result is computed when somebody looks, and transforms follow it.
pub fn apply(op: impl Op, inputs: &[Array]) -> Result<Vec<Array>> {
    Ok(call(op, inputs.iter().cloned())?.into_vec())
}

/// Refuses a call with another number of inputs than the op takes: a bug of ours, told as an error.
pub fn expect_inputs<const N: usize>(op: &str, inputs: &[&Spec]) -> Result<[Spec; N]> {
    Ok(borrow_inputs::<N>(op, inputs)?.map(Spec::clone))
}

/// The same without copies.
pub fn borrow_inputs<'a, const N: usize>(op: &str, inputs: &[&'a Spec]) -> Result<[&'a Spec; N]> {
    let count = inputs.len();
    inputs.try_into().map_err(|_| Error::Value(format!("[{op}] must be given {N} arrays but was given {count}.")))
}
