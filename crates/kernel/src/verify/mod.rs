//! Whether a kernel is well formed: every rule that `ir` states and a program can see without running the kernel.
//!
//! Emission, the interpreter and the passes trust what `verify` accepted: types match, values are defined once and used in
//! scope, accesses fit what they access. What depends on data (an index out of range, a race) is left to the interpreter and
//! to checked builds; control flow that *certainly* depends on an invocation's place is refused around barriers and
//! subgroup operations (see `uniform`).

mod arithmetic;
mod control;
mod header;
mod matrix;
mod memory;
mod uniform;

use crate::error::{Error, Result};
use crate::ir::{Block, Inst, Kernel, Line, Op, Value};
use crate::types::{Scalar, Type};

/// Refuses a kernel that is not well formed, naming the line and what must hold.
pub fn verify(kernel: &Kernel) -> Result<()> {
    header::check(kernel).map_err(|message| malformed(kernel, first_line(kernel), message))?;
    let count = kernel.types.len();
    let mut walk = Walk { kernel, defined: vec![false; count], visible: vec![false; count] };
    walk.body()?;
    uniform::check(kernel)
}

/// What a rule says: nothing, or what must hold but what was found.
type Rule = std::result::Result<(), String>;

fn malformed(kernel: &Kernel, line: Line, message: String) -> Error {
    Error::Malformed { kernel: kernel.name.clone(), line, message }
}

fn first_line(kernel: &Kernel) -> Line {
    kernel.body.insts.first().map_or(Line { file: "kernel", line: 0 }, |inst| inst.line)
}

struct Walk<'a> {
    kernel: &'a Kernel,
    defined: Vec<bool>,
    visible: Vec<bool>,
}

impl Walk<'_> {
    fn body(&mut self) -> Result<()> {
        let body = &self.kernel.body;
        let line = first_line(self.kernel);
        if !body.params.is_empty() || !body.yields.is_empty() {
            let (params, yields) = (body.params.len(), body.yields.len());
            let message = format!(
                "the kernel's body must have no parameters and no yields but has {params} parameters and {yields} yields."
            );
            return Err(malformed(self.kernel, line, message));
        }
        self.block(body, line)
    }

    fn block(&mut self, block: &Block, line: Line) -> Result<()> {
        for &value in &block.params {
            self.define(value).map_err(|m| malformed(self.kernel, line, m))?;
        }
        for inst in &block.insts {
            self.inst(inst)?;
        }
        for &value in &block.yields {
            self.used(value).map_err(|m| malformed(self.kernel, line, m))?;
        }
        for &value in block.params.iter().chain(block.insts.iter().flat_map(|i| &i.results)) {
            self.visible[value.index()] = false;
        }
        Ok(())
    }

    fn inst(&mut self, inst: &Inst) -> Result<()> {
        let kernel = self.kernel;
        let at = |message| malformed(kernel, inst.line, message);
        let mut outcome = Ok(());
        inst.op.each_operand(|value| {
            if outcome.is_ok() {
                outcome = self.used(value);
            }
        });
        outcome.map_err(at)?;
        for block in inst.op.blocks() {
            self.block(block, inst.line)?;
        }
        for &value in &inst.results {
            self.define(value).map_err(at)?;
        }
        rules(kernel, inst).map_err(at)
    }

    fn define(&mut self, value: Value) -> Rule {
        let count = self.kernel.types.len();
        if value.index() >= count {
            return Err(format!("every value must have a type but %{} is defined with {count} types.", value.0));
        }
        if self.defined[value.index()] {
            return Err(format!("every value must be defined once but %{} is defined again.", value.0));
        }
        self.defined[value.index()] = true;
        self.visible[value.index()] = true;
        Ok(())
    }

    fn used(&self, value: Value) -> Rule {
        if self.visible.get(value.index()) == Some(&true) {
            return Ok(());
        }
        let found = match self.defined.get(value.index()) {
            Some(true) => "is used outside its block",
            _ => "is used before its definition",
        };
        Err(format!("a value must be defined earlier in its block or around it but %{} {found}.", value.0))
    }
}

/// The rules of one instruction, its operands being in scope and its results defined.
fn rules(kernel: &Kernel, inst: &Inst) -> Rule {
    match &inst.op {
        Op::Arg { .. } | Op::Load { .. } | Op::Store { .. } | Op::Atomic { .. } => memory::check(kernel, inst),
        Op::Matrix(op) => matrix::check(kernel, inst, op),
        Op::If { .. } | Op::For { .. } | Op::While { .. } => control::check(kernel, inst),
        _ => arithmetic::check(kernel, inst),
    }
}

/// The type of the only result.
fn single(kernel: &Kernel, inst: &Inst) -> std::result::Result<Type, String> {
    match inst.results[..] {
        [result] => Ok(kernel.type_of(result)),
        _ => Err(format!("{} must define one value but defines {}.", inst.op.name(), inst.results.len())),
    }
}

/// That the only result has a type.
fn gives(kernel: &Kernel, inst: &Inst, expected: Type) -> Rule {
    let found = single(kernel, inst)?;
    if found != expected {
        return Err(format!("the result of {} must be {expected} but is {found}.", inst.op.name()));
    }
    Ok(())
}

/// That there is no result.
fn gives_nothing(inst: &Inst) -> Rule {
    match inst.results.len() {
        0 => Ok(()),
        count => Err(format!("{} must define no value but defines {count}.", inst.op.name())),
    }
}

/// That an operand has a type.
fn takes(kernel: &Kernel, what: &str, value: Value, expected: Type) -> Rule {
    let found = kernel.type_of(value);
    if found != expected {
        return Err(format!("{what} must be {expected} but is {found}."));
    }
    Ok(())
}

/// That an operand is a single I32 or I64.
fn takes_index(kernel: &Kernel, what: &str, value: Value) -> Rule {
    match kernel.type_of(value) {
        Type::Scalar(Scalar::I32 | Scalar::I64) => Ok(()),
        found => Err(format!("{what} must be i32 or i64 but is {found}.")),
    }
}
