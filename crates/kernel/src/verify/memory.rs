//! The rules of arguments, loads, stores and atomics.

use super::{Rule, gives, gives_nothing, takes, takes_index};
use crate::ir::{ArrayDecl, AtomicOp, Inst, Kernel, Op, Place};
use crate::types::{Elem, Type};

pub(super) fn check(kernel: &Kernel, inst: &Inst) -> Rule {
    match &inst.op {
        Op::Arg { param, index } => {
            let Some(scalar) = kernel.scalars.get(*param as usize) else {
                return Err(missing("scalar", *param, kernel.scalars.len()));
            };
            match index {
                Some(index) => takes(kernel, "the index of an argument", *index, Type::I32)?,
                None if scalar.len > 1 => {
                    return Err(format!(
                        "argument {} of {} values must be read at an index but is read without.",
                        scalar.name, scalar.len
                    ));
                }
                None => {}
            }
            gives(kernel, inst, Type::Scalar(scalar.scalar))
        }
        Op::Load { place, elem, index } => {
            takes_index(kernel, "the index of a load", *index)?;
            readable(kernel, *place)?;
            let types = inst.results.iter().map(|v| kernel.type_of(*v)).collect::<Vec<_>>();
            elements(kernel, "load", *place, *elem, &types)
        }
        Op::Store { place, elem, index, values } => {
            takes_index(kernel, "the index of a store", *index)?;
            writable(kernel, *place)?;
            gives_nothing(inst)?;
            let types = values.iter().map(|v| kernel.type_of(*v)).collect::<Vec<_>>();
            elements(kernel, "store", *place, *elem, &types)
        }
        Op::Atomic { .. } => atomic(kernel, inst),
        _ => unreachable!("`rules` sends every other instruction elsewhere"),
    }
}

/// That a place exists and may be read.
pub(super) fn readable(kernel: &Kernel, place: Place) -> Rule {
    exists(kernel, place)?;
    match place {
        Place::Buffer(b) if !kernel.buffers[b as usize].access.reads() => {
            let buffer = &kernel.buffers[b as usize];
            Err(format!("buffer {} must be readable to be read but is {}.", buffer.name, buffer.access.name()))
        }
        _ => Ok(()),
    }
}

/// That a place exists and may be written.
pub(super) fn writable(kernel: &Kernel, place: Place) -> Rule {
    exists(kernel, place)?;
    match place {
        Place::Buffer(b) if !kernel.buffers[b as usize].access.writes() => {
            let buffer = &kernel.buffers[b as usize];
            Err(format!("buffer {} must be writable to be written but is {}.", buffer.name, buffer.access.name()))
        }
        _ => Ok(()),
    }
}

fn exists(kernel: &Kernel, place: Place) -> Rule {
    let (what, index, count) = match place {
        Place::Buffer(i) => ("buffer", i, kernel.buffers.len()),
        Place::Shared(i) => ("shared array", i, kernel.shared.len()),
        Place::Private(i) => ("private array", i, kernel.private.len()),
    };
    if index as usize >= count {
        return Err(missing(what, index, count));
    }
    Ok(())
}

fn missing(what: &str, index: u32, count: usize) -> String {
    format!("a {what} must be one of the {count} declared but is number {index}.")
}

fn array(kernel: &Kernel, place: Place) -> Option<&ArrayDecl> {
    match place {
        Place::Buffer(_) => None,
        Place::Shared(i) => Some(&kernel.shared[i as usize]),
        Place::Private(i) => Some(&kernel.private[i as usize]),
    }
}

/// That values of these types can be elements of an access: their number, their size, their types.
fn elements(kernel: &Kernel, what: &str, place: Place, elem: Elem, types: &[Type]) -> Rule {
    let (expected, size) = match array(kernel, place) {
        None => (elem.compute(), elem.bytes()),
        Some(decl) => {
            as_declared(what, elem, decl)?;
            (decl.compute(), decl.elem.bytes() * decl.lanes as usize)
        }
    };
    let count = types.len();
    if !matches!(count, 1 | 2 | 4 | 8 | 16) {
        return Err(format!("a {what} must move 1, 2, 4, 8 or 16 elements but moves {count}."));
    }
    let bytes = count * size;
    if count > 1 && bytes > 16 {
        return Err(format!("a wide {what} must move at most 16 bytes but moves {bytes}."));
    }
    if let Place::Buffer(b) = place {
        let buffer = &kernel.buffers[b as usize];
        if bytes > buffer.align as usize {
            return Err(format!(
                "buffer {} must be aligned to the {bytes} bytes of a {what} but is aligned to {}.",
                buffer.name, buffer.align
            ));
        }
    }
    match types.iter().find(|ty| **ty != expected) {
        Some(found) => Err(format!("the elements of a {what} as {} must be {expected} but are {found}.", elem.name())),
        None => Ok(()),
    }
}

fn as_declared(what: &str, elem: Elem, decl: &ArrayDecl) -> Rule {
    if elem != decl.elem {
        return Err(format!(
            "a {what} of array {} must be as {}, its declared type, but is as {}.",
            decl.name,
            decl.elem.name(),
            elem.name()
        ));
    }
    Ok(())
}

fn atomic(kernel: &Kernel, inst: &Inst) -> Rule {
    let Op::Atomic { op, place, elem, index, value, expected } = &inst.op else { unreachable!("called on atomics") };
    takes_index(kernel, "the index of an atomic", *index)?;
    readable(kernel, *place)?;
    writable(kernel, *place)?;
    if let Place::Private(i) = place {
        let name = &kernel.private[*i as usize].name;
        return Err(format!("an atomic must work on a buffer or a shared array but works on private array {name}."));
    }
    combinable(*op, *elem)?;
    if let Some(decl) = array(kernel, *place) {
        as_declared(op.name(), *elem, decl)?;
        if decl.lanes != 1 {
            return Err(format!(
                "an atomic must work on single components but array {} has {} per element.",
                decl.name, decl.lanes
            ));
        }
    }
    if let Place::Buffer(b) = place {
        let buffer = &kernel.buffers[*b as usize];
        if elem.bytes() > buffer.align as usize {
            return Err(format!(
                "buffer {} must be aligned to the {} bytes of an atomic but is aligned to {}.",
                buffer.name,
                elem.bytes(),
                buffer.align
            ));
        }
    }
    takes(kernel, "the value of an atomic", *value, elem.compute())?;
    match (op, expected) {
        (AtomicOp::CompareExchange, Some(v)) => takes(kernel, "the expected value of an atomic", *v, elem.compute())?,
        (AtomicOp::CompareExchange, None) => {
            return Err("atomic_compare_exchange must say what it expects but does not.".into());
        }
        (_, Some(_)) => return Err(format!("{} must expect nothing but expects a value.", op.name())),
        (_, None) => {}
    }
    gives(kernel, inst, elem.compute())
}

fn combinable(op: AtomicOp, elem: Elem) -> Rule {
    use AtomicOp::{Add, Exchange, Max, Min};
    match elem {
        Elem::I32 | Elem::U32 | Elem::I64 | Elem::U64 => Ok(()),
        Elem::F32 if matches!(op, Add | Min | Max | Exchange) => Ok(()),
        _ => Err(format!(
            "{} must work on i32, u32, i64 or u64 (or f32 for add, min, max and exchange) but works on {}.",
            op.name(),
            elem.name()
        )),
    }
}
