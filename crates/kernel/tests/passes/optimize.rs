//! The whole list of passes.

use super::*;
use pumice_kernel::passes::optimize;

#[test]
fn keeps_bits_of_random_kernels() {
    keeps_bits(0..250, optimize);
}

#[test]
#[ignore = "slow"]
fn keeps_bits_of_many_random_kernels() {
    keeps_bits(500..20_000, optimize);
}

#[test]
fn a_second_time_changes_nothing_more() {
    for seed in 0..100 {
        let mut once = random_kernel(seed, &RandomLimits::default()).kernel;
        optimize(&mut once);
        let instructions = count(&once.body, &|_| true);
        optimize(&mut once);
        assert!(count(&once.body, &|_| true) <= instructions, "seed {seed}");
    }
}
