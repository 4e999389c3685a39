//! Passes keep bits, and do what they are for.

mod checked;
mod cse;
mod dce;
mod optimize;
mod vectorize;

use pumice_kernel::interpret::{Binding, Launch, Memory, run};
use pumice_kernel::ir::{Block, Kernel, Op};
use pumice_kernel::random::{RandomKernel, RandomLimits, first_difference, random_kernel};
use pumice_kernel::verify::verify;
use pumice_kernel::{Access, Builder, Elem};

/// What the buffers of a random kernel hold after a launch.
fn outcome(random: &RandomKernel, kernel: &Kernel, subgroup_size: u32) -> Vec<Vec<u8>> {
    let mut memories: Vec<Memory> = random.buffers.iter().map(|b| Memory::Owned(b.clone())).collect();
    let launch = Launch {
        groups: random.groups,
        scalars: &random.scalars,
        subgroup_size,
        check_races: true,
        ..Launch::default()
    };
    if let Err(error) = run(kernel, &launch, &mut memories) {
        panic!("{error}\n{}\nbecame\n{kernel}", random.kernel);
    }
    memories.iter().map(|m| m.bytes().to_vec()).collect()
}

/// That a pass leaves every random kernel well formed and with the same bits.
fn keeps_bits(seeds: std::ops::Range<u64>, pass: fn(&mut Kernel)) {
    for seed in seeds {
        let random = random_kernel(seed, &RandomLimits::default());
        let mut after = random.kernel.clone();
        pass(&mut after);
        if let Err(error) = verify(&after) {
            panic!("seed {seed}: {error}\n{}\nbecame\n{after}", random.kernel);
        }
        for subgroup_size in [1, 8, 32] {
            let [old, new] = [&random.kernel, &after].map(|k| outcome(&random, k, subgroup_size));
            for (i, param) in random.kernel.buffers.iter().enumerate() {
                let difference = first_difference(param.elem, &old[i], &new[i]);
                assert_eq!(difference, None, "seed {seed}, {}:\n{}\nbecame\n{after}", param.name, random.kernel);
            }
        }
    }
}

fn count(block: &Block, is: &dyn Fn(&Op) -> bool) -> usize {
    let nested = |op: &Op| op.blocks().into_iter().map(|b| count(b, is)).sum::<usize>();
    block.insts.iter().map(|i| is(&i.op) as usize + nested(&i.op)).sum()
}

fn loads(kernel: &Kernel) -> usize {
    count(&kernel.body, &|op| matches!(op, Op::Load { .. }))
}

fn stores(kernel: &Kernel) -> usize {
    count(&kernel.body, &|op| matches!(op, Op::Store { .. }))
}

/// A kernel after a pass.
fn after(pass: fn(&mut Kernel), write: impl FnOnce(&Builder)) -> Kernel {
    let mut kernel = Kernel::build("kernel", [64, 1, 1], write).expect("builds");
    pass(&mut kernel);
    verify(&kernel).expect("is still well formed");
    kernel
}
