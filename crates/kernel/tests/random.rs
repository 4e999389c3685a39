//! Random kernels are well formed, the same for the same seed, and cover the language.

use std::collections::BTreeSet;

use pumice_kernel::interpret::{Launch, Memory, run};
use pumice_kernel::ir::{Block, Kernel};
use pumice_kernel::random::{RandomLimits, first_difference, random_kernel};
use pumice_kernel::verify::verify;
use pumice_kernel::{Elem, Scalar};

fn names(block: &Block, all: &mut BTreeSet<&'static str>) {
    for inst in &block.insts {
        all.insert(inst.op.name());
        inst.op.blocks().into_iter().for_each(|b| names(b, all));
    }
}

#[test]
fn random_kernels_are_well_formed() {
    for seed in 0..2000 {
        let random = random_kernel(seed, &RandomLimits::default());
        if let Err(error) = verify(&random.kernel) {
            panic!("seed {seed}: {error}\n{}", random.kernel);
        }
        assert_eq!(random.buffers.len(), random.kernel.buffers.len());
    }
}

#[test]
fn the_same_seed_gives_the_same_kernel() {
    let [a, b] = [7, 7].map(|seed| random_kernel(seed, &RandomLimits::default()));
    assert_eq!(a.kernel.to_string(), b.kernel.to_string());
    assert_eq!(a.buffers, b.buffers);
}

#[test]
fn random_kernels_cover_the_language() {
    let mut all = BTreeSet::new();
    for seed in 0..500 {
        names(&random_kernel(seed, &RandomLimits::default()).kernel.body, &mut all);
    }
    for name in [
        "fma",
        "div",
        "sqrt",
        "dot4",
        "narrow",
        "encode",
        "decode",
        "bitcast",
        "convert_s",
        "convert_u",
        "compose",
        "extract",
        "select",
        "load",
        "store",
        "atomic_add",
        "atomic_xor",
        "barrier",
        "subgroup",
        "shuffle",
        "shuffle_xor",
        "ballot",
        "all",
        "any",
        "if",
        "for",
        "while",
        "mul_high_s",
        "reverse_bits",
        "round_even",
    ] {
        assert!(all.contains(name), "{name} never occurs");
    }
}

#[test]
fn what_the_limits_exclude_does_not_occur() {
    let limits =
        RandomLimits { f64: false, subgroups: false, shared: false, atomics: false, ..RandomLimits::default() };
    let mut all = BTreeSet::new();
    for seed in 0..300 {
        let random: Kernel = random_kernel(seed, &limits).kernel;
        assert!(random.types.iter().all(|ty| ty.scalar() != Some(Scalar::F64)), "seed {seed}");
        assert!(random.shared.is_empty());
        names(&random.body, &mut all);
    }
    for name in ["barrier", "subgroup", "lane", "shuffle", "ballot", "any", "atomic_add"] {
        assert!(!all.contains(name), "{name} occurs");
    }
}

#[test]
fn any_nan_equals_any_nan() {
    let nans = [0x7fc0_0000u32, 0xffc0_0001].map(u32::to_le_bytes);
    assert_eq!(first_difference(Elem::F32, &nans[0], &nans[1]), None);
    assert_eq!(first_difference(Elem::U32, &nans[0], &nans[1]), Some(0));
    assert_eq!(first_difference(Elem::U8, &[1, 2, 3], &[1, 2, 4]), Some(2));
}

#[test]
fn random_kernels_run_without_errors_or_races() {
    for seed in 0..400 {
        let random = random_kernel(seed, &RandomLimits::default());
        for subgroup_size in [1, 8, 32] {
            let mut memories: Vec<Memory> = random.buffers.iter().map(|b| Memory::Owned(b.clone())).collect();
            let launch = Launch {
                groups: random.groups,
                scalars: &random.scalars,
                subgroup_size,
                check_races: true,
                ..Launch::default()
            };
            if let Err(error) = run(&random.kernel, &launch, &mut memories) {
                panic!("seed {seed}, subgroups of {subgroup_size}: {error}\n{}", random.kernel);
            }
        }
    }
}
