//! The rules of blocks: parameters, yields and results of `if`, `for` and `while` agree in number and type.

use super::{Rule, takes, takes_index};
use crate::ir::{Inst, Kernel, Op, Value};
use crate::types::Type;

pub(super) fn check(kernel: &Kernel, inst: &Inst) -> Rule {
    match &inst.op {
        Op::If { condition, then, otherwise } => {
            takes(kernel, "the condition of an if", *condition, Type::BOOL)?;
            agree(kernel, "the parameters of an if's blocks", &then.params, &[])?;
            agree(kernel, "the parameters of an if's blocks", &otherwise.params, &[])?;
            agree(kernel, "the yields of an if's first block", &then.yields, &inst.results)?;
            agree(kernel, "the yields of an if's second block", &otherwise.yields, &inst.results)
        }
        Op::For { start, end, step, init, body, .. } => {
            takes_index(kernel, "the start of a for", *start)?;
            let ty = kernel.type_of(*start);
            takes(kernel, "the end of a for", *end, ty)?;
            takes(kernel, "the step of a for", *step, ty)?;
            let Some((index, carried)) = body.params.split_first() else {
                return Err("the body of a for must have the index as a parameter but has none.".into());
            };
            takes(kernel, "the index of a for", *index, ty)?;
            agree(kernel, "the carried parameters of a for", carried, init)?;
            agree(kernel, "the yields of a for", &body.yields, init)?;
            agree(kernel, "the results of a for", &inst.results, init)
        }
        Op::While { init, test, body } => {
            agree(kernel, "the parameters of a while's test", &test.params, init)?;
            agree(kernel, "the parameters of a while's body", &body.params, init)?;
            match test.yields[..] {
                [condition] => takes(kernel, "the yield of a while's test", condition, Type::BOOL)?,
                _ => return Err(format!("a while's test must yield one bool but yields {}.", test.yields.len())),
            }
            agree(kernel, "the yields of a while", &body.yields, init)?;
            agree(kernel, "the results of a while", &inst.results, init)
        }
        _ => unreachable!("`rules` sends every other instruction elsewhere"),
    }
}

/// That two lists of values have the same types.
fn agree(kernel: &Kernel, what: &str, found: &[Value], expected: &[Value]) -> Rule {
    if found.len() != expected.len() {
        return Err(format!("{what} must be {} but are {}.", expected.len(), found.len()));
    }
    for (&a, &b) in found.iter().zip(expected) {
        let (a, b) = (kernel.type_of(a), kernel.type_of(b));
        if a != b {
            return Err(format!("{what} must match in type but are {a} where {b} is needed."));
        }
    }
    Ok(())
}
