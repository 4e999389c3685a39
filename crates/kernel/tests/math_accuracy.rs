//! Every mathematical function stays within its bound over all of f32, in the interpreter.

use pumice_kernel::arguments::Argument;
use pumice_kernel::interpret::{Launch, Memory, run};
use pumice_kernel::math::catalogue::{MathFunction, Worst, table};

/// Every how many floats one is tried: prime, so that all patterns of bits occur.
fn step() -> u32 {
    if std::env::var_os("PUMICE_SLOW").is_some() { 257 } else { 65_521 }
}

/// Runs a function in the interpreter.
fn interpreted(function: &MathFunction, x: &[f32], y: &[f32]) -> Vec<f32> {
    let kernel = function.kernel().expect("the function is well formed");
    let mut memories = [Memory::of(x), Memory::of(y), Memory::zeros(4 * x.len())];
    let scalars = [Argument::I32(x.len() as i32)];
    let groups = (x.len() as u32).div_ceil(kernel.invocations());
    let launch = Launch { groups: [groups, 1, 1], scalars: &scalars, ..Launch::default() };
    run(&kernel, &launch, &mut memories).expect("the function runs");
    memories[2].to_vec()
}

fn worst(function: &MathFunction) -> Worst {
    let (x, y) = function.samples(step());
    // In pieces, so that a fine sweep needs little memory.
    let pieces = x.chunks(1 << 20).zip(y.chunks(1 << 20));
    let worsts = pieces.map(|(x, y)| function.worst(x, y, &interpreted(function, x, y)));
    worsts.max_by(|a, b| a.ulp.total_cmp(&b.ulp)).expect("there are samples")
}

#[test]
fn every_function_stays_within_its_bound() {
    let mut failed = Vec::new();
    for function in table() {
        let worst = worst(function);
        println!(
            "{:12} bound {:3} worst {:.3} at {:e} {:e}",
            function.name, function.bound_ulp, worst.ulp, worst.x, worst.y
        );
        if worst.ulp > function.bound_ulp {
            failed.push((function.name, worst));
        }
    }
    assert!(failed.is_empty(), "beyond their bounds: {failed:#?}");
}
