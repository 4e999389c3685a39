//! A kernel as text, for people and for tests that compare it.
//!
//! Deterministic, one instruction a line, blocks indented; values are `%n` with their types where they are defined.

mod names;

use std::fmt::{self, Display, Formatter};

use crate::ir::{Block, Inst, Kernel, MatrixOp, Op, Place, Tile, Unroll, Value};
use crate::types::{Scalar, Type};

/// The kernel as text.
pub fn print(kernel: &Kernel) -> String {
    kernel.to_string()
}

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "%{}", self.0)
    }
}

impl Display for Kernel {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.workgroup;
        writeln!(f, "kernel {} [{x}, {y}, {z}]", self.name)?;
        for (i, b) in self.buffers.iter().enumerate() {
            writeln!(f, "buffer {i} {}: {} {} align {}", b.name, b.elem.name(), b.access.name(), b.align)?;
        }
        for (i, s) in self.scalars.iter().enumerate() {
            write!(f, "scalar {i} {}: {}", s.name, s.scalar.name())?;
            if s.len > 1 { writeln!(f, "[{}]", s.len)? } else { writeln!(f)? }
        }
        for (kind, arrays) in [("shared", &self.shared), ("private", &self.private)] {
            for (i, a) in arrays.iter().enumerate() {
                let lanes = if a.lanes > 1 { format!("x{}", a.lanes) } else { String::new() };
                writeln!(f, "{kind} {i} {}: {}{lanes}[{}]", a.name, a.elem.name(), a.len)?;
            }
        }
        if let Some(c) = &self.checked {
            writeln!(f, "checked: report {}, bounds {}, {} sites", c.report, c.bounds, c.sites.len())?;
        }
        writeln!(f, "{{")?;
        Printer { kernel: self, f }.block(&self.body, 1)?;
        writeln!(f, "}}")
    }
}

struct Printer<'k, 'f, 'g> {
    kernel: &'k Kernel,
    f: &'f mut Formatter<'g>,
}

impl Printer<'_, '_, '_> {
    fn block(&mut self, block: &Block, depth: usize) -> fmt::Result {
        for inst in &block.insts {
            self.indent(depth)?;
            self.inst(inst, depth)?;
            writeln!(self.f)?;
        }
        if !block.yields.is_empty() {
            self.indent(depth)?;
            writeln!(self.f, "yield {}", List(&block.yields))?;
        }
        Ok(())
    }

    fn indent(&mut self, depth: usize) -> fmt::Result {
        (0..depth).try_for_each(|_| self.f.write_str("  "))
    }

    fn inst(&mut self, inst: &Inst, depth: usize) -> fmt::Result {
        self.definitions(&inst.results)?;
        if !inst.results.is_empty() {
            self.f.write_str(" = ")?;
        }
        match &inst.op {
            Op::If { .. } | Op::For { .. } | Op::While { .. } => self.control(&inst.op, depth),
            Op::Load { .. } | Op::Store { .. } | Op::Atomic { .. } => self.memory(&inst.op),
            Op::Matrix(op) => self.matrix(op),
            op => self.plain(op, &inst.results),
        }
    }

    fn definitions(&mut self, values: &[Value]) -> fmt::Result {
        for (i, &v) in values.iter().enumerate() {
            let comma = if i > 0 { ", " } else { "" };
            write!(self.f, "{comma}{v}: {}", self.kernel.type_of(v))?;
        }
        Ok(())
    }

    fn plain(&mut self, op: &Op, results: &[Value]) -> fmt::Result {
        let name = op.name();
        match op {
            Op::Const(bits) => match results {
                [v] => write!(self.f, "const {}", Bits(self.kernel.type_of(*v), *bits)),
                _ => write!(self.f, "const {bits:#x}"),
            },
            Op::Builtin(b) => match b.axis() {
                Some(axis) => write!(self.f, "{name} {}", ["x", "y", "z"].get(axis as usize).unwrap_or(&"?")),
                None => write!(self.f, "{name}"),
            },
            Op::Arg { param, index } => {
                let called = self.kernel.scalars.get(*param as usize).map_or("?", |p| &p.name);
                match index {
                    Some(i) => write!(self.f, "arg {called}[{i}]"),
                    None => write!(self.f, "arg {called}"),
                }
            }
            Op::Narrow(elem, v) | Op::Encode(elem, v) | Op::Decode(elem, v) => {
                write!(self.f, "{name} {} {v}", elem.name())
            }
            Op::Extract(v, at) => write!(self.f, "{name} {v}.{at}"),
            Op::Barrier(fence) => write!(self.f, "{name} {}", fence.name()),
            Op::Subgroup { op, kind, value } => write!(self.f, "{name} {} {} {value}", kind.name(), op.0.name()),
            Op::Dot4 { signed_a, signed_b, a, b, accumulator } => {
                let sign = |signed: &bool| if *signed { "s" } else { "u" };
                write!(self.f, "{name} {}{} {a}, {b}, {accumulator}", sign(signed_a), sign(signed_b))
            }
            op => write!(self.f, "{name} {}", List(&op.operands())),
        }
    }

    fn place(&self, place: Place) -> &str {
        match place {
            Place::Buffer(i) => self.kernel.buffers.get(i as usize).map_or("?", |b| &b.name),
            Place::Shared(i) => self.kernel.shared.get(i as usize).map_or("?", |a| &a.name),
            Place::Private(i) => self.kernel.private.get(i as usize).map_or("?", |a| &a.name),
        }
    }

    fn memory(&mut self, op: &Op) -> fmt::Result {
        let name = op.name();
        match op {
            Op::Load { place, elem, index } => {
                let place = self.place(*place).to_owned();
                write!(self.f, "{name} {} {place}[{index}]", elem.name())
            }
            Op::Store { place, elem, index, values } => {
                let place = self.place(*place).to_owned();
                write!(self.f, "{name} {} {place}[{index}], {}", elem.name(), List(values))
            }
            Op::Atomic { place, elem, index, value, expected, .. } => {
                let place = self.place(*place).to_owned();
                write!(self.f, "{name} {} {place}[{index}], {value}", elem.name())?;
                match expected {
                    Some(v) => write!(self.f, " if {v}"),
                    None => Ok(()),
                }
            }
            _ => unreachable!("called on memory operations"),
        }
    }

    fn matrix(&mut self, op: &MatrixOp) -> fmt::Result {
        let name = op.name();
        match op {
            MatrixOp::Load { place, index, stride, layout, align, .. } => {
                let place = self.place(*place).to_owned();
                write!(self.f, "{name} {place}[{index}] stride {stride} {} align {align}", layout.name())
            }
            MatrixOp::Store { matrix, place, index, stride, layout, align } => {
                let place = self.place(*place).to_owned();
                write!(self.f, "{name} {place}[{index}] stride {stride} {} align {align}, {matrix}", layout.name())
            }
            MatrixOp::LoadTile { buffer, tile, transpose, .. } => {
                let place = self.place(Place::Buffer(*buffer)).to_owned();
                let turned = if *transpose { " transposed" } else { "" };
                write!(self.f, "{name} {place} {tile}{turned}")
            }
            MatrixOp::StoreTile { matrix, buffer, tile } => {
                let place = self.place(Place::Buffer(*buffer)).to_owned();
                write!(self.f, "{name} {place} {tile}, {matrix}")
            }
            MatrixOp::Fill(_, v) | MatrixOp::Convert(_, v) => write!(self.f, "{name} {v}"),
            MatrixOp::MulAdd(a, b, c) => write!(self.f, "{name} {a}, {b}, {c}"),
            MatrixOp::Scale(a, b) | MatrixOp::Add(a, b) => write!(self.f, "{name} {a}, {b}"),
        }
    }

    fn control(&mut self, op: &Op, depth: usize) -> fmt::Result {
        match op {
            Op::If { condition, then, otherwise } => {
                writeln!(self.f, "if {condition} {{")?;
                self.block(then, depth + 1)?;
                if !otherwise.insts.is_empty() || !otherwise.yields.is_empty() {
                    self.indent(depth)?;
                    writeln!(self.f, "}} else {{")?;
                    self.block(otherwise, depth + 1)?;
                }
            }
            Op::For { start, end, step, init, body, unroll } => {
                write!(self.f, "for ")?;
                self.definitions(&body.params)?;
                write!(self.f, " in {start}..{end} step {step}")?;
                if !init.is_empty() {
                    write!(self.f, " from {}", List(init))?;
                }
                let unroll = match unroll {
                    Unroll::Free => "",
                    Unroll::Whole => " unroll",
                    Unroll::Never => " rolled",
                };
                writeln!(self.f, "{unroll} {{")?;
                self.block(body, depth + 1)?;
            }
            Op::While { init, test, body } => {
                write!(self.f, "while ")?;
                self.definitions(&test.params)?;
                writeln!(self.f, " from {} {{", List(init))?;
                self.block(test, depth + 1)?;
                self.indent(depth)?;
                write!(self.f, "}} do ")?;
                self.definitions(&body.params)?;
                writeln!(self.f, " {{")?;
                self.block(body, depth + 1)?;
            }
            _ => unreachable!("called on control flow"),
        }
        self.indent(depth)?;
        write!(self.f, "}}")
    }
}

/// Values with commas between.
struct List<'a>(&'a [Value]);

impl Display for List<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (i, v) in self.0.iter().enumerate() {
            write!(f, "{}{v}", if i > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}

impl Display for Tile {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Tile { rows, cols, stride, row, col, align } = self;
        write!(f, "[{row}, {col}] of {rows} x {cols} stride {stride} align {align}")
    }
}

/// A constant: integers signed, floats in the shortest form that reads back, NaN by its bits.
struct Bits(Type, u64);

impl Display for Bits {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Bits(ty, bits) = *self;
        match ty.scalar() {
            Some(Scalar::Bool) => write!(f, "{}", bits != 0),
            Some(Scalar::I32) => write!(f, "{}", bits as u32 as i32),
            Some(Scalar::I64) => write!(f, "{}", bits as i64),
            Some(Scalar::F32) if !f32::from_bits(bits as u32).is_nan() => {
                write!(f, "{:?}", f32::from_bits(bits as u32))
            }
            Some(Scalar::F64) if !f64::from_bits(bits).is_nan() => write!(f, "{:?}", f64::from_bits(bits)),
            _ => write!(f, "{bits:#x}"),
        }
    }
}
