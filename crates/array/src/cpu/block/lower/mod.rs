//! From a kernel in map form to a block program.
//!
//! Buffers become ports: every input is loaded before the first step and every output stored after the last, so a load
//! in the kernel is the port's register, and a store a move into it. What a map cannot have is refused here.

mod arithmetic;
mod control;
mod polynomial;

use std::collections::HashMap;

use pumice_kernel::ir::{Access, ArrayDecl, Block, Inst, Line, Op, Place, ScalarParam, Value};
use pumice_kernel::{Elem, Kernel, Scalar, Type, passes};
use smallvec::smallvec;

use super::allocate::allocate;
use super::direct::store_directly;
use super::program::{Array, Element, Move, Parts, Port, Program, Reg, Step, Width};
use crate::error::{Error, Result};

/// The kernel without what it need not compute.
pub(super) fn tidied(kernel: &Kernel) -> Kernel {
    let mut kernel = kernel.clone();
    passes::fold(&mut kernel);
    passes::cse(&mut kernel);
    store_unrounded(&mut kernel);
    passes::dce(&mut kernel);
    kernel
}

/// Lets stores have what was narrowed for them as it was before: they narrow it themselves.
fn store_unrounded(kernel: &mut Kernel) {
    let mut narrowed: HashMap<Value, (Elem, Value)> = HashMap::new();
    for inst in &mut kernel.body.insts {
        match &mut inst.op {
            Op::Narrow(elem, of) => {
                narrowed.insert(inst.results[0], (*elem, *of));
            }
            Op::Store { place: Place::Buffer(_), elem: stored, values, .. } => {
                for value in values {
                    if let Some((elem, of)) = narrowed.get(value)
                        && elem == stored
                    {
                        *value = *of;
                    }
                }
            }
            _ => {}
        }
    }
}

/// The program of a kernel.
pub(super) fn lower(kernel: &Kernel) -> Result<Program> {
    let mut lowering = Lowering::new(kernel)?;
    let body = lowering.block(&kernel.body)?;
    lowering.program.steps = body;
    store_directly(&mut lowering.program);
    Ok(allocate(lowering.program))
}

/// A kernel being lowered.
struct Lowering<'k> {
    kernel: &'k Kernel,
    program: Program,
    /// The registers of every value met so far.
    values: Vec<Parts>,
    /// For every buffer, which input or output it is.
    ports: Vec<usize>,
    /// How often every value is used.
    uses: Vec<u32>,
    /// How deep the block at hand is nested; 0 is the kernel's body.
    depth: u32,
}

/// The width of a component.
fn width(scalar: Scalar) -> Width {
    match scalar {
        Scalar::Bool | Scalar::I32 | Scalar::F32 => Width::Narrow,
        Scalar::I64 | Scalar::F64 => Width::Wide,
    }
}

impl<'k> Lowering<'k> {
    fn new(kernel: &'k Kernel) -> Result<Lowering<'k>> {
        let program = Program {
            name: kernel.name.clone(),
            steps: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            constants: Vec::new(),
            index: None,
            arrays: Vec::new(),
            polynomials: Vec::new(),
            narrow: 0,
            wide: 0,
            lane_bytes: 0,
            cost: 0,
        };
        let values = vec![Parts::new(); kernel.types.len()];
        let uses = polynomial::uses(kernel);
        let mut lowering = Lowering { kernel, program, values, ports: Vec::new(), uses, depth: 0 };
        lowering.declare()?;
        Ok(lowering)
    }

    /// Ports for the buffers, arrays, the element's number.
    fn declare(&mut self) -> Result<()> {
        if let Some(shared) = self.kernel.shared.first() {
            return Err(self.refuse(format!("have no shared memory but has {}", shared.name)));
        }
        for buffer in &self.kernel.buffers {
            let (name, elem) = (buffer.name.clone(), buffer.elem);
            let port = Port { name, elem, parts: self.fresh(elem.compute()), partial: false };
            let ports = match buffer.access {
                Access::Read => &mut self.program.inputs,
                Access::Write => &mut self.program.outputs,
                Access::ReadWrite => {
                    return Err(
                        self.refuse(format!("only read or only write a buffer but does both to {}", buffer.name))
                    );
                }
            };
            ports.push(port);
            self.ports.push(ports.len() - 1);
        }
        self.program.arrays = self.kernel.private.iter().map(array).collect();
        let fits = |p: &ScalarParam| p.name == "index" && p.scalar.is_int() && p.len == 1;
        match self.kernel.scalars.iter().find(|p| !fits(p)) {
            Some(other) => Err(self.refuse(format!("take no scalar but an integer index but takes {}", other.name))),
            None => Ok(()),
        }
    }

    /// What a map must be and is not.
    fn refuse(&self, but: String) -> Error {
        Error::Value(format!("[{}] a map must {but}.", self.kernel.name))
    }

    /// New registers for a value of a type.
    fn fresh(&mut self, ty: Type) -> Parts {
        let width = width(ty.scalar().expect("matrices are refused before"));
        (0..ty.lanes()).map(|_| self.register(width)).collect()
    }

    fn register(&mut self, width: Width) -> Reg {
        let count = match width {
            Width::Narrow => &mut self.program.narrow,
            Width::Wide => &mut self.program.wide,
        };
        *count += 1;
        Reg { width, number: *count as u32 - 1 }
    }

    fn scalar(&self, value: Value) -> Scalar {
        self.kernel.type_of(value).scalar().expect("matrices are refused before")
    }

    fn parts(&self, value: Value) -> &Parts {
        &self.values[value.index()]
    }

    fn block(&mut self, block: &'k Block) -> Result<Vec<Step>> {
        let mut steps = Vec::new();
        for inst in &block.insts {
            self.instruction(inst, &mut steps)?;
        }
        Ok(steps)
    }

    fn instruction(&mut self, inst: &'k Inst, steps: &mut Vec<Step>) -> Result<()> {
        self.check(inst)?;
        match &inst.op {
            Op::Const(bits) => self.constant(inst.results[0], *bits),
            Op::Arg { index: None, .. } => self.index(inst.results[0]),
            Op::Load { place: Place::Buffer(buffer), .. } => {
                let port = &self.program.inputs[self.ports[*buffer as usize]];
                self.values[inst.results[0].index()] = port.parts.clone();
            }
            Op::Store { place: Place::Buffer(buffer), values, .. } => self.output(*buffer, values[0], steps),
            Op::Load { place: Place::Private(array), index, .. } => self.load(inst, *array, *index, steps),
            Op::Store { place: Place::Private(array), elem, index, values } => {
                self.store(*array, *elem, *index, values, inst.line, steps);
            }
            Op::If { condition, then, otherwise } => self.branch(inst, *condition, then, otherwise, steps)?,
            Op::For { start, end, step, init, body, .. } => {
                self.count(inst, [*start, *end, *step], init, body, steps)?;
            }
            Op::While { init, test, body } => self.repeat(inst, init, test, body, steps)?,
            _ => self.arithmetic(inst, steps),
        }
        Ok(())
    }

    /// Refuses what a map cannot have.
    fn check(&self, inst: &Inst) -> Result<()> {
        let found = match &inst.op {
            Op::Builtin(_) => "builtins",
            Op::Atomic { .. } => "atomics",
            Op::Barrier(_) => "barriers",
            Op::Subgroup { .. } | Op::Shuffle { .. } | Op::Ballot(_) | Op::Vote(..) => "subgroup operations",
            Op::Matrix(_) => "matrices",
            Op::Arg { index: Some(_), .. } => "arrays of arguments",
            Op::Load { place: Place::Buffer(buffer), elem, index } => {
                return self.check_access(*buffer, *elem, *index, inst.results.len());
            }
            Op::Store { place: Place::Buffer(buffer), elem, index, values } => {
                return self.check_access(*buffer, *elem, *index, values.len());
            }
            _ => return Ok(()),
        };
        Err(self.refuse(format!("compute an element from elements but has {found} ({})", inst.line)))
    }

    /// One element, as declared, at index 0.
    fn check_access(&self, buffer: u32, elem: Elem, index: Value, count: usize) -> Result<()> {
        let declared = &self.kernel.buffers[buffer as usize];
        let zero = self.parts(index).first().and_then(|reg| {
            let known = |(constant, _): &&(Reg, u64)| constant == reg;
            self.program.constants.iter().find(known).map(|(_, bits)| *bits)
        });
        if zero != Some(0) || count != 1 {
            return Err(
                self.refuse(format!("access element 0 of {}, which stands for every one, but does not", declared.name))
            );
        }
        if elem != declared.elem {
            let (name, wanted, found) = (&declared.name, declared.elem.name(), elem.name());
            return Err(self.refuse(format!("access {name} as the {wanted} it is but does as {found}")));
        }
        Ok(())
    }

    fn constant(&mut self, result: Value, bits: u64) {
        let (ty, scalar) = (self.kernel.type_of(result), self.scalar(result));
        let bits = match scalar {
            Scalar::Bool => {
                if bits & 1 != 0 {
                    u32::MAX as u64
                } else {
                    0
                }
            }
            _ => bits,
        };
        let width = width(scalar);
        let known = |(reg, held): &&(Reg, u64)| *held == bits && reg.width == width;
        let reg = match self.program.constants.iter().find(known) {
            Some((reg, _)) => *reg,
            None => {
                let reg = self.register(width);
                self.program.constants.push((reg, bits));
                reg
            }
        };
        self.values[result.index()] = smallvec![reg; ty.lanes()];
    }

    fn index(&mut self, result: Value) {
        let width = width(self.scalar(result));
        let reg = match self.program.index {
            Some(reg) => reg,
            None => self.register(width),
        };
        self.program.index = Some(reg);
        self.values[result.index()] = smallvec![reg];
    }

    fn output(&mut self, buffer: u32, value: Value, steps: &mut Vec<Step>) {
        let output = &mut self.program.outputs[self.ports[buffer as usize]];
        output.partial |= self.depth > 0;
        let to = output.parts.clone();
        let moves = to.into_iter().zip(self.parts(value).clone());
        steps.extend(moves.map(|(to, from)| Step::Copy(Move { to, from, last: false })));
    }

    fn load(&mut self, inst: &Inst, array: u32, index: Value, steps: &mut Vec<Step>) {
        for (i, result) in inst.results.iter().enumerate() {
            let parts = self.fresh(self.kernel.type_of(*result));
            for (part, out) in parts.iter().enumerate() {
                steps.push(Step::Load { out: *out, at: self.element(array, index, i, part, inst.line) });
            }
            self.values[result.index()] = parts;
        }
    }

    /// What is stored comes back as the storage type has it, so it is narrowed on the way in.
    fn store(&mut self, array: u32, elem: Elem, index: Value, values: &[Value], line: Line, steps: &mut Vec<Step>) {
        for (i, value) in values.iter().enumerate() {
            for (part, from) in self.parts(*value).clone().into_iter().enumerate() {
                let value = self.narrowed(elem, from, steps);
                steps.push(Step::Store { value, at: self.element(array, index, i, part, line) });
            }
        }
    }

    fn element(&self, array: u32, index: Value, nth: usize, part: usize, line: Line) -> Element {
        let components = self.program.arrays[array as usize].components;
        let index = self.parts(index)[0];
        Element { array: array as usize, index, scale: components, offset: nth * components + part, line }
    }
}

fn array(decl: &ArrayDecl) -> Array {
    Array { name: decl.name.clone(), len: decl.len as usize, components: decl.compute().lanes() }
}
