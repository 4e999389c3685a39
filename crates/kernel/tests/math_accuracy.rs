//! Every mathematical function stays within its bound over all of f32, in the interpreter.

use std::path::Path;

use pumice_kernel::Kernel;
use pumice_kernel::arguments::Argument;
use pumice_kernel::interpret::{Launch, Memory, run};
use pumice_kernel::math::catalogue::{MathFunction, Worst, document, table};

/// Every how many floats one is tried: prime, so that all patterns of bits occur.
fn step() -> u32 {
    if std::env::var_os("PUMICE_SLOW").is_some() { 257 } else { 65_521 }
}

/// Runs a function in the interpreter.
fn interpreted(kernel: &Kernel, flush_fma: bool, x: &[f32], y: &[f32]) -> Vec<f32> {
    let mut memories = [Memory::of(x), Memory::of(y), Memory::zeros(4 * x.len())];
    let scalars = [Argument::I32(x.len() as i32)];
    let groups = (x.len() as u32).div_ceil(kernel.invocations());
    let launch = Launch { groups: [groups, 1, 1], scalars: &scalars, flush_fma, ..Launch::default() };
    run(kernel, &launch, &mut memories).expect("the function runs");
    memories[2].to_vec()
}

fn worst(function: &MathFunction, flush_fma: bool) -> Worst {
    let kernel = function.kernel().expect("the function is well formed");
    let (x, y) = function.samples(step());
    // In pieces, so that a fine sweep needs little memory.
    let pieces = x.chunks(1 << 20).zip(y.chunks(1 << 20));
    let worsts = pieces.map(|(x, y)| function.worst(x, y, &interpreted(&kernel, flush_fma, x, y)));
    worsts.max_by(|a, b| a.ulp.total_cmp(&b.ulp)).expect("there are samples")
}

#[test]
fn every_function_stays_within_its_bound() {
    let worsts: Vec<Worst> = table().iter().map(|function| worst(function, false)).collect();
    println!("{}", document("", "interpreter", &worsts));
    for (function, worst) in table().iter().zip(&worsts) {
        assert!(
            worst.ulp <= function.bound_ulp,
            "{} must be within {} ulp but is {worst:?}",
            function.name,
            function.bound_ulp
        );
    }
    if std::env::var_os("PUMICE_BLESS").is_some() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/math.md");
        let previous = std::fs::read_to_string(&path).unwrap_or_default();
        std::fs::create_dir_all(path.parent().expect("docs")).expect("docs can be made");
        std::fs::write(&path, document(&previous, "interpreter", &worsts)).expect("the table can be written");
    }
}

#[test]
fn every_function_stays_within_its_bound_where_fma_takes_denormals_for_zeros() {
    for function in table() {
        let worst = worst(function, true);
        let (name, bound) = (function.name, function.bound_ulp);
        assert!(worst.ulp <= bound, "{name} must be within {bound} ulp but is {worst:?}");
    }
}
