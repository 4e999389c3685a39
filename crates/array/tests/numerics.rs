//! Arithmetic gives the same bits everywhere: the device against Rust's own IEEE arithmetic.

mod rig;

use half::{bf16, f16};
use pumice::kernel::arguments::Argument;
use pumice::kernel::{Elem, Kernel, Scalar, Val};
use pumice::launch::{Build, fold_groups};
use rig::{Job, Source, bytes_of, floats};

const COUNT: usize = 1 << 16;

/// Values that make rounding hard: random bits, near-equal pairs, denormals, specials.
fn samples(seed: u64) -> Vec<f32> {
    let mut source = Source(seed);
    let special =
        [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MAX, f32::MIN_POSITIVE, 1e-45, 1.0, -1.0];
    (0..COUNT)
        .map(|i| match i % 8 {
            0 => special[source.bits() as usize % special.len()],
            1 => f32::from_bits(source.bits() as u32 & 0x807f_ffff),
            2 => f32::from_bits(0x3f80_0000 | (source.bits() as u32 & 0x807f_ffff)),
            3 => source.unit() * 100.0,
            _ => f32::from_bits(source.bits() as u32),
        })
        .collect()
}

/// A kernel over three inputs and one output, run on the device.
fn on_device(f: impl for<'k> Fn(Val<'k>, Val<'k>, Val<'k>) -> Val<'k>, inputs: &[Vec<f32>; 3]) -> Option<Vec<f32>> {
    let gpu = rig::gpu()?;
    let kernel = Kernel::build("numerics", [64, 1, 1], |k| {
        let [a, b, c] = ["a", "b", "c"].map(|name| k.input(name, Elem::F32));
        let (out, n) = (k.output("out", Elem::F32), k.arg_i32("n"));
        k.each(n, |i| out.store(i, f(a.load(i), b.load(i), c.load(i))));
    })
    .expect("the kernel is well formed");
    let mut buffers: Vec<Vec<u8>> = inputs.iter().map(|x| bytes_of(x)).collect();
    buffers.push(vec![0; COUNT * 4]);
    let groups = fold_groups((COUNT / 64) as u64);
    let job = Job { kernel: &kernel, groups, scalars: &[Argument::I32(COUNT as i32)], buffers };
    let found = job.on_device(gpu, Build::Fast).expect("the launch works");
    let interpreted = job.interpreted(gpu.target().subgroup_size).expect("the interpreter runs it");
    assert_same("interpreter and device", &floats(&interpreted[3]), &floats(&found[3]), inputs);
    Some(floats(&found[3]))
}

fn assert_same(what: &str, expected: &[f32], found: &[f32], inputs: &[Vec<f32>; 3]) {
    for (i, (e, f)) in expected.iter().zip(found).enumerate() {
        let same = e.to_bits() == f.to_bits() || (e.is_nan() && f.is_nan());
        let [a, b, c] = [0, 1, 2].map(|j| inputs[j][i]);
        assert!(
            same,
            "{what}: of {a:e}, {b:e}, {c:e} must be {e:e} ({:08x}) but is {f:e} ({:08x})",
            e.to_bits(),
            f.to_bits()
        );
    }
}

/// Checks a kernel's expression against Rust's.
fn check(
    name: &str,
    f: impl for<'k> Fn(Val<'k>, Val<'k>, Val<'k>) -> Val<'k>,
    expected: impl Fn(f32, f32, f32) -> f32,
    quantise: impl Fn(f32) -> f32,
) {
    let inputs = [1, 2, 3].map(|seed| samples(seed).into_iter().map(&quantise).collect::<Vec<f32>>());
    let Some(found) = on_device(f, &inputs) else { return };
    let expected: Vec<f32> = (0..COUNT).map(|i| expected(inputs[0][i], inputs[1][i], inputs[2][i])).collect();
    assert_same(name, &expected, &found, &inputs);
}

fn same(x: f32) -> f32 {
    x
}

#[test]
fn addition_subtraction_and_multiplication_round_to_nearest_even() {
    check("a + b", |a, b, _| a + b, |a, b, _| a + b, same);
    check("a - b", |a, b, _| a - b, |a, b, _| a - b, same);
    check("a * b", |a, b, _| a * b, |a, b, _| a * b, same);
}

#[test]
fn products_and_sums_are_never_contracted() {
    check("a * b + c", |a, b, c| a * b + c, |a, b, c| a * b + c, same);
}

#[test]
fn fma_rounds_once() {
    // Some devices take denormals for zeros here, and the language lets them.
    let flush = |x: f32| match rig::gpu() {
        Some(gpu) if !gpu.target().denormals.fma && x.is_subnormal() => 0f32.copysign(x),
        _ => x,
    };
    let fma = move |a, b, c| flush(flush(a).mul_add(flush(b), flush(c)));
    check("fma", |a, b, c| a.fma(b, c), fma, same);
    // Cancellation: the product's low half is all that is left.
    check("fma(a, b, -a * b)", |a, b, _| a.fma(b, -(a * b)), move |a, b, _| fma(a, b, -(a * b)), same);
}

#[test]
fn a_constant_zero_keeps_its_part_in_a_sums_sign() {
    check("a + 0", |a, _, _| a + 0.0, |a, _, _| a + 0.0, same);
    check("0 - a", |a, _, _| a.builder().f32(0.0) - a, |a, _, _| 0.0 - a, same);
    check("a - -0", |a, _, _| a - -0.0, |a, _, _| a - -0.0, same);
    check("0 * a + 0", |a, _, _| a * 0.0 + 0.0, |a, _, _| a * 0.0 + 0.0, same);
    let sides = |x: f32| if x.is_subnormal() { -0.0 } else { x };
    check("fma(0, a, 0)", |a, _, _| a.fma(0.0, 0.0), |a, _, _| 0f32.mul_add(a, 0.0), sides);
}

#[test]
fn division_and_square_root_are_correctly_rounded() {
    check("a / b", |a, b, _| a / b, |a, b, _| a / b, same);
    check("sqrt", |a, _, _| a.sqrt(), |a, _, _| a.sqrt(), same);
    check("sqrt |a|", |a, _, _| a.abs().sqrt(), |a, _, _| a.abs().sqrt(), same);
}

#[test]
fn f16_arithmetic_rounds_after_every_operation() {
    let round = |x: f32| f16::from_f32(x).to_f32();
    let steps = |a: f32, b: f32, c: f32| round(round(round(a * b) + c) / round(b - c));
    check("f16 (a * b + c) / (b - c)", |a, b, c| rounded_steps(a, b, c, Elem::F16), steps, round);
    check("f16 narrow", |a, _, _| a.narrow(Elem::F16), |a, _, _| round(a), same);
}

#[test]
fn bf16_arithmetic_rounds_after_every_operation() {
    let round = |x: f32| bf16::from_f32(x).to_f32();
    let steps = |a: f32, b: f32, c: f32| round(round(round(a * b) + c) / round(b - c));
    check("bf16 (a * b + c) / (b - c)", |a, b, c| rounded_steps(a, b, c, Elem::BF16), steps, round);
    check("bf16 narrow", |a, _, _| a.narrow(Elem::BF16), |a, _, _| round(a), same);
}

fn rounded_steps<'k>(a: Val<'k>, b: Val<'k>, c: Val<'k>, elem: Elem) -> Val<'k> {
    (((a * b).narrow(elem) + c).narrow(elem) / (b - c).narrow(elem)).narrow(elem)
}

#[test]
fn nan_wins_in_minimum_and_maximum() {
    let min = |a: f32, b: f32| if a < b || a.is_nan() { a } else { b };
    let max = |a: f32, b: f32| if a > b || a.is_nan() { a } else { b };
    check("min", |a, b, _| a.min(b), |a, b, _| min(a, b), same);
    check("max", |a, b, _| a.max(b), |a, b, _| max(a, b), same);
}

#[test]
fn comparisons_tell_denormals_apart() {
    let number = |holds: bool| if holds { 1.0 } else { 0.0 };
    check("a < b", |a, b, _| a.lt(b).to(Scalar::F32), move |a, b, _| number(a < b), same);
    check("a <= b", |a, b, _| a.le(b).to(Scalar::F32), move |a, b, _| number(a <= b), same);
    check("a == b", |a, b, _| a.eq(b).to(Scalar::F32), move |a, b, _| number(a == b), same);
    check("a != b", |a, b, _| a.ne(b).to(Scalar::F32), move |a, b, _| number(a != b), same);
    check("a == a", |a, _, _| a.eq(a).to(Scalar::F32), move |a, _, _| number(!a.is_nan()), same);
    check("a == |a|", |a, _, _| a.eq(a.abs()).to(Scalar::F32), move |a, _, _| number(a == a.abs()), same);
    check("a < 0", |a, _, _| a.lt(0.0).to(Scalar::F32), move |a, _, _| number(a < 0.0), same);
    check("a >= 0", |a, _, _| a.ge(0.0).to(Scalar::F32), move |a, _, _| number(a >= 0.0), same);
    check("a == 0", |a, _, _| a.eq(0.0).to(Scalar::F32), move |a, _, _| number(a == 0.0), same);
    check("a < 1", |a, _, _| a.lt(1.0).to(Scalar::F32), move |a, _, _| number(a < 1.0), same);
}

#[test]
fn rounding_to_integers_is_exact() {
    check("floor", |a, _, _| a.floor(), |a, _, _| a.floor(), same);
    check("ceil", |a, _, _| a.ceil(), |a, _, _| a.ceil(), same);
    check("trunc", |a, _, _| a.trunc(), |a, _, _| a.trunc(), same);
    check("round_even", |a, _, _| a.round_even(), |a, _, _| a.round_ties_even(), same);
}

#[test]
fn conversions_to_integers_saturate() {
    check("to i32 and back", |a, _, _| a.to(Scalar::I32).to(Scalar::F32), |a, _, _| a as i32 as f32, same);
    check("to u32 and back", |a, _, _| a.to_u(Scalar::I32).to_u(Scalar::F32), |a, _, _| a as u32 as f32, same);
    if rig::gpu().is_some_and(|gpu| gpu.target().float64) {
        let third = |a: f32| (a as f64 / 3.0) as f32;
        check(
            "to f64, a third, and back",
            |a, _, _| (a.to(Scalar::F64) / a.builder().f64(3.0)).to(Scalar::F32),
            |a, _, _| third(a),
            same,
        );
    }
    check("to i64 and back", |a, _, _| a.to(Scalar::I64).to(Scalar::F32), |a, _, _| a as i64 as f32, same);
}

/// Every 16-bit float through a buffer of its type and back, and every f32 near a rounding boundary into it.
#[test]
fn sixteen_bit_storage_is_exact() {
    for elem in [Elem::F16, Elem::BF16] {
        let Some(gpu) = rig::gpu() else { return };
        let kernel = Kernel::build("storage", [64, 1, 1], |k| {
            let (x, y) = (k.input("x", elem), k.output("y", Elem::F32));
            let (z, back) = (k.input("z", Elem::F32), k.output("back", elem));
            let i = k.global_index();
            y.store(i, x.load(i));
            back.store(i, z.load(i));
        })
        .expect("the kernel is well formed");
        let all: Vec<u8> = (0..=u16::MAX).flat_map(|v| v.to_le_bytes()).collect();
        let floats_in = samples(9);
        let buffers = vec![all, vec![0; COUNT * 4], bytes_of(&floats_in), vec![0; COUNT * 2]];
        let job = Job { kernel: &kernel, groups: [1024, 1, 1], scalars: &[], buffers };
        let found = job.on_device(gpu, Build::Fast).expect("the launch works");
        let decode =
            |bits| if elem == Elem::F16 { f16::from_bits(bits).to_f32() } else { bf16::from_bits(bits).to_f32() };
        for (bits, value) in (0..=u16::MAX).zip(floats(&found[1])) {
            let expected = decode(bits);
            let same = expected.to_bits() == value.to_bits() || (expected.is_nan() && value.is_nan());
            assert!(same, "{elem:?} {bits:04x} must be {expected:e} but is {value:e}");
        }
        for (value, bytes) in floats_in.iter().zip(found[3].chunks_exact(2)) {
            let bits = u16::from_le_bytes([bytes[0], bytes[1]]);
            let expected =
                if elem == Elem::F16 { f16::from_f32(*value).to_bits() } else { bf16::from_f32(*value).to_bits() };
            assert!(
                bits == expected || value.is_nan() && decode(bits).is_nan(),
                "{elem:?} of {value:e}: {bits:04x}, must be {expected:04x}"
            );
        }
    }
}
