//! What is no map, and operands that do not fit.

use pumice_kernel::{Builder, Elem, Kernel, Scalar};

use super::super::{BlockProgram, Input, Output};
use super::map;

/// The error for a kernel that is no map.
fn refused(write: impl FnOnce(&Builder)) -> String {
    let kernel = Kernel::build("odd", [32, 1, 1], write).expect("the kernel itself is well formed");
    match BlockProgram::new(&kernel) {
        Ok(_) => panic!("it is no map"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn only_maps_are_taken() {
    let shared = refused(|k| {
        let (held, out) = (k.shared("held", Elem::F32, 32), k.output("out", Elem::F32));
        held.store(0, 1.0);
        out.store(0, held.load(0));
    });
    assert_eq!(shared, "[odd] a map must have no shared memory but has held.");
    let index = refused(|k| {
        let (a, out) = (k.input("a", Elem::F32), k.output("out", Elem::F32));
        out.store(0, a.load(1));
    });
    assert_eq!(index, "[odd] a map must access element 0 of a, which stands for every one, but does not.");
    let both = refused(|k| {
        let a = k.buffer("a", Elem::F32, pumice_kernel::Access::ReadWrite, 4);
        a.store(0, a.load(0) + 1.0);
    });
    assert_eq!(both, "[odd] a map must only read or only write a buffer but does both to a.");
    let scalar = refused(|k| {
        let (n, out) = (k.arg_f32("scale"), k.output("out", Elem::F32));
        out.store(0, n);
    });
    assert_eq!(scalar, "[odd] a map must take no scalar but an integer index but takes scale.");
}

#[test]
fn what_needs_other_elements_is_refused() {
    let builtin = refused(|k| k.output("out", Elem::I32).store(0, k.local_id(0)));
    assert!(builtin.contains("a map must compute an element from elements but has builtins"), "{builtin}");
    let subgroup = refused(|k| {
        let (a, out) = (k.input("a", Elem::F32), k.output("out", Elem::F32));
        out.store(0, a.load(0).subgroup_sum());
    });
    assert!(subgroup.contains("has subgroup operations"), "{subgroup}");
    let atomic = refused(|k| {
        let counts = k.buffer("counts", Elem::I32, pumice_kernel::Access::ReadWrite, 4);
        counts.atomic_add(0, 1);
    });
    assert!(atomic.contains("does both to counts"), "{atomic}");
    let array = refused(|k| {
        let shape = k.arg_array("index", Scalar::I32, 3);
        k.output("out", Elem::I32).store(0, shape.at(1));
    });
    assert!(array.contains("takes index"), "{array}");
}

/// The error for operands that do not fit `a + b`.
fn misfit(count: usize, inputs: &[Input<'_>], outputs: &mut [Output<'_>]) -> String {
    let kernel = map([Elem::F32, Elem::F32], &[Elem::F32], |_, [a, b]| vec![a + b]);
    let program = BlockProgram::new(&kernel).expect("it is a map");
    program.run(count, inputs, outputs).expect_err("they do not fit").to_string()
}

#[test]
fn operands_must_fit() {
    let (a, mut out) = (vec![0u8; 40], vec![0u8; 40]);
    let input = Input::Contiguous(&a);
    assert_eq!(misfit(10, &[input], &mut [Output::Contiguous(&mut out)]), "[map] 2 inputs must be given but 1 were.");
    assert_eq!(
        misfit(11, &[input, input], &mut [Output::Contiguous(&mut out)]),
        "[map] in must hold 11 elements of 4 bytes but has 40 bytes."
    );
    assert_eq!(
        misfit(10, &[input, input], &mut [Output::Contiguous(&mut out[1..])]),
        "[map] out must hold 10 elements of 4 bytes but has 39 bytes."
    );
    let outside = Input::Strided { bytes: &a, start: 1, shape: &[10], strides: &[1] };
    assert_eq!(
        misfit(10, &[input, outside], &mut [Output::Contiguous(&mut out)]),
        "[map] in must lie within its 10 elements but does not."
    );
    let before = Input::Strided { bytes: &a, start: 3, shape: &[10], strides: &[-1] };
    assert!(misfit(10, &[input, before], &mut [Output::Contiguous(&mut out)]).contains("must lie within"));
    let endless = Input::Strided { bytes: &a, start: 3, shape: &[10], strides: &[i64::MAX] };
    assert!(misfit(10, &[input, endless], &mut [Output::Contiguous(&mut out)]).contains("must lie within"));
    let shape = Input::Strided { bytes: &a, start: 0, shape: &[3, 3], strides: &[3, 1] };
    assert_eq!(
        misfit(10, &[input, shape], &mut [Output::Contiguous(&mut out)]),
        "[map] a shape of 10 elements must be given but [3, 3] was."
    );
    let strides = Input::Strided { bytes: &a, start: 0, shape: &[10], strides: &[3, 1] };
    assert_eq!(
        misfit(10, &[input, strides], &mut [Output::Contiguous(&mut out)]),
        "[map] in must have 1 strides but has 2."
    );
    assert_eq!(
        misfit(10, &[input, Input::InPlace(1)], &mut [Output::Contiguous(&mut out)]),
        "[map] in must fit output 1 to be in its place but does not."
    );
}

#[test]
fn an_index_outside_a_private_array_is_an_error() {
    let kernel = map([Elem::I32], &[Elem::I32], |k, [n]| {
        let held = k.private("held", Elem::I32, 4);
        vec![held.load(n)]
    });
    let program = BlockProgram::new(&kernel).expect("it is a map");
    let mut out = [0u8; 8];
    let inputs = [1i32.to_le_bytes(), 4i32.to_le_bytes()].concat();
    let error = program.run(2, &[Input::Contiguous(&inputs)], &mut [Output::Contiguous(&mut out)]);
    let text = error.expect_err("it is outside").to_string();
    assert!(text.starts_with("[map] index 4 must be below 4 in held"), "{text}");
}

#[test]
fn a_step_that_is_not_positive_is_an_error() {
    let kernel = map([Elem::I32], &[Elem::I32], |k, [n]| vec![k.for_(0, k.i32(4), n, n, |i, sum| sum + i)]);
    let program = BlockProgram::new(&kernel).expect("it is a map");
    let mut out = [0u8; 8];
    let inputs = [1i32.to_le_bytes(), 0i32.to_le_bytes()].concat();
    let error = program.run(2, &[Input::Contiguous(&inputs)], &mut [Output::Contiguous(&mut out)]);
    assert!(error.expect_err("it would not end").to_string().contains("a loop's step must be positive"));
}
