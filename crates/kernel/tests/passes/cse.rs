//! The same is computed once, and loads are repeated where they must be.

use super::*;
use pumice_kernel::passes::{cse, dce};

fn named(kernel: &Kernel, name: &str) -> usize {
    count(&kernel.body, &|op| op.name() == name)
}

#[test]
fn keeps_bits_of_random_kernels() {
    keeps_bits(0..120, cse);
}

#[test]
fn the_same_is_computed_once() {
    let kernel = after(cse, |k| {
        let (x, y) = (k.input("x", Elem::F32), k.output("y", Elem::F32));
        let (a, b) = (x.load(k.lane()), x.load(k.lane()));
        y.store(k.lane(), a * b + b * a);
    });
    assert_eq!((loads(&kernel), named(&kernel, "mul"), named(&kernel, "lane")), (1, 1, 1), "{kernel}");
}

#[test]
fn a_sigmoid_shares_the_exponential_of_the_negated_distance() {
    let alone = after(cse, |k| {
        let (x, y) = (k.input("x", Elem::F32), k.output("y", Elem::F32));
        y.store(k.lane(), x.load(k.lane()).sigmoid());
    });
    let both = after(cse, |k| {
        let (x, y) = (k.input("x", Elem::F32), k.output("y", Elem::F32));
        let x = x.load(k.lane());
        y.store(k.lane(), x.sigmoid() - (-x.abs()).exp());
    });
    assert_eq!(named(&both, "fma"), named(&alone, "fma"), "{both}");
    assert_eq!(named(&both, "mul"), named(&alone, "mul"), "{both}");
}

#[test]
fn what_a_surrounding_block_computed_is_used_but_not_what_a_sibling_did() {
    let kernel = after(cse, |k| {
        let (n, y) = (k.arg_i32("n"), k.output("y", Elem::I32));
        let double = n * 2;
        k.if_(n.eq(0), || y.store(0, n * 2 + n * 3), || y.store(0, n * 3 - double));
    });
    assert_eq!(named(&kernel, "mul"), 3, "{kernel}");
}

#[test]
fn constants_and_arguments_move_to_the_top() {
    let kernel = after(cse, |k| {
        let shape = k.arg_array("shape", pumice_kernel::Scalar::I32, 4);
        let y = k.output("y", Elem::I32);
        k.step(0, k.i32(4), 1, |i| y.store(i, shape.at(3) + 7));
        k.step(0, k.i32(4), 1, |i| y.store(i, shape.at(3) - 7));
    });
    assert_eq!((named(&kernel, "arg"), named(&kernel, "const")), (1, 5), "{kernel}");
    assert!(kernel.body.insts.iter().take(6).all(|i| matches!(i.op.name(), "const" | "arg")), "{kernel}");
}

#[test]
fn an_argument_outside_its_array_stays_where_it_is() {
    let kernel = after(cse, |k| {
        let shape = k.arg_array("shape", pumice_kernel::Scalar::I32, 4);
        let y = k.output("y", Elem::I32);
        k.when(shape.at(0).eq(0), || y.store(0, shape.at(9)));
    });
    let inside = kernel.body.insts.iter().flat_map(|i| i.op.blocks()).map(|b| count(b, &|op| op.name() == "arg"));
    assert_eq!(inside.sum::<usize>(), 1, "{kernel}");
}

#[test]
fn a_load_is_repeated_after_a_write_that_may_change_it() {
    let kernel = after(cse, |k| {
        let x = k.buffer("x", Elem::I32, Access::ReadWrite, 4);
        let y = k.output("y", Elem::I32);
        let other = k.arg_i32("other");
        let first = x.load(0);
        y.store(1, first);
        let kept = x.load(0);
        x.store(other, kept);
        let changed = x.load(0);
        y.store(2, changed);
    });
    assert_eq!(loads(&kernel), 2, "{kernel}");
}

#[test]
fn a_load_is_repeated_in_a_loop_that_writes_it_and_after_a_barrier() {
    let kernel = after(cse, |k| {
        let s = k.shared("s", Elem::I32, 64);
        let (x, y) = (k.input("x", Elem::I32), k.output("y", Elem::I32));
        s.store(k.local_index(), x.load(0));
        let first = s.load(k.local_index());
        k.barrier();
        let second = s.load(k.local_index());
        k.step(0, k.i32(3), 1, |i| {
            let turn = s.load(k.local_index());
            s.store(k.local_index(), turn + i + x.load(0));
        });
        y.store(k.local_index(), first + second + s.load(k.local_index()));
    });
    // Of x one load, of s four.
    assert_eq!(loads(&kernel), 5, "{kernel}");
}

#[test]
fn a_write_on_one_side_of_an_if_does_not_reach_the_other() {
    let kernel = after(cse, |k| {
        let x = k.buffer("x", Elem::I32, Access::ReadWrite, 4);
        let y = k.output("y", Elem::I32);
        let first = x.load(0);
        k.if_(first.eq(0), || x.store(0, 1), || y.store(0, x.load(0)));
        y.store(1, x.load(0));
    });
    assert_eq!(loads(&kernel), 2, "{kernel}");
}

#[test]
fn float_minimum_does_not_commute() {
    let kernel = after(cse, |k| {
        let (x, y) = (k.input("x", Elem::F32), k.output("y", Elem::F32));
        let (a, b) = (x.load(0), x.load(1));
        y.store(0, a.min(b) - b.min(a));
    });
    assert_eq!(named(&kernel, "min"), 2);
}

#[test]
fn guards_of_the_same_access_share_their_work() {
    let mut kernel = after(pumice_kernel::passes::checked, |k| {
        let x = k.buffer("x", Elem::F32, Access::ReadWrite, 4);
        x.store(k.local_index(), x.load(k.local_index()) + 1.0);
    });
    cse(&mut kernel);
    dce(&mut kernel);
    verify(&kernel).expect("is still well formed");
    assert_eq!(named(&kernel, "lt_u"), 1, "{kernel}");
}
