//! Control flow of the interpreter: masks, carried values, barriers, limits.

use pumice_kernel::arguments::Argument;
use pumice_kernel::interpret::{Launch, Memory, Report, run};
use pumice_kernel::ir::{Builtin, Op};
use pumice_kernel::{Access, Builder, Elem, Error, Kernel, Result, Scalar, Val};

fn build(workgroup: u32, write: impl FnOnce(&Builder)) -> Kernel {
    Kernel::build("kernel", [workgroup, 1, 1], write).expect("the kernel is well formed")
}

fn run_groups(kernel: &Kernel, groups: u32, scalars: &[Argument], memories: &mut [Memory<'_>]) -> Result<Report> {
    run(kernel, &Launch { groups: [groups, 1, 1], scalars, ..Launch::default() }, memories)
}

/// What one workgroup leaves in a buffer with an I32 for each invocation.
fn output(kernel: &Kernel) -> Vec<i32> {
    let mut memories = [Memory::zeros(4 * kernel.invocations() as usize)];
    run_groups(kernel, 1, &[], &mut memories).expect("nothing is wrong");
    memories[0].to_vec()
}

fn message(result: Result<Report>) -> String {
    match result.expect_err("something is wrong") {
        Error::Execution { message, .. } => message,
        other => panic!("{other} should be an error of execution"),
    }
}

#[test]
fn a_sum_of_buffers_leaves_the_rest_alone() {
    let kernel = build(4, |k| {
        let (a, b, c) = (k.input("a", Elem::F32), k.input("b", Elem::F32), k.output("c", Elem::F32));
        k.each(k.arg_i32("n"), |i| c.store(i, a.load(i) + b.load(i)));
    });
    let (a, b) = ([1f32, 2., 3., 4., 5.], [10f32, 20., 30., 40., 50.]);
    let mut memories = [Memory::of(&a), Memory::of(&b), Memory::of(&[-1f32; 6])];
    let report = run_groups(&kernel, 2, &[Argument::I32(5)], &mut memories).expect("nothing is wrong");
    assert_eq!(memories[2].to_vec::<f32>(), [11., 22., 33., 44., 55., -1.]);
    assert_eq!(report.groups, 2);
    assert!(report.steps > 0);
}

#[test]
fn each_invocation_takes_its_own_side() {
    let kernel = build(6, |k| {
        let out = k.output("out", Elem::I32);
        let i = k.local_index();
        let (a, b) = k.if_(i.lt(3), || k.if_(i.eq(1), || (i * 100, i), || (i * 10, i)), || (i * 1000, -i));
        out.store(i, a + b);
    });
    assert_eq!(output(&kernel), [0, 101, 22, 2997, 3996, 4995]);
}

#[test]
fn a_side_no_invocation_takes_does_not_run() {
    let kernel = build(4, |k| {
        let out = k.output("out", Elem::I32);
        k.when(k.local_index().lt(0), || out.store(1 << 20, 1));
    });
    assert_eq!(output(&kernel), [0; 4]);
}

#[test]
fn a_loop_carries_values_for_each_invocation_as_long_as_it_runs() {
    // Fibonacci: the body hands back its own parameters in another order, and every invocation leaves at its own turn.
    let kernel = build(8, |k| {
        let out = k.output("out", Elem::I32);
        let i = k.local_index();
        let [a, _] = k.for_(0, i, 1, [k.i32(0), k.i32(1)], |_, [a, b]| [b, a + b]);
        out.store(i, a);
    });
    assert_eq!(output(&kernel), [0, 1, 1, 2, 3, 5, 8, 13]);
}

#[test]
fn many_carried_values_rotate_at_once() {
    let kernel = build(12, |k| {
        let out = k.output("out", Elem::I32);
        let i = k.local_index();
        let first = std::array::from_fn::<_, 12, _>(|j| k.i32(j as i32));
        let last = k.for_(0, i, 1, first, |_, v| std::array::from_fn(|j| v[(j + 1) % 12]));
        out.store(i, last[0] * 100 + last[11]);
    });
    let expected: Vec<i32> = (0..12).map(|i| i * 100 + (i + 11) % 12).collect();
    assert_eq!(output(&kernel), expected);
}

#[test]
fn a_loop_in_a_loop_starts_anew_each_turn() {
    let kernel = build(5, |k| {
        let out = k.output("out", Elem::I32);
        let i = k.local_index();
        let sum = k.for_(0, i, 1, k.i32(0), |j, sum| sum + k.for_(0, j, 2, k.i32(1), |_, product| product * 3));
        out.store(i, sum);
    });
    // 1, 3, 3, 9: three to the number of even numbers below j.
    assert_eq!(output(&kernel), [0, 1, 4, 7, 16]);
}

#[test]
fn a_loop_counts_signed_and_ends_where_the_index_would_overflow() {
    let kernel = build(1, |k| {
        let out = k.output("out", Elem::I32);
        let turns = |start: i32, end: i32, step: i32| k.for_(start, k.i32(end), step, k.i32(0), |_, n| n + 1);
        let wide = k.for_(i64::MIN, k.i64(i64::MAX), i64::MAX, k.i32(0), |_, n| n + 1);
        let all = [turns(-3, 3, 2), turns(3, -3, 1), turns(i32::MAX - 5, i32::MAX, 4), wide];
        all.into_iter().enumerate().for_each(|(i, n)| out.store(i, n));
    });
    let mut memories = [Memory::zeros(16)];
    run_groups(&kernel, 1, &[], &mut memories).expect("nothing is wrong");
    assert_eq!(memories[0].to_vec::<i32>(), [3, 0, 2, 3]);
}

#[test]
fn a_while_loop_runs_until_no_invocation_wants_to() {
    // Steps of the Collatz sequence.
    let kernel = build(8, |k| {
        let out = k.output("out", Elem::I32);
        let i = k.local_index();
        let (_, steps) = k.while_(
            (i + 1, k.i32(0)),
            |(n, _)| n.ne(1),
            |(n, steps)| ((n & 1).eq(0).select(n.shr_u(1), n * 3 + 1), steps + 1),
        );
        out.store(i, steps);
    });
    assert_eq!(output(&kernel), [0, 1, 7, 2, 5, 8, 16, 3]);
}

#[test]
fn carried_vectors_and_wide_integers_keep_all_components() {
    let kernel = build(2, |k| {
        let out = k.output("out", Elem::I64);
        let i = k.local_index();
        let start = k.vector(&[k.i64(1), k.i64(1 << 40)]);
        let last = k.for_(0, i, 1, start, |_, v| v + v);
        out.store(i * 2, last.lane(0));
        out.store(i * 2 + 1, last.lane(1));
    });
    let mut memories = [Memory::zeros(32)];
    run_groups(&kernel, 1, &[], &mut memories).expect("nothing is wrong");
    assert_eq!(memories[0].to_vec::<i64>(), [1, 1 << 40, 2, 1 << 41]);
}

#[test]
fn builtins_say_where_an_invocation_stands() {
    let kernel = Kernel::build("where", [2, 3, 2], |k| {
        let out = k.output("out", Elem::I32);
        let group = k.group_id(0) + k.group_id(1) * 2 + k.group_id(2) * 4;
        let at = (group * 12 + k.local_index()) * 4;
        let local = k.local_id(0) + k.local_id(1) * 10 + k.local_id(2) * 100;
        let count = k.group_count(0) + k.group_count(1) * 10 + k.group_count(2) * 100;
        let lane = k.lane() + k.subgroup_id() * 10;
        let sizes = k.subgroup_size() + k.subgroup_count() * 10;
        [local, count, lane, sizes].into_iter().enumerate().for_each(|(i, v)| out.store(at + i, v));
    })
    .expect("the kernel is well formed");
    let mut memories = [Memory::zeros(8 * 12 * 16)];
    let launch = Launch { groups: [2, 2, 2], subgroup_size: 8, ..Launch::default() };
    run(&kernel, &launch, &mut memories).expect("nothing is wrong");
    let words = memories[0].to_vec::<i32>();
    for (i, found) in words.chunks_exact(4).enumerate() {
        let i = (i % 12) as i32;
        let local = i % 2 + i / 2 % 3 * 10 + i / 6 * 100;
        assert_eq!(found, [local, 222, i % 8 + i / 8 * 10, 8 + 2 * 10]);
    }
}

/// A kernel the verifier would refuse: an argument becomes the invocation's number after the fact.
fn divergent(workgroup: u32, write: impl for<'k> FnOnce(&'k Builder, Val<'k>)) -> Kernel {
    let mut kernel = build(workgroup, |k| write(k, k.arg_i32("i")));
    kernel.scalars.clear();
    let argument = kernel.body.insts.iter_mut().find(|inst| matches!(inst.op, Op::Arg { .. })).expect("it has one");
    argument.op = Op::Builtin(Builtin::LocalIndex);
    kernel
}

#[test]
fn a_barrier_some_invocations_miss_is_an_error() {
    let in_a_branch = divergent(8, |k, i| k.when(i.lt(3), || k.barrier()));
    let expected = "a barrier must be reached by all 8 invocations but was by 3.";
    assert_eq!(message(run_groups(&in_a_branch, 1, &[], &mut [])), expected);
    let in_a_loop = divergent(8, |k, i| k.step(0, i + 1, 1, |_| k.barrier_all()));
    let expected = "a barrier must be reached by all 8 invocations but was by 7.";
    assert_eq!(message(run_groups(&in_a_loop, 1, &[], &mut [])), expected);
}

#[test]
fn a_barrier_in_uniform_flow_is_reached() {
    let kernel = build(4, |k| {
        let n = k.arg_i32("n");
        k.when(n.lt(5), || k.step(0, n, 1, |_| k.barrier()));
    });
    run_groups(&kernel, 1, &[Argument::I32(3)], &mut []).expect("nothing is wrong");
}

#[test]
fn a_kernel_that_never_ends_stops_at_its_limit() {
    let kernel = build(4, |k| {
        k.while_((), |()| k.bool(true), |()| ());
    });
    let launch = Launch { step_limit: 1000, ..Launch::default() };
    assert_eq!(message(run(&kernel, &launch, &mut [])), "a workgroup must end within 1000 steps but loops on.");
}

#[test]
fn a_step_that_leads_nowhere_is_an_error() {
    let kernel = build(2, |k| k.step(0, k.i32(4), k.local_index(), |_| ()));
    assert_eq!(message(run_groups(&kernel, 1, &[], &mut [])), "a loop's step must be positive but is 0.");
}

#[test]
fn an_empty_grid_runs_nothing() {
    let kernel = build(4, |k| k.output("out", Elem::I32).store(99, 1));
    let launch = Launch { groups: [3, 0, 1], ..Launch::default() };
    let report = run(&kernel, &launch, &mut [Memory::zeros(4)]).expect("nothing runs");
    assert_eq!(report, Report::default());
}

#[test]
fn a_launch_that_does_not_fit_the_kernel_is_refused() {
    let kernel = build(4, |k| {
        k.arg("scale", Scalar::F32);
        k.buffer("x", Elem::F32, Access::ReadWrite, 16);
    });
    let refused = |scalars: &[Argument], memories: &mut [Memory<'_>], subgroup_size: u32| {
        let launch = Launch { scalars, subgroup_size, ..Launch::default() };
        run(&kernel, &launch, memories).expect_err("it does not fit").to_string()
    };
    let one = [Argument::F32(1.0)];
    assert_eq!(refused(&[], &mut [Memory::zeros(4)], 8), "[kernel] 1 scalar values must be given but 0 were.");
    assert_eq!(
        refused(&[Argument::I32(1)], &mut [Memory::zeros(4)], 8),
        "[kernel] scale must be f32 but i32 was given."
    );
    assert_eq!(refused(&one, &mut [], 8), "[kernel] 1 buffers must be given but 0 were.");
    assert_eq!(
        refused(&one, &mut [Memory::zeros(4)], 12),
        "[kernel] the subgroup size must be a power of two up to 128 but is 12."
    );
}
