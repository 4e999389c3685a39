//! Mistakes made while building are returned with the line they were made on; nothing panics.

use pumice_kernel::{Elem, Error, Kernel, Scalar};

/// The message and line of the mistake a closure makes.
fn mistake(write: impl FnOnce(&pumice_kernel::Builder)) -> (String, u32) {
    match Kernel::build("wrong", [32, 1, 1], write) {
        Err(Error::Malformed { line, message, .. }) => {
            assert!(line.file.ends_with("build.rs"), "the mistake is placed in {line}");
            (message, line.line)
        }
        other => panic!("a mistake was made but the builder gave {other:?}"),
    }
}

#[test]
fn mixed_operand_types_are_named_at_their_line() {
    let here = line!() + 2;
    let (message, line) = mistake(|k| {
        let _ = k.f32(1.0) + k.i32(1);
    });
    assert_eq!(message, "operands must have one type but are f32 and i32.");
    assert_eq!(line, here);
}

#[test]
fn a_literal_must_fit_the_other_side() {
    let (message, _) = mistake(|k| {
        let _ = k.i32(1) + 0.5;
    });
    assert_eq!(message, "a literal must fit its place, i32, but 0.5 does not.");
}

#[test]
fn a_float_operation_refuses_integers() {
    let (message, _) = mistake(|k| {
        let _ = k.i32(4).sqrt();
    });
    assert_eq!(message, "an operand must be a float but is i32.");
}

#[test]
fn both_sides_of_an_if_must_agree() {
    let (message, _) = mistake(|k| {
        let condition = k.local_index().eq(0);
        k.if_(condition, || vec![k.i32(1)], || vec![k.f32(1.0)]);
    });
    assert!(message.starts_with("both sides of an if"), "{message}");
}

#[test]
fn a_loop_must_carry_the_same_types() {
    let (message, _) = mistake(|k| {
        let n = k.arg_i32("n");
        k.for_(0, n, 1, k.i32(0), |_, sum| sum.to(Scalar::F32));
    });
    assert!(message.starts_with("a loop must carry"), "{message}");
}

#[test]
fn only_the_first_mistake_is_reported() {
    let (message, _) = mistake(|k| {
        let wrong = k.bool(true) + k.bool(false);
        let _ = wrong.sqrt() / k.f64(1.0);
    });
    assert_eq!(message, "an operand must be a number but is bool.");
}

#[test]
fn a_value_cannot_leave_its_block() {
    let (message, _) = mistake(|k| {
        let out = k.output("out", Elem::I32);
        let mut escaped = None;
        k.when(k.local_index().eq(0), || escaped = Some(k.local_index() + 1));
        out.store(0, escaped.expect("the closure ran"));
    });
    assert!(message.ends_with("is used outside its block."), "{message}");
}

#[test]
fn the_builder_writes_what_the_algorithm_says() {
    let kernel = Kernel::build("scale", [64, 1, 1], |k| {
        let (x, y) = (k.input("x", Elem::BF16), k.output("y", Elem::F16));
        let (n, factor) = (k.arg_i32("n"), k.arg_f32("factor"));
        k.each(n, |i| y.store(i, x.load(i) * factor));
    })
    .expect("the kernel is well formed");
    assert_eq!(kernel.buffers.len(), 2);
    assert_eq!(kernel.scalars.len(), 2);
    assert_eq!(kernel.invocations(), 64);
}
