//! The array: a node of a graph that is computed when somebody looks.
//!
//! An array knows its shape and type at once. Its values come from data, or from a call of an op on other arrays that nobody has
//! computed yet. Evaluation gives it data and lets go of the call, so that what was only needed on the way is freed.

mod spare;

use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use smallvec::{SmallVec, smallvec};

use crate::device::{DeviceKind, Stream, current_stream, the_gpu};
use crate::dtype::{Dtype, Element};
use crate::error::{Error, Result};
use crate::eval::job::{self, Job};
use crate::gpu::Event;
use crate::op::{Lowering, Op, OpRef, Place, Specs};
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
    pub mark: Mark,
    state: Mutex<State>,
}

/// Where an evaluation has put an array: the evaluation's number, and the array's in it.
#[derive(Default)]
pub(crate) struct Mark {
    pub number: AtomicU64,
    pub entry: AtomicUsize,
}

#[derive(Default)]
struct State {
    origin: Option<Origin>,
    data: Option<Box<Data>>,
    /// Who computes it, or has failed to and was not asked since. Nobody else looks at the rest of its state then.
    job: Option<Arc<Job>>,
}

impl State {
    /// Forgets a job that is done; gives the one that it is with otherwise.
    fn job(&mut self) -> Option<&Arc<Job>> {
        if self.job.as_ref().is_some_and(|job| job.state() == job::State::Done) {
            self.job = None;
        }
        self.job.as_ref()
    }
}

/// Where an array comes from: a call that gives it alone, or its place among a call's results.
enum Origin {
    Own(Call),
    Shared(Arc<SharedCall>),
    /// Nowhere any longer: an evaluation overwrote its values and failed.
    Lost,
}

/// An op applied to arrays.
#[derive(Clone)]
pub(crate) struct Call {
    pub op: OpRef,
    pub inputs: Inputs,
    pub stream: Stream,
    /// Whether the stream's device computes it by what it means.
    pub by_meaning: bool,
}

/// A call with several results, or none.
struct SharedCall {
    call: Call,
    outputs: OnceLock<SmallVec<[Weak<Node>; 2]>>,
}

/// A call as somebody sees it who is not its result: what it is, what it gave, and a number that no other call has.
pub(crate) struct Seen {
    pub call: Call,
    /// The results that are still held by somebody, in order.
    pub outputs: SmallVec<[Option<Array>; 1]>,
    pub id: usize,
}

/// The values of an evaluated array.
#[derive(Clone)]
pub(crate) struct Data {
    pub source: Source,
    pub layout: Layout,
}

/// What a call is given: mostly one or two arrays.
pub(crate) type Inputs = SmallVec<[Array; 2]>;

/// Calls an op. The user's errors are raised here, by its shape rule.
pub(crate) fn call(op: impl Into<OpRef>, inputs: impl IntoIterator<Item = Array>) -> Result<SmallVec<[Array; 1]>> {
    call_shared(op.into(), inputs.into_iter().collect(), current_stream()?)
}

/// Calls an op with one output.
pub(crate) fn call_one(op: impl Into<OpRef>, inputs: impl IntoIterator<Item = Array>) -> Result<Array> {
    Ok(call(op, inputs)?.swap_remove(0))
}

/// Calls an op whose one result is known, and that every device computes as it is: what most calls are, without the questions.
pub(crate) fn call_known(op: &'static dyn Op, inputs: Inputs, result: Spec) -> Result<Array> {
    let stream = current_stream()?;
    shape::refuse_uncountable(op.name(), &result.shape)?;
    refuse_doubles(op.name(), inputs.iter().map(Array::spec).chain([&result]), stream)?;
    let tracer = inputs.iter().any(Array::is_tracer);
    let call = Call { op: OpRef::Static(op), inputs, stream, by_meaning: false };
    Ok(Array::new(result, tracer, State { origin: Some(Origin::Own(call)), ..State::default() }))
}

pub(crate) fn call_shared(op: OpRef, inputs: Inputs, stream: Stream) -> Result<SmallVec<[Array; 1]>> {
    let accept = |specs: &[&Spec]| -> Result<(Specs, bool)> {
        let results = op.infer(specs)?;
        results.iter().try_for_each(|result| shape::refuse_uncountable(op.name(), &result.shape))?;
        refuse_doubles(op.name(), specs.iter().copied().chain(&results), stream)?;
        let by_meaning = is_by_meaning(&*op, specs, &results, stream)?;
        Ok((results, by_meaning))
    };
    let (results, by_meaning) = match inputs.as_slice() {
        [a] => accept(&[a.spec()])?,
        [a, b] => accept(&[a.spec(), b.spec()])?,
        all => accept(&all.iter().map(Array::spec).collect::<Vec<_>>())?,
    };
    Ok(Accepted { op, stream, by_meaning, results }.call(inputs))
}

/// What a call is but for its inputs, whose shapes and types its op has accepted.
#[derive(Clone)]
pub(crate) struct Accepted {
    pub op: OpRef,
    pub stream: Stream,
    pub by_meaning: bool,
    pub results: Specs,
}

impl Accepted {
    /// The call of inputs of these shapes and types.
    pub fn call(self, inputs: Inputs) -> SmallVec<[Array; 1]> {
        let tracer = inputs.iter().any(Array::is_tracer);
        self.call_traced(inputs, tracer)
    }

    fn call_traced(self, inputs: Inputs, tracer: bool) -> SmallVec<[Array; 1]> {
        let Accepted { op, stream, by_meaning, mut results } = self;
        let call = Call { op, inputs, stream, by_meaning };
        if results.len() == 1 {
            let state = State { origin: Some(Origin::Own(call)), ..State::default() };
            return smallvec![Array::new(results.swap_remove(0), tracer, state)];
        }
        let call = Arc::new(SharedCall { call, outputs: OnceLock::new() });
        let node =
            |spec| Array::new(spec, tracer, State { origin: Some(Origin::Shared(call.clone())), ..State::default() });
        let nodes: SmallVec<[Array; 1]> = results.into_iter().map(node).collect();
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

impl SharedCall {
    fn outputs(&self) -> SmallVec<[Option<Array>; 1]> {
        let nodes = self.outputs.get().expect("a call's outputs are made with it");
        nodes.iter().map(|weak| weak.upgrade().map(|node| Array { node })).collect()
    }
}

/// What an array is made of, while nobody else can change it.
pub(crate) enum Look<'a> {
    /// Its values.
    Data(&'a Data),
    /// The call that gives it alone.
    Own(&'a Call),
    /// A call that gives others as well.
    Shared,
    /// It stands for an input of a traced function.
    Nothing,
    /// Somebody computes it, or has failed to: [`Array::land`] tells.
    InFlight,
    /// An evaluation overwrote its values and failed.
    Lost,
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
        Array::new(spec, false, State { data: Some(Box::new(data)), ..State::default() })
    }

    fn new(spec: Spec, tracer: bool, state: State) -> Array {
        Array { node: spare::place(Node { spec, tracer, mark: Mark::default(), state: Mutex::new(state) }) }
    }

    /// The same values as an array of its own that transforms follow. Transforms around this one see that it is the same.
    pub(crate) fn to_tracer(&self) -> Result<Array> {
        let data = self.data();
        if data.is_some() && !self.is_tracer() {
            return Ok(Array::new(self.spec().clone(), true, State { data: data.map(Box::new), ..State::default() }));
        }
        let (op, stream, results) = (ops::alias::op(), current_stream()?, smallvec![self.spec().clone()]);
        let alias = Accepted { op, stream, by_meaning: true, results };
        let tracer = alias.call_traced(smallvec![self.clone()], true).swap_remove(0);
        tracer.node.lock().data = data.map(Box::new);
        Ok(tracer)
    }

    /// An array that has no values and never will: what a function is traced with.
    pub(crate) fn placeholder(spec: Spec) -> Array {
        Array::new(spec, true, State::default())
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
        let mut state = self.node.lock();
        state.job().is_none() && state.data.is_some()
    }

    /// Whether it was evaluated, or is in flight.
    pub(crate) fn is_started(&self) -> bool {
        let state = self.node.lock();
        state.data.is_some() || state.job.is_some()
    }

    /// What it is, if that is known yet.
    pub(crate) fn data(&self) -> Option<Data> {
        let mut state = self.node.lock();
        if state.job().is_some() { None } else { state.data.as_deref().cloned() }
    }

    /// Says who computes it from now on.
    pub(crate) fn take_off(&self, job: &Arc<Job>) {
        self.node.lock().job = Some(job.clone());
    }

    /// Waits until nobody computes it any longer. Whoever waits for a job that failed is told why, and has the array as it was before.
    pub(crate) fn land(&self) -> Result<()> {
        let Some(job) = self.node.lock().job().cloned() else { return Ok(()) };
        job.wait()?;
        self.forget(&job);
        job.tell()
    }

    /// Forgets a job that has ended.
    fn forget(&self, job: &Arc<Job>) {
        let mut state = self.node.lock();
        if state.job.as_ref().is_some_and(|own| Arc::ptr_eq(own, job)) {
            state.job = None;
        }
    }

    /// When the GPU will be done with it, if it was started and is not done.
    pub(crate) fn unfinished(&self) -> Option<Event> {
        // Not while the array is locked: somebody may be waiting for its memory.
        match self.data()?.source {
            Source::Memory(storage) => storage.unfinished(),
            Source::Value(_) => None,
        }
    }

    /// The call it is an output of; none if it was given its values, or evaluation has let go of the call.
    pub(crate) fn origin(&self) -> Option<Seen> {
        let mut state = self.node.lock();
        while let Some(job) = state.job().filter(|job| job.state() == job::State::Running).cloned() {
            drop(state);
            job.wait_for_end();
            state = self.node.lock();
        }
        match state.origin.as_ref()? {
            Origin::Own(call) => {
                Some(Seen { call: call.clone(), outputs: smallvec![Some(self.clone())], id: self.id() })
            }
            Origin::Shared(shared) => {
                let shared = shared.clone();
                drop(state);
                let id = Arc::as_ptr(&shared) as usize;
                Some(Seen { call: shared.call.clone(), outputs: shared.outputs(), id })
            }
            Origin::Lost => None,
        }
    }

    /// Looks at what it is made of. The closure must not look at the same array again.
    pub(crate) fn look<R>(&self, look: impl FnOnce(Look<'_>) -> R) -> R {
        let mut state = self.node.lock();
        if state.job().is_some() {
            return look(Look::InFlight);
        }
        look(match (&state.data, &state.origin) {
            (Some(data), _) => Look::Data(data),
            (None, Some(Origin::Own(call))) => Look::Own(call),
            (None, Some(Origin::Shared(_))) => Look::Shared,
            (None, Some(Origin::Lost)) => Look::Lost,
            (None, None) => Look::Nothing,
        })
    }

    /// Whether a transform that is tracing follows it.
    pub fn is_tracer(&self) -> bool {
        self.node.tracer && tracing::active()
    }

    /// Whether a transform followed it when it was made, traced to the end or not.
    pub(crate) fn was_traced(&self) -> bool {
        self.node.tracer
    }

    /// Takes the values away: they were overwritten by an evaluation that failed.
    pub(crate) fn lose(&self) {
        let mut state = self.node.lock();
        let lost = (state.origin.replace(Origin::Lost), state.data.take());
        drop(state);
        drop(lost);
    }

    /// Gives the array its values; the call is let go unless a transform needs it.
    pub(crate) fn set_data(&self, data: Data) {
        let mut state = self.node.lock();
        state.data = Some(Box::new(data));
        let origin = if self.is_tracer() { None } else { state.origin.take() };
        drop(state);
        drop(origin);
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
        if self.inputs.is_empty() {
            return;
        }
        let mut pending = std::mem::take(&mut self.inputs);
        while let Some(array) = pending.pop() {
            spare::take_apart(array.node, &mut pending);
        }
    }
}

impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.is_evaluated() { "evaluated" } else { "pending" };
        write!(f, "Array({}, {}, {state})", shape::display(self.shape()), self.dtype())
    }
}
