//! Buffers, shared and private arrays, argument arrays, atomics, races: what is stored, and each error.

use half::{bf16, f16};
use pumice_kernel::arguments::Argument;
use pumice_kernel::interpret::{Binding, Launch, Memory, Report, run};
use pumice_kernel::{Access, Builder, Elem, Error, Kernel, Result, Scalar};

fn build(workgroup: u32, write: impl FnOnce(&Builder)) -> Kernel {
    Kernel::build("kernel", [workgroup, 1, 1], write).expect("the kernel is well formed")
}

fn run_one(kernel: &Kernel, memories: &mut [Memory<'_>]) -> Result<Report> {
    run(kernel, &Launch::default(), memories)
}

/// Kernel, place, index and bound of an overrun.
fn overrun(result: Result<Report>) -> (String, u64, u64) {
    match result.expect_err("an index is outside") {
        Error::OutOfBounds { kernel, place, index, bound, line } => {
            assert_eq!(kernel, "kernel");
            assert!(line.file.ends_with("interpret_memory.rs"), "{line}");
            (place, index, bound)
        }
        other => panic!("{other} should be an overrun"),
    }
}

fn message(result: Result<Report>) -> String {
    match result.expect_err("something is wrong") {
        Error::Execution { message, .. } => message,
        other => panic!("{other} should be an error of execution"),
    }
}

/// Loads elements as one type and stores what they are computed as.
fn loaded<T: pumice_kernel::interpret::Plain>(elem: Elem, as_elem: Elem, bytes: &[u8]) -> Vec<T> {
    let n = bytes.len() / elem.bytes();
    let kernel = build(n as u32, |k| {
        let (x, out) = (k.input("x", elem), k.output("out", as_elem));
        let i = k.local_index();
        out.store(i, x.load(i));
    });
    let mut memories = [Memory::Shared(bytes), Memory::zeros(n * as_elem.bytes())];
    run_one(&kernel, &mut memories).expect("nothing is wrong");
    memories[1].to_vec()
}

#[test]
fn narrow_loads_extend_by_the_storage_types_sign() {
    assert_eq!(loaded::<i32>(Elem::I8, Elem::I32, &[0, 127, 128, 255]), [0, 127, -128, -1]);
    assert_eq!(loaded::<i32>(Elem::U8, Elem::I32, &[0, 127, 128, 255]), [0, 127, 128, 255]);
    assert_eq!(loaded::<i32>(Elem::I16, Elem::I32, &[0, 128, 255, 127]), [-32768, 32767]);
    assert_eq!(loaded::<i32>(Elem::U16, Elem::I32, &[0, 128, 255, 127]), [32768, 32767]);
    assert_eq!(loaded::<u8>(Elem::Bool, Elem::Bool, &[0, 1, 2, 255]), [0, 1, 1, 1]);
}

#[test]
fn sixteen_bit_floats_are_read_exactly() {
    let halves: Vec<u8> = [1f32, -2.5, 6e-8, 65504.0].iter().flat_map(|v| f16::from_f32(*v).to_le_bytes()).collect();
    let expected: Vec<f32> = [1f32, -2.5, 6e-8, 65504.0].iter().map(|v| f16::from_f32(*v).to_f32()).collect();
    assert_eq!(loaded::<f32>(Elem::F16, Elem::F32, &halves), expected);
    let brains: Vec<u8> = [1f32, -3e38, 1e-40].iter().flat_map(|v| bf16::from_f32(*v).to_le_bytes()).collect();
    let expected: Vec<f32> = [1f32, -3e38, 1e-40].iter().map(|v| bf16::from_f32(*v).to_f32()).collect();
    assert_eq!(loaded::<f32>(Elem::BF16, Elem::F32, &brains), expected);
}

#[test]
fn stores_round_and_wrap() {
    let values = [1.0009766f32, 70000.0, -1e-8, f32::NAN];
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    let halves = loaded::<f16>(Elem::F32, Elem::F16, &bytes);
    assert_eq!(halves[..3], [1.0009766, f32::INFINITY, -0.0].map(f16::from_f32));
    assert!(halves[3].is_nan());
    assert_eq!(loaded::<bf16>(Elem::F32, Elem::BF16, &bytes)[0], bf16::from_f32(1.0));
    let numbers: Vec<u8> = [300i32, -129, 255, 70000].iter().flat_map(|v| v.to_le_bytes()).collect();
    assert_eq!(loaded::<i8>(Elem::I32, Elem::I8, &numbers), [44, 127, -1, 112]);
    assert_eq!(loaded::<u16>(Elem::I32, Elem::U16, &numbers), [300, 65407, 255, 4464]);
}

#[test]
fn a_complex_number_is_a_vector_of_two() {
    let kernel = build(2, |k| {
        let (x, out) = (k.input("x", Elem::C64), k.output("out", Elem::C64));
        let i = k.local_index();
        let z = x.load(i);
        out.store(i, k.vector(&[-z.lane(1), z.lane(0)]));
    });
    let mut memories = [Memory::of(&[1f32, 2., 3., 4.]), Memory::zeros(16)];
    run_one(&kernel, &mut memories).expect("nothing is wrong");
    assert_eq!(memories[1].to_vec::<f32>(), [-2., 1., -4., 3.]);
}

#[test]
fn a_wide_access_moves_consecutive_elements() {
    let kernel = build(2, |k| {
        let x = k.buffer("x", Elem::I16, Access::Read, 16);
        let out = k.buffer("out", Elem::U8, Access::Write, 8);
        let i = k.local_index();
        let mut values = x.load_wide(i * 8, 8);
        values.reverse();
        out.store_wide(i * 8, &values);
    });
    let numbers: Vec<i16> = (0..16).collect();
    let mut memories = [Memory::of(&numbers), Memory::zeros(16)];
    run_one(&kernel, &mut memories).expect("nothing is wrong");
    assert_eq!(memories[1].to_vec::<u8>(), [7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8]);
}

#[test]
fn a_misaligned_wide_access_is_an_error() {
    let kernel = build(2, |k| {
        let x = k.buffer("x", Elem::F32, Access::Read, 16);
        x.load_wide(k.local_index() * 2, 4);
    });
    let expected = "the index of 4 elements of x must be a multiple of 4 but is 2.";
    assert_eq!(message(run_one(&kernel, &mut [Memory::zeros(64)])), expected);
}

#[test]
fn an_index_outside_names_kernel_line_place_index_and_bound() {
    let buffer = build(4, |k| k.output("out", Elem::I32).store(k.local_index() + 2, 1));
    assert_eq!(overrun(run_one(&buffer, &mut [Memory::zeros(18)])), ("out".into(), 4, 4));
    let shared = build(4, |k| k.shared("tile", Elem::F16, 8).store(k.local_index() * 3, 1.0f32));
    assert_eq!(overrun(run_one(&shared, &mut [])), ("tile".into(), 9, 8));
    let private = build(4, |k| {
        k.private("own", Elem::F32, 3).load(k.local_index());
    });
    assert_eq!(overrun(run_one(&private, &mut [])), ("own".into(), 3, 3));
    let wide = build(1, |k| {
        k.buffer("x", Elem::F32, Access::Read, 16).load_wide(4, 4);
    });
    assert_eq!(overrun(run_one(&wide, &mut [Memory::zeros(24)])), ("x".into(), 6, 6));
}

#[test]
fn indices_are_unsigned_and_may_be_wide() {
    let negative = build(1, |k| {
        k.input("x", Elem::U8).load(k.i32(-1));
    });
    assert_eq!(overrun(run_one(&negative, &mut [Memory::zeros(4)])), ("x".into(), 0xffff_ffff, 4));
    let wide = build(1, |k| {
        k.input("x", Elem::F64).load(k.i64(1 << 61));
    });
    assert_eq!(overrun(run_one(&wide, &mut [Memory::zeros(4)])), ("x".into(), 1 << 61, 0));
}

#[test]
fn an_inactive_invocation_may_have_any_index() {
    let kernel = build(8, |k| {
        let (x, out) = (k.input("x", Elem::I32), k.output("out", Elem::I32));
        let i = k.local_index();
        k.when(i.lt(2), || out.store(i, x.load(i) + 1));
    });
    let mut memories = [Memory::of(&[5i32, 6]), Memory::zeros(8)];
    run_one(&kernel, &mut memories).expect("only two invocations load");
    assert_eq!(memories[1].to_vec::<i32>(), [6, 7]);
}

#[test]
fn an_argument_array_is_read_by_index_within_its_length() {
    let kernel = build(4, |k| {
        let strides = k.arg_array("strides", Scalar::I64, 3);
        let out = k.output("out", Elem::I64);
        let i = k.local_index();
        k.when(i.lt(k.arg_i32("n")), || out.store(i, strides.at(i)));
    });
    let scalars = [Argument::I64(7), Argument::I64(-8), Argument::I64(9)];
    let launch = |n| [scalars[0], scalars[1], scalars[2], Argument::I32(n)];
    let mut memories = [Memory::zeros(32)];
    run(&kernel, &Launch { scalars: &launch(3), ..Launch::default() }, &mut memories).expect("three are there");
    assert_eq!(memories[0].to_vec::<i64>(), [7, -8, 9, 0]);
    let result = run(&kernel, &Launch { scalars: &launch(4), ..Launch::default() }, &mut memories);
    assert_eq!(overrun(result), ("strides".into(), 3, 3));
}

#[test]
fn two_buffers_may_be_the_same_memory() {
    let kernel = build(4, |k| {
        let (x, out) = (k.input("x", Elem::I32), k.output("out", Elem::I32));
        let i = k.local_index();
        out.store(i, x.load(i) * 2);
    });
    let bindings = [Binding { memory: 0, bytes: 4..20 }, Binding { memory: 0, bytes: 4..20 }];
    let mut memories = [Memory::of(&[1i32, 2, 3, 4, 5, 6])];
    let launch = Launch { bindings: &bindings, check_races: true, ..Launch::default() };
    run(&kernel, &launch, &mut memories).expect("each invocation reads what it alone writes");
    assert_eq!(memories[0].to_vec::<i32>(), [1, 4, 6, 8, 10, 6]);
    let outside = [Binding { memory: 0, bytes: 4..28 }, Binding { memory: 0, bytes: 4..20 }];
    let launch = Launch { bindings: &outside, ..Launch::default() };
    let error = run(&kernel, &launch, &mut memories).expect_err("it ends outside").to_string();
    assert_eq!(error, "[kernel] x must lie within memory 0, 24 bytes, but is 4..28.");
    let askew = [Binding { memory: 0, bytes: 4..20 }, Binding { memory: 0, bytes: 2..18 }];
    let launch = Launch { bindings: &askew, ..Launch::default() };
    let error = run(&kernel, &launch, &mut memories).expect_err("it starts askew").to_string();
    assert_eq!(error, "[kernel] out must start at a multiple of 4 but starts at 2.");
}

#[test]
fn memory_that_is_only_read_is_not_written() {
    let kernel = build(1, |k| k.output("out", Elem::I32).store(0, 1));
    let bytes = [0; 4];
    let result = run_one(&kernel, &mut [Memory::Shared(&bytes)]);
    assert_eq!(message(result), "the memory of out must be writable but is only read.");
    let mut bytes = [0; 4];
    run_one(&kernel, &mut [Memory::Mut(&mut bytes)]).expect("it may be written");
    assert_eq!(bytes, [1, 0, 0, 0]);
}

#[test]
fn shared_memory_carries_values_across_a_barrier() {
    let kernel = build(8, |k| {
        let (x, out) = (k.input("x", Elem::F32), k.output("out", Elem::F32));
        let tile = k.shared_vectors("tile", Elem::F32, 2, 8);
        let i = k.local_index();
        tile.store(i, k.vector(&[x.load(i), x.load(i) * 10.0]));
        k.barrier();
        let other = tile.load(7 - i);
        out.store(i, other.lane(0) + other.lane(1));
    });
    let mut memories = [Memory::of(&[0f32, 1., 2., 3., 4., 5., 6., 7.]), Memory::zeros(32)];
    run(&kernel, &Launch { check_races: true, ..Launch::default() }, &mut memories).expect("nothing is wrong");
    assert_eq!(memories[1].to_vec::<f32>(), [77., 66., 55., 44., 33., 22., 11., 0.]);
}

#[test]
fn a_private_array_is_the_invocations_own_and_zero_at_first() {
    let kernel = build(3, |k| {
        let out = k.output("out", Elem::I32);
        let own = k.private("own", Elem::I16, 4);
        let i = k.local_index();
        own.store(i, i + 5);
        let sum = k.for_(0, k.i32(4), 1, k.i32(0), |j, sum| sum * 10 + own.load(j));
        out.store(k.group_id(0) * 3 + i, sum);
    });
    let mut memories = [Memory::zeros(24)];
    let launch = Launch { groups: [2, 1, 1], ..Launch::default() };
    run(&kernel, &launch, &mut memories).expect("nothing is wrong");
    assert_eq!(memories[0].to_vec::<i32>(), [5000, 600, 70, 5000, 600, 70]);
}

#[test]
fn atomics_combine_and_give_what_was_there() {
    let kernel = build(4, |k| {
        let x = k.buffer("x", Elem::I32, Access::ReadWrite, 4);
        let out = k.output("out", Elem::I32);
        let i = k.local_index();
        out.store(i, x.atomic_add(0, i + 1));
        x.atomic_min(1, i - 2);
        x.view(Elem::U32).atomic_max(2, i - 2);
        x.atomic_and(3, !(k.i32(1) << i));
        x.atomic_or(4, k.i32(16) << i);
        x.atomic_xor(5, i);
        x.atomic_exchange(6, i);
        x.atomic_compare_exchange(7, i * 2, i * 2 + 2);
    });
    let mut memories = [Memory::of(&[100i32, 0, 0, 255, 0, 9, 5, 0]), Memory::zeros(16)];
    run(&kernel, &Launch { check_races: true, ..Launch::default() }, &mut memories).expect("nothing is wrong");
    assert_eq!(memories[0].to_vec::<i32>(), [110, -2, -1, 240, 240, 9, 3, 8]);
    assert_eq!(memories[1].to_vec::<i32>(), [100, 101, 103, 106]);
}

#[test]
fn atomics_work_on_wide_integers_floats_and_shared_memory() {
    let kernel = build(4, |k| {
        let wide = k.buffer("wide", Elem::U64, Access::ReadWrite, 8);
        let floats = k.buffer("floats", Elem::F32, Access::ReadWrite, 4);
        let sum = k.shared("sum", Elem::I32, 1);
        let i = k.local_index();
        k.when(i.eq(0), || sum.store(0, 0));
        k.barrier();
        sum.atomic_add(0, i);
        k.barrier();
        wide.atomic_add(0, sum.load(0).to(Scalar::I64) << k.i64(32));
        floats.atomic_add(0, i.to(Scalar::F32));
        floats.atomic_max(1, i.eq(2).select(f32::NAN, 1.0));
        floats.atomic_min(2, i.to(Scalar::F32) - 1.5);
    });
    let mut memories = [Memory::of(&[1u64]), Memory::of(&[0.5f32, 0.0, 0.0])];
    run(&kernel, &Launch { check_races: true, ..Launch::default() }, &mut memories).expect("nothing is wrong");
    assert_eq!(memories[0].to_vec::<u64>(), [(24 << 32) + 1]);
    let floats = memories[1].to_vec::<f32>();
    assert_eq!((floats[0], floats[2]), (6.5, -1.5));
    assert!(floats[1].is_nan(), "a NaN wins and stays");
}

/// Runs with a look at races.
fn raced(workgroup: u32, bytes: usize, write: impl FnOnce(&Builder)) -> Result<Report> {
    let kernel = build(workgroup, write);
    let mut memories: Vec<Memory<'_>> = kernel.buffers.iter().map(|_| Memory::zeros(bytes)).collect();
    run(&kernel, &Launch { check_races: true, ..Launch::default() }, &mut memories)
}

#[test]
fn a_race_in_shared_memory_names_both_sides() {
    let result = raced(4, 0, |k| {
        let tile = k.shared("tile", Elem::F32, 4);
        let i = k.local_index();
        tile.store(i, 1.0f32);
        tile.load(i ^ 1);
    });
    let expected = "element 1 of tile must be left to one invocation until a barrier but is touched by \
                    invocation 0 after invocation 1.";
    assert_eq!(message(result), expected);
}

#[test]
fn only_a_barrier_that_orders_buffers_ends_a_race_on_them() {
    let exchange = |all: bool| {
        raced(4, 16, move |k| {
            let x = k.buffer("x", Elem::I32, Access::ReadWrite, 4);
            let i = k.local_index();
            x.store(i, i);
            if all {
                k.barrier_all()
            } else {
                k.barrier()
            }
            x.load(3 - i);
        })
    };
    exchange(true).expect("the barrier orders buffers");
    assert!(message(exchange(false)).starts_with("element 3 of x"));
}

#[test]
fn writes_by_several_and_atomics_beside_plain_accesses_are_races() {
    let twice = raced(2, 4, |k| k.output("out", Elem::I32).store(0, 1));
    assert!(message(twice).contains("invocation 1 after invocation 0"));
    let mixed = raced(2, 4, |k| {
        let x = k.buffer("x", Elem::I32, Access::ReadWrite, 4);
        x.atomic_add(0, 1);
        k.when(k.local_index().eq(0), || {
            x.load(0);
        });
    });
    assert!(message(mixed).contains("invocation 0 after several invocations"));
}

#[test]
fn bytes_of_different_elements_do_not_race() {
    raced(8, 8, |k| {
        let (x, tile) = (k.buffer("x", Elem::U8, Access::ReadWrite, 4), k.shared("tile", Elem::U8, 8));
        let i = k.local_index();
        x.store(i, i);
        tile.store(i, x.load(i));
    })
    .expect("each has its own byte");
}
