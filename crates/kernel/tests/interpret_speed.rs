//! How fast the interpreter is: it runs users' kernels where there is no GPU, and thousands of kernels in tests.
//!
//! `cargo test --release -p pumice-kernel --test interpret_speed -- --ignored --nocapture`

use std::time::Instant;

use pumice_kernel::arguments::Argument;
use pumice_kernel::interpret::{Launch, Memory, run};
use pumice_kernel::{Elem, Kernel, Scalar};

/// Instructions times invocations per second, the best of several runs.
fn lane_operations_per_second(kernel: &Kernel, launch: &Launch<'_>, memories: &mut [Memory<'_>]) -> f64 {
    let mut best = 0f64;
    for _ in 0..5 {
        let start = Instant::now();
        let report = run(kernel, launch, memories).expect("nothing is wrong");
        let operations = report.steps as f64 * kernel.invocations() as f64;
        best = best.max(operations / start.elapsed().as_secs_f64());
    }
    best
}

fn report(name: &str, speed: f64) {
    println!("{name:<28} {:8.0} M lane operations/s", speed / 1e6);
}

#[test]
#[ignore = "slow"]
fn a_hundred_million_lane_operations_a_second() {
    if cfg!(debug_assertions) {
        println!("not measured without --release");
        return;
    }
    let arithmetic = Kernel::build("arithmetic", [256, 1, 1], |k| {
        let (x, out) = (k.input("x", Elem::F32), k.output("out", Elem::F32));
        let i = k.global_index();
        let v = x.load(i);
        let last = k.for_(0, k.i32(100), 1, v, |j, v| {
            let w = v * v + 0.5f32;
            let u = w.fma(v, j.to(Scalar::F32)).max(w) - v;
            u.lt(1e6f32).select(u, w) * 0.25f32
        });
        out.store(i, last);
    })
    .expect("the kernel is well formed");
    let n = 256 * 16;
    let values: Vec<f32> = (0..n).map(|i| i as f32 / n as f32).collect();
    let mut memories = [Memory::of(&values), Memory::zeros(4 * n)];
    let launch = Launch { groups: [16, 1, 1], ..Launch::default() };
    let speed = lane_operations_per_second(&arithmetic, &launch, &mut memories);
    report("arithmetic in a loop", speed);
    assert!(speed > 1e8);

    for workgroup in [32, 64, 256] {
        let add = Kernel::build("add", [workgroup, 1, 1], |k| {
            let (a, b, c) = (k.input("a", Elem::F32), k.input("b", Elem::F32), k.output("c", Elem::F32));
            k.each(k.arg_i32("n"), |i| c.store(i, a.load(i) + b.load(i)));
        })
        .expect("the kernel is well formed");
        let n = 1usize << 18;
        let mut memories = [Memory::zeros(4 * n), Memory::zeros(4 * n), Memory::zeros(4 * n)];
        let scalars = [Argument::I32(n as i32)];
        let groups = [n as u32 / workgroup, 1, 1];
        let launch = Launch { groups, scalars: &scalars, ..Launch::default() };
        let speed = lane_operations_per_second(&add, &launch, &mut memories);
        report(&format!("add, workgroups of {workgroup}"), speed);
        assert!(speed > 1e8);
    }

    let sum = Kernel::build("row sum", [128, 1, 1], |k| {
        let (x, out) = (k.input("x", Elem::BF16), k.output("out", Elem::F32));
        let (row, n) = (k.group_id(0), k.i32(4096));
        let part = k.for_(k.local_index(), n, 128, k.f32(0.0), |j, sum| sum + x.load(row * n + j));
        let whole = k.group_sum(part);
        k.when(k.local_index().eq(0), || out.store(row, whole));
    })
    .expect("the kernel is well formed");
    let mut memories = [Memory::zeros(64 * 4096 * 2), Memory::zeros(64 * 4)];
    let launch = Launch { groups: [64, 1, 1], ..Launch::default() };
    let speed = lane_operations_per_second(&sum, &launch, &mut memories);
    report("bf16 row sum", speed);
    assert!(speed > 1e8);
}
