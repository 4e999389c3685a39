//! The builder: kernels written as Rust, with `Copy` handles and closures.
//!
//! ```
//! use pumice_kernel::{Elem, Kernel};
//! let add = Kernel::build("add", [256, 1, 1], |k| {
//!     let (a, b, c) = (k.input("a", Elem::F32), k.input("b", Elem::F32), k.output("c", Elem::F32));
//!     let n = k.arg_i32("n");
//!     k.each(n, |i| c.store(i, a.load(i) + b.load(i)));
//! })?;
//! # Ok::<(), pumice_kernel::Error>(())
//! ```
//! Rust runs while the kernel is built: a Rust `for` unrolls, a Rust `if` specialises. `k.if_`, `k.for_`, `k.while_` and
//! `k.each` make control flow in the kernel. A mistake (mixed types, a wrong width) is remembered with its source line and
//! returned by `build`; the closure runs to its end on placeholder values, so nothing panics.

mod access;
mod control;
mod group;
mod matrix;
mod operators;
mod sign;
mod value;

use std::cell::RefCell;
use std::collections::HashMap;
use std::panic::Location;

pub use access::{Buffer, PrivateArray, SharedArray};
pub use control::Values;
pub use matrix::TileRef;
pub use value::{Literal, Operand, Val};

use sign::Sides;

use crate::error::{Error, Result};
use crate::ir::{Access, ArrayDecl, Block, BufferParam, Builtin, Inst, Kernel, Line, Op, Results, ScalarParam, Value};
use crate::types::{Elem, Scalar, Type};

impl Kernel {
    /// Builds and verifies a kernel. The closure writes what one invocation does.
    pub fn build(name: &str, workgroup: [u32; 3], write: impl FnOnce(&Builder)) -> Result<Kernel> {
        let builder = Builder::new(name, workgroup);
        write(&builder);
        let kernel = builder.finish()?;
        crate::verify::verify(&kernel)?;
        Ok(kernel)
    }
}

/// A kernel being written. All methods take `&self`, so closures can share it.
pub struct Builder {
    state: RefCell<State>,
}

struct State {
    kernel: Kernel,
    /// Constants and builtins: made once, at the top of the kernel, where every block sees them.
    top: Vec<Inst>,
    known: HashMap<Known, Value>,
    /// Blocks that are open, innermost last.
    open: Vec<Block>,
    /// On which sides of zero values may be; those beyond the end on both.
    sides: Vec<Sides>,
    error: Option<Error>,
}

impl State {
    /// Notes on which sides of zero a new value may be.
    fn note_sides(&mut self, id: Value, ty: Type, op: &Op) {
        let Some(scalar) = ty.scalar() else { return };
        let sides = Sides::of_result(op, scalar, |value| self.sides_of(value));
        if sides != Sides::BOTH {
            self.sides.resize(id.index(), Sides::BOTH);
            self.sides.push(sides);
        }
    }

    fn sides_of(&self, value: Value) -> Sides {
        self.sides.get(value.index()).copied().unwrap_or(Sides::BOTH)
    }
}

/// What is the same wherever it is asked for.
#[derive(PartialEq, Eq, Hash)]
enum Known {
    Constant(Type, u64),
    Builtin(Builtin),
}

/// The source line of the caller.
#[track_caller]
pub(crate) fn here() -> Line {
    let at = Location::caller();
    Line { file: at.file(), line: at.line() }
}

impl Builder {
    fn new(name: &str, workgroup: [u32; 3]) -> Builder {
        let kernel = Kernel::empty(name.to_owned(), workgroup);
        let (top, known) = (Vec::new(), HashMap::new());
        Builder {
            state: RefCell::new(State {
                kernel,
                top,
                known,
                open: vec![Block::default()],
                sides: Vec::new(),
                error: None,
            }),
        }
    }

    fn finish(self) -> Result<Kernel> {
        let mut state = self.state.into_inner();
        if let Some(error) = state.error {
            return Err(error);
        }
        let mut body = state.open.pop().expect("the body is open until the end");
        state.top.append(&mut body.insts);
        body.insts = state.top;
        state.kernel.body = body;
        Ok(state.kernel)
    }

    /// Invocations per workgroup.
    pub fn invocations(&self) -> u32 {
        self.state.borrow().kernel.invocations()
    }

    /// A buffer that is read.
    pub fn input(&self, name: &str, elem: Elem) -> Buffer<'_> {
        self.buffer(name, elem, Access::Read, elem.bytes() as u32)
    }

    /// A buffer that is written.
    pub fn output(&self, name: &str, elem: Elem) -> Buffer<'_> {
        self.buffer(name, elem, Access::Write, elem.bytes() as u32)
    }

    /// A buffer argument, with what its address is promised to be a multiple of, in bytes.
    pub fn buffer(&self, name: &str, elem: Elem, access: Access, align: u32) -> Buffer<'_> {
        let mut state = self.state.borrow_mut();
        state.kernel.buffers.push(BufferParam { name: name.to_owned(), elem, access, align });
        Buffer::new(self, state.kernel.buffers.len() as u32 - 1, elem)
    }

    /// A scalar argument.
    #[track_caller]
    pub fn arg(&self, name: &str, scalar: Scalar) -> Val<'_> {
        let param = self.scalar_param(name, scalar, 1);
        self.emit_one(Type::Scalar(scalar), Op::Arg { param, index: None })
    }

    /// An I32 argument.
    #[track_caller]
    pub fn arg_i32(&self, name: &str) -> Val<'_> {
        self.arg(name, Scalar::I32)
    }

    /// An I64 argument.
    #[track_caller]
    pub fn arg_i64(&self, name: &str) -> Val<'_> {
        self.arg(name, Scalar::I64)
    }

    /// An F32 argument.
    #[track_caller]
    pub fn arg_f32(&self, name: &str) -> Val<'_> {
        self.arg(name, Scalar::F32)
    }

    /// An array of scalar arguments: a shape, strides.
    pub fn arg_array(&self, name: &str, scalar: Scalar, len: u32) -> ArgArray<'_> {
        let param = self.scalar_param(name, scalar, len);
        ArgArray { k: self, param, scalar }
    }

    /// An array in the workgroup's shared memory; its content is undefined at first.
    pub fn shared(&self, name: &str, elem: Elem, len: u32) -> SharedArray<'_> {
        self.shared_vectors(name, elem, 1, len)
    }

    /// An array of vectors (2 or 4 components) in the workgroup's shared memory.
    pub fn shared_vectors(&self, name: &str, elem: Elem, lanes: u8, len: u32) -> SharedArray<'_> {
        let mut state = self.state.borrow_mut();
        state.kernel.shared.push(ArrayDecl { name: name.to_owned(), elem, lanes, len });
        SharedArray::new(self, state.kernel.shared.len() as u32 - 1, elem)
    }

    /// An array of the invocation's own; zero at first.
    pub fn private(&self, name: &str, elem: Elem, len: u32) -> PrivateArray<'_> {
        let mut state = self.state.borrow_mut();
        state.kernel.private.push(ArrayDecl { name: name.to_owned(), elem, lanes: 1, len });
        PrivateArray::new(self, state.kernel.private.len() as u32 - 1, elem)
    }

    /// Where this invocation stands.
    #[track_caller]
    pub fn builtin(&self, builtin: Builtin) -> Val<'_> {
        self.once(Known::Builtin(builtin), Type::I32, Op::Builtin(builtin))
    }

    /// Position in the workgroup along an axis.
    #[track_caller]
    pub fn local_id(&self, axis: u8) -> Val<'_> {
        self.builtin(Builtin::LocalId(axis))
    }

    /// The workgroup's position along an axis.
    #[track_caller]
    pub fn group_id(&self, axis: u8) -> Val<'_> {
        self.builtin(Builtin::GroupId(axis))
    }

    /// Number of workgroups along an axis.
    #[track_caller]
    pub fn group_count(&self, axis: u8) -> Val<'_> {
        self.builtin(Builtin::GroupCount(axis))
    }

    /// Position in the workgroup, x fastest.
    #[track_caller]
    pub fn local_index(&self) -> Val<'_> {
        self.builtin(Builtin::LocalIndex)
    }

    /// The workgroup's number when x and y of the grid are counted together: how a launch of more than 65,535 groups
    /// is folded.
    #[track_caller]
    pub fn group_index(&self) -> Val<'_> {
        self.group_id(0) + self.group_id(1) * self.group_count(0)
    }

    /// The invocation's number in the launch when x and y of the grid are counted together, as I32.
    #[track_caller]
    pub fn global_index(&self) -> Val<'_> {
        self.group_index() * (self.invocations() as i32) + self.local_index()
    }

    /// An I32 constant.
    #[track_caller]
    pub fn i32(&self, value: i32) -> Val<'_> {
        self.constant(Type::I32, value as u32 as u64)
    }

    /// An I64 constant.
    #[track_caller]
    pub fn i64(&self, value: i64) -> Val<'_> {
        self.constant(Type::I64, value as u64)
    }

    /// An F32 constant.
    #[track_caller]
    pub fn f32(&self, value: f32) -> Val<'_> {
        self.constant(Type::F32, value.to_bits() as u64)
    }

    /// An F64 constant.
    #[track_caller]
    pub fn f64(&self, value: f64) -> Val<'_> {
        self.constant(Type::F64, value.to_bits())
    }

    /// A bool constant.
    #[track_caller]
    pub fn bool(&self, value: bool) -> Val<'_> {
        self.constant(Type::BOOL, value as u64)
    }

    /// A constant of any scalar or vector type, from its bits.
    #[track_caller]
    pub fn constant(&self, ty: Type, bits: u64) -> Val<'_> {
        self.once(Known::Constant(ty, bits), ty, Op::Const(bits))
    }

    /// A vector of two or four scalars.
    #[track_caller]
    pub fn vector<'k>(&'k self, parts: &[Val<'k>]) -> Val<'k> {
        let Some(scalar) = parts.first().and_then(|p| p.ty().scalar()) else {
            return self.fail(Type::F32, "a vector must have components but none were given.");
        };
        let ty = Type::Vector(scalar, parts.len() as u8);
        self.emit_one(ty, Op::Compose(parts.iter().map(|p| p.id).collect()))
    }

    fn scalar_param(&self, name: &str, scalar: Scalar, len: u32) -> u32 {
        let mut state = self.state.borrow_mut();
        state.kernel.scalars.push(ScalarParam { name: name.to_owned(), scalar, len });
        state.kernel.scalars.len() as u32 - 1
    }

    /// Appends an instruction to the innermost open block.
    #[track_caller]
    pub(crate) fn emit(&self, types: &[Type], op: Op) -> Vec<Val<'_>> {
        let line = here();
        let mut state = self.state.borrow_mut();
        let results: Results = types.iter().map(|&ty| state.kernel.fresh(ty)).collect();
        let block = state.open.last_mut().expect("the body is open until the end");
        block.insts.push(Inst { results: results.clone(), op, line });
        results.into_iter().map(|id| Val { k: self, id }).collect()
    }

    /// Appends an instruction with one result.
    #[track_caller]
    pub(crate) fn emit_one(&self, ty: Type, op: Op) -> Val<'_> {
        let line = here();
        let mut state = self.state.borrow_mut();
        let id = state.kernel.fresh(ty);
        state.note_sides(id, ty, &op);
        let block = state.open.last_mut().expect("the body is open until the end");
        block.insts.push(Inst { results: Results::from_iter([id]), op, line });
        Val { k: self, id }
    }

    /// The value that is the same everywhere, made at the top when it is first asked for.
    #[track_caller]
    fn once(&self, what: Known, ty: Type, op: Op) -> Val<'_> {
        let line = here();
        let state = &mut *self.state.borrow_mut();
        let id = match state.known.get(&what) {
            Some(&id) => id,
            None => {
                let id = state.kernel.fresh(ty);
                state.note_sides(id, ty, &op);
                state.top.push(Inst { results: Results::from_iter([id]), op, line });
                state.known.insert(what, id);
                id
            }
        };
        Val { k: self, id }
    }

    /// Appends an instruction without results.
    #[track_caller]
    pub(crate) fn emit_effect(&self, op: Op) {
        self.emit(&[], op);
    }

    pub(crate) fn type_of(&self, value: Value) -> Type {
        self.state.borrow().kernel.type_of(value)
    }

    /// Whether a float is known to be negative, a zero or NaN.
    pub(crate) fn is_never_positive(&self, value: Value) -> bool {
        !self.state.borrow().sides_of(value).above
    }

    pub(crate) fn note_mistake(&self, line: Line, message: String) {
        let mut state = self.state.borrow_mut();
        if state.error.is_none() {
            state.error = Some(Error::Malformed { kernel: state.kernel.name.clone(), line, message });
        }
    }

    /// Remembers the first mistake and gives a placeholder to go on with.
    #[track_caller]
    pub(crate) fn fail(&self, ty: Type, message: impl Into<String>) -> Val<'_> {
        self.note_mistake(here(), message.into());
        let ty = if matches!(ty, Type::Matrix(_)) { Type::F32 } else { ty };
        self.constant(ty, 0)
    }

    /// Runs a closure with a new block open and gives that block back, closed.
    fn nested<'k, R>(&'k self, params: &[Type], write: impl FnOnce(&[Val<'k>]) -> R) -> (Block, R) {
        let ids: Vec<Value> = {
            let mut state = self.state.borrow_mut();
            let ids: Vec<Value> = params.iter().map(|&ty| state.kernel.fresh(ty)).collect();
            state.open.push(Block { params: ids.clone(), ..Block::default() });
            ids
        };
        let vals: Vec<Val<'k>> = ids.into_iter().map(|id| Val { k: self, id }).collect();
        let result = write(&vals);
        let block = self.state.borrow_mut().open.pop().expect("this call opened it");
        (block, result)
    }
}

/// An array of scalar arguments.
#[derive(Clone, Copy)]
pub struct ArgArray<'k> {
    k: &'k Builder,
    param: u32,
    scalar: Scalar,
}

impl<'k> ArgArray<'k> {
    /// One of the values.
    #[track_caller]
    pub fn at(self, index: impl Operand<'k>) -> Val<'k> {
        let index = index.into_val(self.k, Type::I32);
        self.k.emit_one(Type::Scalar(self.scalar), Op::Arg { param: self.param, index: Some(index.id) })
    }
}
