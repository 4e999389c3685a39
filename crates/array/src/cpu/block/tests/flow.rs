//! Control flow and private arrays.

use pumice_kernel::{Elem, Kernel, Scalar};

use super::{agree, map};

const COUNT: usize = 2100;

#[test]
fn branches_nest_and_hand_over_values() {
    let kernel = map([Elem::F32, Elem::I32], &[Elem::F32, Elem::I32], |k, [x, i]| {
        let (y, j) = k.if_(
            x.lt(0.5),
            || k.if_((i & 1).eq(0), || (x * 2.0, i + 1), || (x, i)),
            || (x.sqrt(), k.if_((i & 3).eq(0), || i * 5, || k.i32(7))),
        );
        vec![y + x, j]
    });
    agree(&kernel, COUNT);
}

#[test]
fn both_sides_may_hand_over_the_same_value_twice() {
    let kernel = map([Elem::F32, Elem::F32], &[Elem::F32, Elem::F32], |k, [x, y]| {
        let (a, b) = k.if_(
            x.lt(y),
            || {
                let sum = x + y;
                (sum, sum)
            },
            || (y, x),
        );
        vec![a, b]
    });
    agree(&kernel, COUNT);
}

#[test]
fn loops_count_as_often_as_each_lane_wants() {
    for scalar in [Scalar::I32, Scalar::I64] {
        let kernel = map([Elem::I32, Elem::F32], &[Elem::F32, Elem::I64], |k, [n, x]| {
            let end = (n & 31).to(scalar);
            let (sum, count) = k.for_(2, end, 3, (x, k.i64(0)), |i, (sum, count)| {
                (sum * 0.5 + i.to(Scalar::F32), count + i.to(Scalar::I64))
            });
            vec![sum, count]
        });
        agree(&kernel, COUNT);
    }
}

#[test]
fn a_loop_may_swap_what_it_carries() {
    let kernel = map([Elem::I32, Elem::I32, Elem::I32], &[Elem::I32, Elem::I32], |k, [a, b, n]| {
        let (a, b) = k.for_(0, n & 7, 1, (a, b), |_, (a, b)| (b, a));
        let (a, b, _) = k.while_((a, b, n & 3), |(_, _, left)| left.gt(0), |(a, b, left)| (b, a, left - 1));
        vec![a, b]
    });
    agree(&kernel, COUNT);
}

#[test]
fn a_loop_with_one_bound_for_all_runs_for_all() {
    let kernel = map([Elem::F32], &[Elem::F32], |k, [x]| {
        vec![k.fold(k.i32(10), k.f32(1.0), |i, sum| sum * x + i.to(Scalar::F32))]
    });
    agree(&kernel, COUNT);
    let uniform =
        map([Elem::F32], &[Elem::I32, Elem::F32], |k, [x]| vec![k.fold(k.i32(10), k.i32(1), |i, sum| sum * 3 + i), x]);
    agree(&uniform, COUNT);
}

#[test]
fn an_index_that_would_overflow_ends_the_loop() {
    let kernel = map([Elem::I32], &[Elem::I32], |k, [n]| {
        let start = k.i32(i32::MAX - 5) - (n & 3);
        vec![k.for_(start, k.i32(i32::MAX), 4, k.i32(0), |_, turns| turns + 1)]
    });
    agree(&kernel, COUNT);
}

#[test]
fn loops_may_stand_within_loops() {
    let kernel = map([Elem::I32], &[Elem::I32], |k, [n]| {
        let total = k.for_(0, n & 7, 1, k.i32(0), |i, total| {
            let rows = k.for_(i, n & 15, 2, total, |j, total| total + i * j);
            k.while_(rows, |sum| sum.gt(100), |sum| sum / 3)
        });
        vec![total]
    });
    agree(&kernel, COUNT);
}

#[test]
fn loops_within_branches_touch_only_their_lanes() {
    let kernel = map([Elem::I32], &[Elem::I32], |k, [n]| {
        vec![k.if_(n.lt(0), || k.while_(n, |n| n.lt(-10), |n| n / 2), || k.fold(n & 7, n, |i, n| n ^ (i + 1)))]
    });
    agree(&kernel, COUNT);
}

#[test]
fn private_arrays_are_each_lanes_own() {
    for elem in [Elem::F32, Elem::BF16, Elem::I8, Elem::I64, Elem::Bool, Elem::C64] {
        let kernel = map([Elem::I32, elem], &[elem, elem], |k, [n, x]| {
            let array = k.private("held", elem, 8);
            array.store(n & 7, x);
            k.when((n & 16).ne(0), || array.store((n >> 3) & 7, x));
            vec![array.load((n >> 5) & 7), array.load(3)]
        });
        agree(&kernel, COUNT);
    }
}

#[test]
fn a_conditional_store_leaves_other_elements_alone() {
    for elem in [Elem::F32, Elem::BF16, Elem::U8, Elem::F64] {
        let kernel = Kernel::build("some", [1, 1, 1], |k| {
            let (n, x, out) = (k.input("n", Elem::I32), k.input("x", elem), k.output("out", elem));
            let n = n.load(0);
            k.when((n & 1).eq(0), || out.store(0, x.load(0)));
        });
        let kernel = kernel.expect("it is well formed");
        agree(&kernel, COUNT);
        agree(&kernel, 2048);
    }
}

#[test]
fn the_last_of_several_stores_stays() {
    let kernel = Kernel::build("twice", [1, 1, 1], |k| {
        let (x, out) = (k.input("x", Elem::F32), k.output("out", Elem::F32));
        let x = x.load(0);
        out.store(0, x + 1.0);
        k.when(x.lt(0.0), || out.store(0, x * 2.0));
    });
    agree(&kernel.expect("it is well formed"), COUNT);
}
