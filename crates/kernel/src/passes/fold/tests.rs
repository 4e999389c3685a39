//! Each rewrite happens, and what must not be rewritten is not.

use super::fold;
use crate::build::{Builder, Val};
use crate::interpret::{Launch, Memory, run};
use crate::ir::{BinaryOp, Block, Kernel, Op, UnaryOp};
use crate::types::{Elem, Scalar, Type};

/// A kernel of one invocation that stores what `write` makes of a loaded value.
fn stored(elem: Elem, write: impl for<'k> FnOnce(&'k Builder, Val<'k>) -> Val<'k>) -> Kernel {
    let mut kernel = Kernel::build("folded", [1, 1, 1], |k| {
        let (x, out) = (k.input("x", elem), k.output("out", elem));
        let value = write(k, x.load(0));
        out.store(0, value);
    })
    .expect("the kernel is well formed");
    fold(&mut kernel);
    kernel
}

/// The operation behind what is stored.
fn stored_op(kernel: &Kernel) -> &Op {
    let Some(Op::Store { values, .. }) = kernel.body.insts.last().map(|i| &i.op) else {
        panic!("the last instruction stores");
    };
    find(&kernel.body, values[0])
}

fn find(block: &Block, value: crate::ir::Value) -> &Op {
    let inst = block.insts.iter().find(|inst| inst.results.contains(&value));
    &inst.expect("the value is defined in the body").op
}

fn ints(write: impl for<'k> FnOnce(&'k Builder, Val<'k>) -> Val<'k>) -> Kernel {
    stored(Elem::I32, write)
}

fn floats(write: impl for<'k> FnOnce(&'k Builder, Val<'k>) -> Val<'k>) -> Kernel {
    stored(Elem::F32, write)
}

fn is_load(kernel: &Kernel) -> bool {
    matches!(stored_op(kernel), Op::Load { .. })
}

fn constant(kernel: &Kernel) -> Option<u64> {
    match stored_op(kernel) {
        Op::Const(bits) => Some(*bits),
        _ => None,
    }
}

#[test]
fn arithmetic_on_constants_becomes_a_constant() {
    assert_eq!(constant(&ints(|k, _| (k.i32(6) + 1) * k.i32(-3))), Some(-21i32 as u32 as u64));
    assert_eq!(constant(&floats(|k, _| k.f32(2.0).sqrt())), Some(2f32.sqrt().to_bits() as u64));
    assert_eq!(constant(&floats(|k, _| k.i32(-7).to(Scalar::F32))), Some((-7f32).to_bits() as u64));
    assert_eq!(constant(&ints(|k, _| k.f32(1.5).bitcast(Scalar::I32))), Some(1.5f32.to_bits() as u64));
    assert_eq!(constant(&ints(|k, _| k.i32(5).lt(6).select(k.i32(1), k.i32(2)))), Some(1));
    assert_eq!(constant(&floats(|k, _| k.f32(1.0009766).narrow(Elem::BF16))), Some(1f32.to_bits() as u64));
}

#[test]
fn what_changes_no_integer_is_left_out() {
    assert!(is_load(&ints(|_, x| x + 0)));
    assert!(is_load(&ints(|_, x| 0 + x)));
    assert!(is_load(&ints(|_, x| x - 0)));
    assert!(is_load(&ints(|_, x| x * 1)));
    assert!(is_load(&ints(|_, x| x / 1)));
    assert!(is_load(&ints(|_, x| x.rem_u(0))));
    assert!(is_load(&ints(|_, x| x & -1)));
    assert!(is_load(&ints(|_, x| x | 0)));
    assert!(is_load(&ints(|_, x| x << 32)));
    assert!(is_load(&ints(|_, x| !!x)));
    assert!(is_load(&ints(|_, x| -(-x))));
    assert!(is_load(&ints(|_, x| x.max_u(0))));
    assert!(is_load(&ints(|_, x| x.min(x))));
    assert!(is_load(&ints(|_, x| x.to(Scalar::I64).to(Scalar::I32))));
}

#[test]
fn what_makes_every_integer_zero_is_zero() {
    assert_eq!(constant(&ints(|k, x| x * k.i32(0))), Some(0));
    assert_eq!(constant(&ints(|_, x| x - x)), Some(0));
    assert_eq!(constant(&ints(|_, x| x ^ x)), Some(0));
    assert_eq!(constant(&ints(|k, x| x & k.i32(0))), Some(0));
    assert_eq!(constant(&ints(|k, x| x / k.i32(0))), Some(0));
    assert_eq!(constant(&ints(|k, x| x % k.i32(-1))), Some(0));
    assert_eq!(constant(&ints(|k, x| k.i32(0).div_u(x))), Some(0));
}

#[test]
fn multiples_of_two_become_shifts_and_masks() {
    assert!(matches!(stored_op(&ints(|_, x| x * 8)), Op::Binary(BinaryOp::Shl, ..)));
    assert!(matches!(stored_op(&ints(|_, x| x.div_u(8))), Op::Binary(BinaryOp::ShrU, ..)));
    assert!(matches!(stored_op(&ints(|_, x| x.rem_u(8))), Op::Binary(BinaryOp::And, ..)));
    // A signed quotient rounds towards zero, which no shift does.
    assert!(matches!(stored_op(&ints(|_, x| x / 8)), Op::Binary(BinaryOp::DivS, ..)));
}

#[test]
fn chains_of_constants_are_added_up() {
    let kernel = ints(|_, x| (x + 3 - 5) + 2);
    assert!(is_load(&kernel));
    let kernel = ints(|_, x| (x + 3) + 4);
    let Op::Binary(BinaryOp::Add, _, c) = stored_op(&kernel) else { panic!("one addition is left") };
    assert_eq!(*find(&kernel.body, *c), Op::Const(7));
}

#[test]
fn floats_are_rewritten_only_where_every_value_keeps_its_bits() {
    assert!(is_load(&floats(|_, x| x * 1.0)));
    assert!(is_load(&floats(|_, x| x / 1.0)));
    assert!(is_load(&floats(|_, x| x - 0.0)));
    assert!(is_load(&floats(|_, x| x + -0.0)));
    assert!(is_load(&floats(|_, x| x.min(x))));
    assert!(!is_load(&floats(|_, x| x + 0.0)), "-0 + 0 is 0");
    assert!(!is_load(&floats(|_, x| x - -0.0)), "-0 - -0 is 0");
    assert_eq!(constant(&floats(|_, x| x * 0.0)), None, "NaN and -0");
    assert_eq!(constant(&floats(|_, x| x - x)), None, "NaN and infinity");
}

#[test]
fn division_by_a_power_of_two_is_a_multiplication() {
    let kernel = floats(|_, x| x / 8.0);
    let Op::Binary(BinaryOp::Mul, _, c) = stored_op(&kernel) else { panic!("a product is left") };
    assert_eq!(*find(&kernel.body, *c), Op::Const(0.125f32.to_bits() as u64));
    assert!(matches!(stored_op(&floats(|_, x| x / 3.0)), Op::Binary(BinaryOp::Div, ..)));
    // The reciprocal of 2^127 is denormal.
    assert!(matches!(stored_op(&floats(|_, x| x / f32::from_bits(254 << 23))), Op::Binary(BinaryOp::Div, ..)));
}

#[test]
fn an_fma_with_one_or_nothing_to_add_is_simpler() {
    assert!(matches!(stored_op(&floats(|k, x| x.fma(1.0, k.f32(2.0)))), Op::Binary(BinaryOp::Add, ..)));
    assert!(matches!(stored_op(&floats(|k, x| x.fma(-1.0, k.f32(2.0)))), Op::Binary(BinaryOp::Sub, ..)));
    assert!(matches!(stored_op(&floats(|_, x| x.fma(x, -0.0))), Op::Binary(BinaryOp::Mul, ..)));
    assert!(matches!(stored_op(&floats(|_, x| x.fma(x, 0.0))), Op::Fma(..)));
}

#[test]
fn narrowing_twice_is_narrowing_once() {
    let kernel = floats(|_, x| x.narrow(Elem::F16).narrow(Elem::F16));
    let Op::Narrow(Elem::F16, x) = stored_op(&kernel) else { panic!("one narrowing is left") };
    assert!(matches!(find(&kernel.body, *x), Op::Load { .. }));
    let loaded = stored(Elem::BF16, |_, x| x.narrow(Elem::BF16));
    assert!(is_load(&loaded));
    let coded = floats(|_, x| x.encode(Elem::BF16).decode(Elem::BF16));
    assert!(matches!(stored_op(&coded), Op::Narrow(Elem::BF16, _)));
}

#[test]
fn components_are_taken_from_where_they_come() {
    assert!(is_load(&floats(|k, x| k.vector(&[k.f32(1.0), x]).lane(1))));
    assert_eq!(constant(&floats(|k, x| k.vector(&[k.f32(1.0), x]).lane(0))), Some(1f32.to_bits() as u64));
    let kernel = stored(Elem::C64, |k, x| k.vector(&[x.lane(0), x.lane(1)]));
    assert!(is_load(&kernel));
    let swapped = stored(Elem::C64, |k, x| k.vector(&[x.lane(1), x.lane(0)]));
    assert!(matches!(stored_op(&swapped), Op::Compose(_)));
}

#[test]
fn a_vector_constant_folds_by_components() {
    let ty = Type::Vector(Scalar::F32, 2);
    let kernel = stored(Elem::C64, |k, _| k.vector(&[k.f32(1.0), k.f32(2.0)]) + k.constant(ty, 0x3f80_0000));
    let Op::Binary(..) = stored_op(&kernel) else { panic!("unequal components stay an operation") };
    let one = floats(|k, _| (k.vector(&[k.f32(1.0), k.f32(2.0)]) + k.constant(ty, 0x3f80_0000)).lane(1));
    assert_eq!(constant(&one), Some(3f32.to_bits() as u64));
}

#[test]
fn a_negated_condition_swaps_the_sides() {
    let kernel = ints(|_, x| (!x.lt(3)).select(x, 7));
    let Op::Select(condition, _, b) = stored_op(&kernel) else { panic!("a selection is left") };
    assert!(matches!(find(&kernel.body, *condition), Op::Compare(..)));
    assert!(matches!(find(&kernel.body, *b), Op::Load { .. }));
    assert!(matches!(stored_op(&ints(|_, x| x.eq(3).eq(false).select(7, x))), Op::Select(..)));
}

#[test]
fn a_known_condition_leaves_one_side() {
    let kernel = ints(|k, x| k.if_(k.i32(1).lt(2), || x * 3, || x * 5));
    assert!(kernel.body.insts.iter().all(|inst| !matches!(inst.op, Op::If { .. })));
    assert!(matches!(stored_op(&kernel), Op::Binary(BinaryOp::Mul, ..)));
    let same = ints(|k, x| k.if_(x.lt(2), || x, || x + 0));
    assert!(is_load(&same));
}

#[test]
fn loops_that_run_not_at_all_or_once_disappear() {
    assert!(is_load(&ints(|k, x| k.for_(3, k.i32(3), 1, x, |_, sum| sum * 7))));
    let once = ints(|k, x| k.for_(3, k.i32(4), 2, x, |i, sum| sum * i));
    assert!(matches!(stored_op(&once), Op::Binary(BinaryOp::Mul, ..)));
    let twice = ints(|k, x| k.for_(3, k.i32(6), 2, x, |i, sum| sum * i));
    assert!(matches!(stored_op(&twice), Op::For { .. }));
    assert!(is_load(&ints(|k, x| k.while_(x, |_| k.bool(false), |x| x + 1))));
}

#[test]
fn a_flat_workgroup_has_no_other_axes() {
    assert_eq!(constant(&ints(|k, _| k.local_id(2))), Some(0));
    assert!(matches!(stored_op(&ints(|k, _| -k.group_id(1))), Op::Unary(UnaryOp::Neg, _)));
}

#[test]
fn folding_keeps_the_bits_of_edge_values() {
    let write = |k: &Builder| {
        let (x, out) = (k.input("x", Elem::F32), k.output("out", Elem::F32));
        let i = k.local_index();
        let v = x.load(i);
        let results = [v / 4.0, v * 1.0, v + -0.0, v - 0.0, v.fma(-1.0, k.f32(0.0)), v.fma(v, -0.0), v / -1.0];
        for (j, result) in results.into_iter().enumerate() {
            out.store(i * 7 + j, result);
        }
    };
    let edges = [0.0, -0.0, 1.0, -1.5, f32::INFINITY, f32::NEG_INFINITY, f32::MIN_POSITIVE, f32::from_bits(1)];
    let plain = Kernel::build("plain", [8, 1, 1], write).expect("the kernel is well formed");
    let mut folded = plain.clone();
    fold(&mut folded);
    let results = [&plain, &folded].map(|kernel| {
        let mut memories = [Memory::of(&edges), Memory::zeros(8 * 7 * 4)];
        run(kernel, &Launch::default(), &mut memories).expect("nothing is wrong");
        memories[1].to_vec::<u32>()
    });
    assert_eq!(results[0], results[1]);
    assert!(folded.body.insts.iter().all(|inst| !matches!(inst.op, Op::Fma(..) | Op::Binary(BinaryOp::Div, ..))));
}
