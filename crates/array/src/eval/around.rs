//! Kernels with maps around them, and the maps themselves: from calls on the tape to what kernels are written with.

use crate::error::Result;
use crate::eval::elements::Maps;
use crate::eval::fuse::lowered;
use crate::eval::map::{Group, GroupInput, GroupNode, Operand};
use crate::eval::order::{Tape, ValueId};
use crate::eval::plan::{Planner, reach};
use crate::eval::site::{Placed, Site};
use crate::op::Lowering;
use crate::shape::Spec;

/// Maps, and the values they store.
pub(super) struct Members {
    pub maps: Maps,
    pub made: Vec<ValueId>,
}

impl Maps {
    /// Maps over a shape; inputs are broadcast to it.
    pub fn new(nodes: Vec<GroupNode>, outputs: Vec<usize>, inputs: Vec<Placed>, shape: &[i32]) -> Maps {
        let inputs: Vec<Placed> =
            inputs.into_iter().map(|placed| Placed { layout: placed.layout.broadcast_to(shape), ..placed }).collect();
        let reached = inputs.iter().map(|p| GroupInput { dtype: p.dtype, access: reach(p) }).collect();
        Maps { group: Group { inputs: reached, nodes, outputs }, inputs, shape: shape.into() }
    }
}

impl Planner {
    /// The maps that calls are. The last call's result is stored, and what somebody looks at afterwards. What the maps are
    /// given by a kernel comes first among their inputs.
    pub(super) fn members(&self, tape: &Tape, calls: &[usize], given: Option<(ValueId, &Placed)>) -> Members {
        let (mut ids, mut inputs): (Vec<ValueId>, Vec<Placed>) =
            given.into_iter().map(|(id, placed)| (id, placed.clone())).unzip();
        let mut nodes: Vec<GroupNode> = Vec::with_capacity(calls.len());
        let mut made: Vec<ValueId> = Vec::with_capacity(calls.len());
        for &index in calls {
            let call = &tape.calls[index];
            let operands = call.inputs.iter().map(|&value| {
                if let Some(node) = made.iter().position(|&m| m == value) {
                    return Operand::Node(node);
                }
                Operand::Input(ids.iter().position(|&id| id == value).unwrap_or_else(|| {
                    ids.push(value);
                    inputs.push(self.at(value).clone());
                    ids.len() - 1
                }))
            });
            nodes.push(GroupNode {
                op: call.op.clone(),
                operands: operands.collect(),
                inputs: call.inputs.iter().map(|&v| tape.values[v as usize].spec.clone()).collect(),
                output: tape.values[call.outputs[0] as usize].spec.clone(),
            });
            made.push(call.outputs[0]);
        }
        let last = made.len() - 1;
        let stored: Vec<usize> = (0..=last).filter(|&i| i == last || tape.values[made[i] as usize].held).collect();
        let made = stored.iter().map(|&i| made[i]).collect();
        let shape = nodes[last].output.shape.clone();
        Members { maps: Maps::new(nodes, stored, inputs, &shape), made }
    }

    /// Says where values lie.
    pub(super) fn place(&mut self, values: &[ValueId], places: Vec<Placed>) {
        for (&value, place) in values.iter().zip(places) {
            self.placed[value as usize] = Some(place);
        }
    }

    /// Plans a call that is kernels, with the maps that make its first input and those that are made of its first output.
    pub(super) fn kernels(&mut self, tape: &Tape, before: &[usize], index: usize, after: &[usize]) -> Result<()> {
        let call = &tape.calls[index];
        self.begin(call.stream);
        let specs = |ids: &[ValueId]| ids.iter().map(|&v| tape.values[v as usize].spec.clone()).collect::<Vec<Spec>>();
        let (input_specs, output_specs) = (specs(&call.inputs), specs(&call.outputs));
        let before = (!before.is_empty()).then(|| self.members(tape, before, None).maps);
        if before.is_some() {
            // Where it would lie; the memory is never asked for if nobody writes it.
            self.placed[call.inputs[0] as usize] = Some(self.allocate(&input_specs[0]));
        }
        let inputs: Vec<Placed> = call.inputs.iter().map(|&v| self.at(v).clone()).collect();
        let outputs: Vec<Placed> = output_specs.iter().map(|spec| self.allocate(spec)).collect();
        let members = (!after.is_empty()).then(|| self.members(tape, after, Some((call.outputs[0], &outputs[0]))));
        let after = members.as_ref().map(|members| {
            let stored = members.made.iter().map(|&v| self.allocate(&tape.values[v as usize].spec)).collect();
            (members.maps.clone(), stored)
        });
        let nothing = output_specs.iter().all(|spec| spec.size() == 0);
        let target = self.target;
        let mut site =
            Site { planner: self, inputs, outputs, input_specs, output_specs, before, after, settled: nothing };
        if !nothing {
            lowered(tape, call, target, |lowering, _| match lowering {
                Lowering::Kernels(kernels) => kernels.launch(&mut site),
                _ => unreachable!("[{}] was kernels when it was ordered", call.op.name()),
            })?;
        }
        let (outputs, stored) = site.finish()?;
        self.place(&call.outputs, outputs);
        if let Some(members) = members {
            self.place(&members.made, stored);
        }
        Ok(())
    }
}
