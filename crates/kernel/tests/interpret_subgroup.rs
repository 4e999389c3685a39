//! Subgroup operations of the interpreter with subgroups of 1, 8 and 32, whole and partial.

use pumice_kernel::interpret::{Launch, Memory, Plain, run};
use pumice_kernel::ir::{BinaryOp, Builtin, GroupKind, Op};
use pumice_kernel::{Builder, Elem, Error, Kernel, Scalar, Val};

const SIZES: [u32; 3] = [1, 8, 32];

/// What each of 40 invocations makes of its input, in subgroups of a size; the last may be partial.
fn results<T: Plain>(
    elem: Elem,
    size: u32,
    input: &[T],
    write: impl for<'k> FnOnce(&'k Builder, Val<'k>) -> Val<'k>,
) -> Vec<T> {
    let kernel = Kernel::build("kernel", [input.len() as u32, 1, 1], |k| {
        let (x, out) = (k.input("x", elem), k.output("out", elem));
        let i = k.local_index();
        out.store(i, write(k, x.load(i)));
    })
    .expect("the kernel is well formed");
    let mut memories = [Memory::of(input), Memory::zeros(input.len() * elem.bytes())];
    let launch = Launch { subgroup_size: size, ..Launch::default() };
    run(&kernel, &launch, &mut memories).expect("nothing is wrong");
    memories[1].to_vec()
}

fn numbers() -> Vec<i32> {
    (0..40).map(|i| (i * 37 + 11) % 101 - 50).collect()
}

#[test]
fn integers_reduce_and_scan_over_their_subgroup() {
    let input = numbers();
    type Combine = fn(i32, i32) -> i32;
    let ops: [(BinaryOp, i32, Combine); 6] = [
        (BinaryOp::Add, 0, i32::wrapping_add),
        (BinaryOp::Mul, 1, i32::wrapping_mul),
        (BinaryOp::MinS, i32::MAX, i32::min),
        (BinaryOp::MaxS, i32::MIN, i32::max),
        (BinaryOp::MaxU, 0, |a, b| (a as u32).max(b as u32) as i32),
        (BinaryOp::Xor, 0, |a, b| a ^ b),
    ];
    for (op, identity, f) in ops {
        for size in SIZES {
            for (start, group) in input.chunks(size as usize).enumerate().map(|(g, c)| (g * size as usize, c)) {
                let fold = |n: usize| group[..n].iter().fold(identity, |a, b| f(a, *b));
                let of = |kind| results(Elem::I32, size, &input, |_, x| x.subgroup(op, kind));
                let (whole, inclusive, exclusive) =
                    (of(GroupKind::Reduce), of(GroupKind::Inclusive), of(GroupKind::Exclusive));
                for lane in 0..group.len() {
                    let at = start + lane;
                    let found = [whole[at], inclusive[at], exclusive[at]];
                    assert_eq!(found, [fold(group.len()), fold(lane + 1), fold(lane)], "{op:?} {size} {at}");
                }
            }
        }
    }
}

#[test]
fn floats_reduce_by_a_butterfly() {
    let input: Vec<f32> = (0..32).map(|i| 1.0 + i as f32 * 1e-7 + (i % 7) as f32 * 1e6).collect();
    for size in [8usize, 32] {
        let found = results(Elem::F32, size as u32, &input, |_, x| x.subgroup_sum());
        for (group, found) in input.chunks(size).zip(found.chunks(size)) {
            let mut lanes = group.to_vec();
            let mut distance = 1;
            while distance < size {
                lanes = (0..size).map(|i| lanes[i] + lanes[i ^ distance]).collect();
                distance *= 2;
            }
            assert_eq!(found, lanes);
            assert!(found.iter().all(|v| v.to_bits() == found[0].to_bits()), "all lanes get the same sum");
        }
    }
}

#[test]
fn floats_scan_by_doubling() {
    let input: Vec<f32> = (0..8).map(|i| 0.1 + i as f32 * 1e7).collect();
    let found = results(Elem::F32, 8, &input, |_, x| x.subgroup(BinaryOp::Add, GroupKind::Inclusive));
    let mut lanes = input.clone();
    for distance in [1, 2, 4] {
        let before = lanes.clone();
        (distance..8).for_each(|i| lanes[i] = before[i - distance] + before[i]);
    }
    assert_eq!(found, lanes);
    let exclusive = results(Elem::F32, 8, &input, |_, x| x.subgroup(BinaryOp::Add, GroupKind::Exclusive));
    assert_eq!(exclusive[0].to_bits(), 0);
    assert_eq!(exclusive[1..], lanes[..7]);
}

#[test]
fn a_nan_wins_a_maximum_everywhere() {
    let mut input = vec![1f32; 16];
    input[5] = f32::NAN;
    let found = results(Elem::F32, 8, &input, |_, x| x.subgroup_max());
    assert!(found[..8].iter().all(|v| v.is_nan()));
    assert_eq!(found[8..], [1.0; 8]);
}

#[test]
fn every_lane_of_a_partial_subgroup_gets_the_whole() {
    let input: Vec<i32> = (1..=11).collect();
    let found = results(Elem::I32, 8, &input, |_, x| x.subgroup_sum());
    assert_eq!(found, [36, 36, 36, 36, 36, 36, 36, 36, 30, 30, 30]);
}

#[test]
fn shuffles_find_other_lanes_and_fall_back_to_ones_own() {
    let input: Vec<i32> = (0..40).collect();
    for size in SIZES {
        let of = |write: for<'k> fn(Val<'k>, Val<'k>) -> Val<'k>| {
            results(Elem::I32, size, &input, |k, x| write(x, k.lane()))
        };
        let size = size as i32;
        let expected = |lane: fn(i32) -> i32| -> Vec<i32> {
            let other = |i: i32| {
                let (own, first) = (i % size, i / size * size);
                let from = lane(own);
                let there = (0..size).contains(&from) && first + from < 40;
                first + if there { from } else { own }
            };
            (0..40).map(other).collect()
        };
        assert_eq!(of(|x, _| x.shuffle(3)), expected(|_| 3), "{size}");
        assert_eq!(of(|x, lane| x.shuffle(lane * 2)), expected(|own| own * 2), "{size}");
        assert_eq!(of(|x, _| x.shuffle_xor(5)), expected(|own| own ^ 5), "{size}");
        assert_eq!(of(|x, _| x.shuffle_up(2)), expected(|own| own - 2), "{size}");
        assert_eq!(of(|x, _| x.shuffle_down(3)), expected(|own| own + 3), "{size}");
        assert_eq!(of(|x, _| x.shuffle(-1)), input, "{size}");
    }
}

#[test]
fn a_vector_is_shuffled_whole() {
    let input = [1f32, 2., 3., 4., 5., 6.];
    let kernel = Kernel::build("kernel", [3, 1, 1], |k| {
        let (x, out) = (k.input("x", Elem::C64), k.output("out", Elem::C64));
        let i = k.local_index();
        out.store(i, x.load(i).shuffle_down(1));
    })
    .expect("the kernel is well formed");
    let mut memories = [Memory::of(&input), Memory::zeros(24)];
    run(&kernel, &Launch::default(), &mut memories).expect("nothing is wrong");
    assert_eq!(memories[1].to_vec::<f32>(), [3., 4., 5., 6., 5., 6.]);
}

#[test]
fn ballots_set_a_bit_for_each_lane_that_holds() {
    let input = numbers();
    for size in SIZES {
        let found = results(Elem::I32, size, &input, |_, x| x.lt(0).ballot().lane(0));
        for (group, found) in input.chunks(size as usize).zip(found.chunks(size as usize)) {
            let bits = group.iter().enumerate().fold(0u32, |bits, (i, x)| bits | (((*x < 0) as u32) << i));
            assert!(found.iter().all(|v| *v as u32 == bits), "{size}");
        }
    }
}

#[test]
fn the_upper_lanes_of_a_large_subgroup_stand_in_later_words() {
    let input: Vec<i32> = (0..100).collect();
    let found = results(Elem::I32, 128, &input, |_, x| x.eq(70).ballot().lane(2));
    assert_eq!(found, [1 << 6; 100]);
}

#[test]
fn votes_ask_the_lanes_that_exist() {
    let input = numbers();
    for size in SIZES {
        let all = results(Elem::I32, size, &input, |_, x| x.lt(30).subgroup_all().to(Scalar::I32));
        let any = results(Elem::I32, size, &input, |_, x| x.lt(-30).subgroup_any().to(Scalar::I32));
        for (g, group) in input.chunks(size as usize).enumerate() {
            let at = g * size as usize;
            assert_eq!(all[at], group.iter().all(|x| *x < 30) as i32, "{size}");
            assert_eq!(any[at], group.iter().any(|x| *x < -30) as i32, "{size}");
        }
    }
}

#[test]
fn a_workgroup_reduction_assumes_no_subgroup_size() {
    let input = numbers();
    let sum = input.iter().sum::<i32>();
    for size in [1, 2, 8, 32, 64] {
        assert_eq!(results(Elem::I32, size, &input, |k, x| k.group_sum(x)), [sum; 40], "{size}");
    }
}

#[test]
fn a_subgroup_may_branch_as_a_whole_but_not_in_part() {
    let run_with = |bound: i32| {
        let mut kernel = Kernel::build("kernel", [32, 1, 1], |k| {
            let (i, x) = (k.arg_i32("i"), k.output("out", Elem::I32));
            k.when(i.lt(bound), || x.store(i, i.subgroup_sum()));
        })
        .expect("the kernel is well formed");
        // The verifier would refuse a condition that differs between invocations.
        kernel.scalars.clear();
        let argument = kernel.body.insts.iter_mut().find(|inst| matches!(inst.op, Op::Arg { .. })).expect("it has one");
        argument.op = Op::Builtin(Builtin::LocalIndex);
        let mut memories = [Memory::zeros(128)];
        let launch = Launch { subgroup_size: 8, ..Launch::default() };
        run(&kernel, &launch, &mut memories).map(|_| memories[0].to_vec::<i32>())
    };
    let sums = run_with(16).expect("two whole subgroups come");
    assert_eq!((sums[0], sums[8], sums[16]), (28, 92, 0));
    let Err(Error::Execution { message, .. }) = run_with(12) else { panic!("half a subgroup comes") };
    assert_eq!(message, "all 8 invocations of a subgroup must come here but 4 did.");
}
