//! Control flow, memory and errors of the interpreter, through kernels written with the builder.

use pumice_kernel::arguments::Argument;
use pumice_kernel::interpret::{Launch, Memory, Report, run};
use pumice_kernel::{Builder, Elem, Error, Kernel, Result};

fn build(workgroup: u32, write: impl FnOnce(&Builder)) -> Kernel {
    Kernel::build("kernel", [workgroup, 1, 1], write).expect("the kernel is well formed")
}

fn run_groups(kernel: &Kernel, groups: u32, scalars: &[Argument], memories: &mut [Memory<'_>]) -> Result<Report> {
    run(kernel, &Launch { groups: [groups, 1, 1], scalars, ..Launch::default() }, memories)
}

#[test]
fn a_sum_of_buffers_leaves_the_rest_alone() {
    let kernel = build(4, |k| {
        let (a, b, c) = (k.input("a", Elem::F32), k.input("b", Elem::F32), k.output("c", Elem::F32));
        k.each(k.arg_i32("n"), |i| c.store(i, a.load(i) + b.load(i)));
    });
    let mut memories =
        [Memory::of(&[1f32, 2., 3., 4., 5.]), Memory::of(&[10f32, 20., 30., 40., 50.]), Memory::of(&[-1f32; 6])];
    let report = run_groups(&kernel, 2, &[Argument::I32(5)], &mut memories).expect("nothing is wrong");
    assert_eq!(memories[2].to_vec::<f32>(), [11., 22., 33., 44., 55., -1.]);
    assert_eq!(report.groups, 2);
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
    let mut memories = [Memory::zeros(32)];
    run_groups(&kernel, 1, &[], &mut memories).expect("nothing is wrong");
    assert_eq!(memories[0].to_vec::<i32>(), [0, 1, 1, 2, 3, 5, 8, 13]);
}

#[test]
fn an_index_outside_a_buffer_names_kernel_place_index_and_bound() {
    let kernel = build(4, |k| {
        let out = k.output("out", Elem::I32);
        out.store(k.local_index() + 2, 1);
    });
    let error = run_groups(&kernel, 1, &[], &mut [Memory::zeros(16)]).expect_err("4 and 5 are outside");
    let Error::OutOfBounds { kernel, place, index, bound, .. } = error else { panic!("{error}") };
    assert_eq!((kernel.as_str(), place.as_str(), index, bound), ("kernel", "out", 4, 4));
}
