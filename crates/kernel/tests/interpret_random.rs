//! Lockstep against one invocation at a time: whatever the others do, each must compute the same.

use pumice_kernel::interpret::{Launch, Memory, run};
use pumice_kernel::ir::{Block, Builtin, CompareOp, Inst, Kernel, Line, Op};
use pumice_kernel::random::{RandomKernel, RandomLimits, first_difference, random_kernel};
use pumice_kernel::types::Type;

fn outcome(random: &RandomKernel, kernel: &Kernel, mut buffers: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    let mut memories: Vec<Memory<'_>> = buffers.iter_mut().map(|bytes| Memory::Mut(bytes)).collect();
    let launch = Launch { groups: random.groups, scalars: &random.scalars, ..Launch::default() };
    run(kernel, &launch, &mut memories).unwrap_or_else(|error| panic!("{error}\n{kernel}"));
    drop(memories);
    buffers
}

/// The same kernel for one invocation of each workgroup only.
fn alone(kernel: &Kernel, invocation: u32) -> Kernel {
    let mut kernel = kernel.clone();
    let [index, number, condition] = [Type::I32, Type::I32, Type::BOOL].map(|ty| kernel.fresh(ty));
    let line = Line { file: file!(), line: line!() };
    let then = std::mem::take(&mut kernel.body);
    let ops = [
        (vec![index], Op::Builtin(Builtin::LocalIndex)),
        (vec![number], Op::Const(invocation as u64)),
        (vec![condition], Op::Compare(CompareOp::Eq, index, number)),
        (vec![], Op::If { condition, then: then.into(), otherwise: Box::default() }),
    ];
    kernel.body.insts = ops.into_iter().map(|(results, op)| Inst { results: results.into(), op, line }).collect();
    kernel
}

fn has_barrier(block: &Block) -> bool {
    let nested = |op: &Op| op.blocks().into_iter().any(has_barrier);
    block.insts.iter().any(|inst| matches!(inst.op, Op::Barrier(_)) || nested(&inst.op))
}

#[test]
fn an_invocation_computes_the_same_alone_as_in_lockstep() {
    let limits = RandomLimits { subgroups: false, shared: false, max_invocations: 16, ..RandomLimits::default() };
    let kernels = (0..200).map(|seed| random_kernel(seed, &limits)).filter(|random| !has_barrier(&random.kernel.body));
    let mut compared = 0;
    for random in kernels {
        let together = outcome(&random, &random.kernel, random.buffers.clone());
        let one_by_one = (0..random.kernel.invocations())
            .fold(random.buffers.clone(), |buffers, i| outcome(&random, &alone(&random.kernel, i), buffers));
        for ((param, a), b) in random.kernel.buffers.iter().zip(&together).zip(&one_by_one) {
            let difference = first_difference(param.elem, a, b);
            assert_eq!(difference, None, "{}:\n{}", param.name, random.kernel);
        }
        compared += 1;
    }
    assert!(compared > 50, "{compared} kernels without barriers");
}
