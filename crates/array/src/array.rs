//! The array: a node of a graph that is computed when somebody looks.
//!
//! An array knows its shape and type at once. Its values come from data, or from a call of an op on other arrays that nobody has
//! computed yet. Evaluation gives it data and lets go of the call, so that what was only needed on the way is freed.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use smallvec::{SmallVec, smallvec};

use crate::device::{DeviceKind, Stream, current_stream, the_gpu};
use crate::dtype::{Dtype, Element};
use crate::error::{Error, Result};
use crate::op::{Lowering, Op, Place, Specs};
use crate::ops;
use crate::shape::{self, Layout, Shape, Spec};
use crate::storage::{Source, Storage};
use crate::transforms::tracing;

/// A multi-dimensional array, computed when somebody looks. Cheap to clone; clones are the same array.
#[derive(Clone)]
pub struct Array {
    pub(crate) node: Arc<Node>,
}

pub(crate) struct Node {
    pub spec: Spec,
    /// Whether a transform follows what happens to it: its graph is kept when it is evaluated while the transform traces.
    pub tracer: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    call: Option<Arc<Call>>,
    data: Option<Data>,
}

/// An op applied to arrays.
pub(crate) struct Call {
    pub op: Arc<dyn Op>,
    pub inputs: SmallVec<[Array; 2]>,
    pub stream: Stream,
    /// Whether the stream's device computes it by what it means.
    pub by_meaning: bool,
    outputs: OnceLock<SmallVec<[Weak<Node>; 1]>>,
}

/// The values of an evaluated array.
#[derive(Clone)]
pub(crate) struct Data {
    pub source: Source,
    pub layout: Layout,
}

/// Calls an op. The user's errors are raised here, by its shape rule.
pub(crate) fn call(op: impl Op, inputs: impl IntoIterator<Item = Array>) -> Result<SmallVec<[Array; 1]>> {
    call_shared(Arc::new(op), inputs.into_iter().collect(), current_stream()?)
}

/// Calls an op with one output.
pub(crate) fn call_one(op: impl Op, inputs: impl IntoIterator<Item = Array>) -> Result<Array> {
    Ok(call(op, inputs)?.swap_remove(0))
}

pub(crate) fn call_shared(
    op: Arc<dyn Op>,
    inputs: SmallVec<[Array; 2]>,
    stream: Stream,
) -> Result<SmallVec<[Array; 1]>> {
    let specs: SmallVec<[&Spec; 2]> = inputs.iter().map(|a| &a.node.spec).collect();
    let results = op.infer(&specs)?;
    refuse_doubles(op.name(), specs.iter().copied().chain(&results), stream)?;
    let by_meaning = is_by_meaning(&*op, &specs, &results, stream)?;
    drop(specs);
    Ok(Accepted { op, stream, by_meaning, results }.call(inputs))
}

/// What a call is but for its inputs, whose shapes and types its op has accepted.
#[derive(Clone)]
pub(crate) struct Accepted {
    pub op: Arc<dyn Op>,
    pub stream: Stream,
    pub by_meaning: bool,
    pub results: Specs,
}

impl Accepted {
    /// The call of inputs of these shapes and types.
    pub fn call(self, inputs: SmallVec<[Array; 2]>) -> SmallVec<[Array; 1]> {
        let tracer = inputs.iter().any(Array::is_tracer);
        self.call_traced(inputs, tracer)
    }

    fn call_traced(self, inputs: SmallVec<[Array; 2]>, tracer: bool) -> SmallVec<[Array; 1]> {
        let Accepted { op, stream, by_meaning, results } = self;
        let call = Arc::new(Call { op, inputs, stream, by_meaning, outputs: OnceLock::new() });
        let nodes: SmallVec<[Array; 1]> = results
            .into_iter()
            .map(|spec| {
                let state = State { call: Some(call.clone()), data: None };
                Array { node: Arc::new(Node { spec, tracer, state: Mutex::new(state) }) }
            })
            .collect();
        let weak = nodes.iter().map(|a| Arc::downgrade(&a.node)).collect();
        assert!(call.outputs.set(weak).is_ok(), "a call's outputs are made once");
        nodes
    }
}

fn is_by_meaning(op: &dyn Op, inputs: &[&Spec], outputs: &[Spec], stream: Stream) -> Result<bool> {
    let target = match stream.device.kind {
        DeviceKind::Cpu => None,
        DeviceKind::Gpu => Some(the_gpu()?.target()),
    };
    let place = Place { device: stream.device.kind, target, inputs, outputs };
    Ok(matches!(op.lower(&place), Lowering::Decompose))
}

fn refuse_doubles<'a>(op: &str, mut specs: impl Iterator<Item = &'a Spec>, stream: Stream) -> Result<()> {
    let on_gpu = stream.device.kind == DeviceKind::Gpu;
    if on_gpu && specs.any(|s| s.dtype == Dtype::F64) {
        return Err(Error::Value(format!("[{op}] float64 is not supported on the GPU.")));
    }
    Ok(())
}

impl Call {
    /// The outputs that are still held by somebody, in order; none where nobody does.
    pub fn outputs(&self) -> SmallVec<[Option<Array>; 1]> {
        let nodes = self.outputs.get().expect("a call's outputs are made with it");
        nodes.iter().map(|weak| weak.upgrade().map(|node| Array { node })).collect()
    }
}

impl Array {
    /// An array with the values of a slice, in the given shape.
    pub fn from_slice<T: Element>(values: &[T], shape: &[i32]) -> Result<Array> {
        Array::from_bytes(bytemuck::cast_slice(values), shape, T::DTYPE)
    }

    /// An array of bools.
    pub fn from_bools(values: &[bool], shape: &[i32]) -> Result<Array> {
        let bytes: Vec<u8> = values.iter().map(|&b| b as u8).collect();
        Array::from_bytes(&bytes, shape, Dtype::Bool)
    }

    /// An array of the elements that these bytes are, in the given shape.
    pub fn from_bytes(bytes: &[u8], shape: &[i32], dtype: Dtype) -> Result<Array> {
        if let Some(n) = shape.iter().find(|&&n| n < 0) {
            return Err(Error::Value(format!("[array] the sizes of a shape must not be negative but one is {n}.")));
        }
        let spec = Spec::new(Shape::from_slice(shape), dtype);
        if bytes.len() != spec.nbytes() {
            let shape = shape::display(shape);
            let (given, wanted) = (bytes.len(), spec.nbytes());
            return Err(Error::Value(format!(
                "[array] shape {shape} of {dtype} must have {wanted} bytes but {given} were given."
            )));
        }
        let layout = Layout::contiguous(shape);
        Ok(Array::evaluated(spec, Data { source: Source::Memory(Arc::new(Storage::from_bytes(bytes)?)), layout }))
    }

    /// An array of no axes with one value.
    pub fn scalar<T: Element>(value: T) -> Array {
        let mut bits = [0; 8];
        bits[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&value));
        Array::from_bits(u64::from_le_bytes(bits), T::DTYPE)
    }

    /// An array of no axes with the value that these bits are.
    pub(crate) fn from_bits(bits: u64, dtype: Dtype) -> Array {
        let data = Data { source: Source::Value(bits), layout: Layout::contiguous(&[]) };
        Array::evaluated(Spec::new(Shape::new(), dtype), data)
    }

    pub(crate) fn evaluated(spec: Spec, data: Data) -> Array {
        let state = State { call: None, data: Some(data) };
        Array { node: Arc::new(Node { spec, tracer: false, state: Mutex::new(state) }) }
    }

    /// The same values as an array of its own that transforms follow. Transforms around this one see that it is the same.
    pub(crate) fn to_tracer(&self) -> Result<Array> {
        let data = self.data();
        if data.is_some() && !self.is_tracer() {
            let state = State { call: None, data };
            return Ok(Array {
                node: Arc::new(Node { spec: self.spec().clone(), tracer: true, state: Mutex::new(state) }),
            });
        }
        let (op, stream, results) = (ops::alias::shared(), current_stream()?, smallvec![self.spec().clone()]);
        let alias = Accepted { op, stream, by_meaning: true, results };
        let tracer = alias.call_traced(smallvec![self.clone()], true).swap_remove(0);
        tracer.node.lock().data = data;
        Ok(tracer)
    }

    /// An array that has no values and never will: what a function is traced with.
    pub(crate) fn placeholder(spec: Spec) -> Array {
        Array { node: Arc::new(Node { spec, tracer: true, state: Mutex::default() }) }
    }

    /// Shape and type.
    pub fn spec(&self) -> &Spec {
        &self.node.spec
    }

    /// Elements along each axis.
    pub fn shape(&self) -> &[i32] {
        &self.node.spec.shape
    }

    /// The type of the elements.
    pub fn dtype(&self) -> Dtype {
        self.node.spec.dtype
    }

    /// Number of axes.
    pub fn ndim(&self) -> usize {
        self.node.spec.ndim()
    }

    /// Number of elements.
    pub fn size(&self) -> usize {
        self.node.spec.size()
    }

    /// Bytes of all elements.
    pub fn nbytes(&self) -> usize {
        self.node.spec.nbytes()
    }

    /// Whether two handles are the same array.
    pub fn is_same(&self, other: &Array) -> bool {
        Arc::ptr_eq(&self.node, &other.node)
    }

    /// A number that no other living array has.
    pub(crate) fn id(&self) -> usize {
        Arc::as_ptr(&self.node) as usize
    }

    /// Whether it was evaluated (the GPU may still be at work on it).
    pub fn is_evaluated(&self) -> bool {
        self.node.lock().data.is_some()
    }

    pub(crate) fn data(&self) -> Option<Data> {
        self.node.lock().data.clone()
    }

    /// The call it is an output of; none if it was given its values, or evaluation has let go of the call.
    pub(crate) fn origin(&self) -> Option<Arc<Call>> {
        self.node.lock().call.clone()
    }

    /// Whether a transform that is tracing follows it.
    pub fn is_tracer(&self) -> bool {
        self.node.tracer && tracing::active()
    }

    /// Whether a transform followed it when it was made, traced to the end or not.
    pub(crate) fn was_traced(&self) -> bool {
        self.node.tracer
    }

    /// Gives the array its values; the call is let go unless a transform needs it.
    pub(crate) fn set_data(&self, data: Data) {
        let mut state = self.node.lock();
        state.data = Some(data);
        let call = if self.is_tracer() { None } else { state.call.take() };
        drop(state);
        drop(call);
    }
}

impl Node {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Graphs are taken apart one node at a time: a chain of a hundred thousand must not be a hundred thousand nested calls.
impl Drop for Call {
    fn drop(&mut self) {
        let mut pending: Vec<SmallVec<[Array; 2]>> = vec![std::mem::replace(&mut self.inputs, smallvec![])];
        while let Some(inputs) = pending.pop() {
            for array in inputs {
                let Some(node) = Arc::into_inner(array.node) else { continue };
                let state = node.state.into_inner().unwrap_or_else(PoisonError::into_inner);
                let Some(mut call) = state.call.and_then(Arc::into_inner) else { continue };
                pending.push(std::mem::replace(&mut call.inputs, smallvec![]));
            }
        }
    }
}

impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.is_evaluated() { "evaluated" } else { "pending" };
        write!(f, "Array({}, {}, {state})", shape::display(self.shape()), self.dtype())
    }
}
