//! The exact functions, run by the interpreter on hard cases and compared with the processor's arithmetic, also with seeds
//! as wrong as drivers make them.

use super::{COUNT, Exact};
use crate::interpret::{Launch, Memory, run};
use crate::ir::{Access, BinaryOp, BufferParam, Builtin, Inst, Kernel, Op, Place, Results, UnaryOp};
use crate::types::{Elem, Type};
use crate::verify::verify;

const LANES: usize = 1024;

/// The function over arrays: operands come from buffers, and every quotient and root is off by some ulp.
fn over_arrays(exact: Exact, operand: Elem, ulp: i32) -> Kernel {
    let mut kernel = exact.kernel().clone();
    kernel.workgroup = [LANES as u32, 1, 1];
    let operands = std::mem::take(&mut kernel.scalars);
    for param in operands {
        kernel.buffers.push(BufferParam { name: param.name, elem: operand, access: Access::Read, align: 16 });
    }
    let mut body = std::mem::take(&mut kernel.body);
    let at = kernel.fresh(Type::I32);
    let line = body.insts[0].line;
    perturb(&mut kernel, &mut body.insts, ulp);
    for inst in &mut body.insts {
        match &mut inst.op {
            Op::Arg { param, .. } => {
                inst.op = Op::Load { place: Place::Buffer(*param + 1), elem: operand, index: at };
            }
            Op::Store { index, .. } => *index = at,
            _ => {}
        }
    }
    body.insts.insert(0, Inst { results: Results::from_iter([at]), op: Op::Builtin(Builtin::LocalIndex), line });
    kernel.body = body;
    verify(&kernel).expect("the function is well formed");
    kernel
}

/// Adds to the bits of every f32 quotient and root.
fn perturb(kernel: &mut Kernel, insts: &mut Vec<Inst>, ulp: i32) {
    if ulp == 0 {
        return;
    }
    for mut inst in std::mem::take(insts) {
        inst.op.blocks_mut().into_iter().for_each(|block| perturb(kernel, &mut block.insts, ulp));
        let seed = matches!(inst.op, Op::Binary(BinaryOp::Div, ..) | Op::Unary(UnaryOp::Sqrt, _));
        let line = inst.line;
        if !seed {
            insts.push(inst);
            continue;
        }
        let result = inst.results[0];
        let [quotient, bits, off, moved] = [Type::F32, Type::I32, Type::I32, Type::I32].map(|ty| kernel.fresh(ty));
        inst.results[0] = quotient;
        insts.push(inst);
        let rest = [
            (bits, Op::Bitcast(quotient)),
            (off, Op::Const(ulp as u32 as u64)),
            (moved, Op::Binary(BinaryOp::Add, bits, off)),
            (result, Op::Bitcast(moved)),
        ];
        insts.extend(rest.map(|(value, op)| Inst { results: Results::from_iter([value]), op, line }));
    }
}

/// Numbers without a pattern, and the bits of floats that are likely to go wrong.
struct Source(u64);

impl Source {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 32) ^ (self.0 << 17)
    }

    fn f32(&mut self) -> f32 {
        let (kind, bits) = (self.word() % 8, self.word() as u32);
        let near_one = 117 + self.word() as u32 % 20;
        f32::from_bits(match kind {
            0 | 1 => bits,
            2 | 3 => bits & 0x807f_ffff | near_one << 23,
            4 => bits & 0x807f_ffff,
            5 => bits & 0xff80_0003,
            6 => bits | 0x007f_fffc,
            _ => [0, 1 << 31, 0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 0x3f80_0000, 1, 0x7f7f_ffff][bits as usize % 8],
        })
    }

    fn f64(&mut self) -> f64 {
        let (kind, bits) = (self.word() % 8, self.word() << 32 | self.word() & 0xffff_ffff);
        let near_one = 1010 + self.word() % 30;
        f64::from_bits(match kind {
            0 | 1 => bits,
            2..=4 => bits & 0x800f_ffff_ffff_ffff | near_one << 52,
            5 => bits & 0x800f_ffff_ffff_ffff,
            6 => bits & 0xfff0_0000_0000_0003,
            _ => [0, 1 << 63, 0x7ff << 52, 0xfff << 52, 0x7ff8 << 48, 0x3ff << 52, 1, (0x7ff << 52) - 1]
                [bits as usize % 8],
        })
    }
}

fn check_f32<const N: usize>(
    exact: Exact,
    ulp: i32,
    mut draw: impl FnMut(&mut Source) -> [f32; N],
    expected: impl Fn([f32; N]) -> u32,
) {
    let kernel = over_arrays(exact, Elem::F32, ulp);
    let mut source = Source(1);
    for _ in 0..24 {
        let cases: Vec<[f32; N]> = (0..LANES).map(|_| draw(&mut source)).collect();
        let mut memories = vec![Memory::zeros(4 * LANES)];
        memories.extend((0..N).map(|i| Memory::of(&cases.iter().map(|c| c[i]).collect::<Vec<f32>>())));
        run(&kernel, &Launch::default(), &mut memories).expect("the function runs");
        for (case, found) in cases.into_iter().zip(memories[0].to_vec::<u32>()) {
            let expected = expected(case);
            let both_nan = f32::from_bits(found).is_nan() && f32::from_bits(expected).is_nan();
            assert!(found == expected || both_nan, "{exact:?} {case:?}: {found:#x}, not {expected:#x} ({ulp} ulp off)");
        }
    }
}

fn check_f64<const N: usize>(
    exact: Exact,
    mut draw: impl FnMut(&mut Source) -> [f64; N],
    expected: impl Fn([f64; N]) -> f64,
) {
    let kernel = over_arrays(exact, Elem::F64, 0);
    let mut source = Source(2);
    for _ in 0..24 {
        let cases: Vec<[f64; N]> = (0..LANES).map(|_| draw(&mut source)).collect();
        let mut memories = vec![Memory::zeros(8 * LANES)];
        memories.extend((0..N).map(|i| Memory::of(&cases.iter().map(|c| c[i]).collect::<Vec<f64>>())));
        run(&kernel, &Launch::default(), &mut memories).expect("the function runs");
        for (case, found) in cases.into_iter().zip(memories[0].to_vec::<f64>()) {
            let expected = expected(case);
            let same = found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan();
            assert!(same, "{exact:?} {case:?}: {found:e}, not {expected:e}");
        }
    }
}

/// A quotient halfway between two floats, but for the rounding of its dividend.
fn close_quotient(source: &mut Source) -> [f32; 2] {
    let b = f32::from_bits(source.word() as u32 & 0x7f_ffff | 127 << 23);
    let middle = 1.0 + ((source.word() & 0x7f_ffff) as f64 + 0.5) / 8_388_608.0;
    [(b as f64 * middle) as f32, b]
}

#[test]
fn division_rounds_to_nearest_even() {
    let quotient = |[a, b]: [f32; 2]| (a / b).to_bits();
    check_f32(Exact::DivF32, 0, |s| [s.f32(), s.f32()], quotient);
    for ulp in -3..=3 {
        check_f32(Exact::DivF32Fused, ulp, |s| [s.f32(), s.f32()], quotient);
        check_f32(Exact::DivF32Fused, ulp, close_quotient, quotient);
    }
}

#[test]
fn denormal_quotients_are_rounded_once() {
    let draw = |s: &mut Source| {
        let (b, tiny) = (s.f32(), f32::from_bits(s.word() as u32 & 0x80ff_ffff));
        [b * tiny, b]
    };
    check_f32(Exact::DivF32, 0, draw, |[a, b]| (a / b).to_bits());
    check_f32(Exact::DivF32Fused, 2, draw, |[a, b]| (a / b).to_bits());
}

#[test]
fn square_roots_round_to_nearest_even() {
    let root = |[x]: [f32; 1]| x.sqrt().to_bits();
    // Squares of floats and their neighbours: where a root is a float, or as close to a midpoint as it gets.
    let square = |s: &mut Source| {
        let x = f32::from_bits(s.word() as u32 & 0xff_ffff | 127 << 23);
        [f32::from_bits((x * x).to_bits().wrapping_add(s.word() as u32 % 3))]
    };
    for ulp in -3..=3 {
        for exact in [Exact::SqrtF32, Exact::SqrtF32Fused] {
            check_f32(exact, ulp, |s| [s.f32()], root);
            check_f32(exact, ulp, square, root);
        }
    }
}

/// The digits and the parity of the exponent decide, so two binades are all there is.
#[test]
fn reciprocal_roots_round_twice() {
    let of_root = |[x]: [f32; 1]| (1.0 / x.sqrt()).to_bits();
    let exact = Exact::ReciprocalRootF32Fused;
    check_f32(exact, 0, |s| [s.f32()], of_root);
    check_f32(exact, 0, |s| [f32::from_bits((s.word() as u32 & 0xff_ffff) + 1f32.to_bits())], of_root);
    let all_ones =
        |s: &mut Source| [f32::from_bits(0x407f_ffff - (s.word() as u32 % 4) + ((s.word() as u32 % 40) << 24))];
    check_f32(exact, 0, all_ones, of_root);
}

#[test]
#[ignore = "slow"]
fn every_reciprocal_root_of_two_binades_rounds_twice() {
    let kernel = over_arrays(Exact::ReciprocalRootF32Fused, Elem::F32, 0);
    let all: Vec<u32> = (1f32.to_bits()..4f32.to_bits()).collect();
    for bits in all.chunks(LANES) {
        let mut memories = [Memory::zeros(4 * LANES), Memory::of(bits)];
        run(&kernel, &Launch::default(), &mut memories).expect("the function runs");
        for (&bits, found) in bits.iter().zip(memories[0].to_vec::<u32>()) {
            assert_eq!(found, (1.0 / f32::from_bits(bits).sqrt()).to_bits(), "{bits:#x}");
        }
    }
}

#[test]
fn fma_of_f32_rounds_once() {
    let draw = |s: &mut Source| {
        let (a, b) = (s.f32(), s.f32());
        let bits = (-(a * b)).to_bits();
        let near = f32::from_bits(bits ^ (s.word() as u32 % 16));
        let off = f32::from_bits(bits.wrapping_add((s.word() as u32 % 50) << 23));
        [a, b, [near, off, s.f32(), s.f32()][s.word() as usize % 4]]
    };
    for exact in [Exact::FmaF32, Exact::FmaF32Wide] {
        check_f32(exact, 0, draw, |[a, b, c]| a.mul_add(b, c).to_bits());
    }
}

#[test]
fn fma_of_f64_rounds_once() {
    let draw = |s: &mut Source| {
        let (a, b) = (s.f64(), s.f64());
        let bits = (-(a * b)).to_bits();
        let near = f64::from_bits(bits ^ (s.word() % 16));
        let off = f64::from_bits(bits.wrapping_add((s.word() % 120) << 52));
        [a, b, [near, off, s.f64(), s.f64()][s.word() as usize % 4]]
    };
    check_f64(Exact::FmaF64, draw, |[a, b, c]| a.mul_add(b, c));
}

#[test]
fn f64_becomes_whole() {
    check_f64(Exact::TruncF64, |s| [s.f64()], |[x]| x.trunc());
    check_f64(Exact::RoundEvenF64, |s| [s.f64()], |[x]| x.round_ties_even());
}

#[test]
fn f32_and_f64_become_each_other() {
    let kernel = over_arrays(Exact::Widen, Elem::F32, 0);
    let mut source = Source(4);
    for _ in 0..24 {
        let cases: Vec<f32> = (0..LANES).map(|_| source.f32()).collect();
        let mut memories = [Memory::zeros(8 * LANES), Memory::of(&cases)];
        run(&kernel, &Launch::default(), &mut memories).expect("the function runs");
        for (case, found) in cases.into_iter().zip(memories[0].to_vec::<f64>()) {
            let same = found.to_bits() == (case as f64).to_bits() || found.is_nan() && case.is_nan();
            assert!(same, "{case:e} became {found:e}");
        }
    }
    let kernel = over_arrays(Exact::Narrow, Elem::F64, 0);
    for _ in 0..24 {
        // Random doubles, and those that become denormals or lie halfway between two.
        let tiny =
            |s: &mut Source| f32::from_bits(s.word() as u32 & 0x80ff_ffff) as f64 * [1.0, 0.5][s.word() as usize % 2];
        let cases: Vec<f64> = (0..LANES / 2).flat_map(|_| [source.f64(), tiny(&mut source)]).collect();
        let mut memories = [Memory::zeros(4 * LANES), Memory::of(&cases)];
        run(&kernel, &Launch::default(), &mut memories).expect("the function runs");
        for (case, found) in cases.into_iter().zip(memories[0].to_vec::<f32>()) {
            let same = found.to_bits() == (case as f32).to_bits() || found.is_nan() && case.is_nan();
            assert!(same, "{case:e} became {found:e}");
        }
    }
}

#[test]
fn halves_are_encoded_and_decoded() {
    let f16 = |[x]: [f32; 1]| half::f16::from_f32(x).to_bits() as u32;
    let draw = |s: &mut Source| {
        let near = half::f16::from_bits(s.word() as u16).to_f32().to_bits();
        [[f32::from_bits(near.wrapping_add((s.word() as u32 % 3) << 12)), s.f32()][s.word() as usize % 2]]
    };
    // A NaN has one encoding here, whatever its payload.
    let quiet = |x: f32| if x.is_nan() { f32::NAN } else { x };
    check_f32(Exact::EncodeF16, 0, |s| draw(s).map(quiet), f16);
    check_f32(Exact::EncodeBF16, 0, |s| draw(s).map(quiet), |[x]| half::bf16::from_f32(x).to_bits() as u32);
    for exact in [Exact::DecodeF16, Exact::DecodeF16Denormal] {
        decodes_every_half(exact);
    }
}

fn decodes_every_half(exact: Exact) {
    let kernel = over_arrays(exact, Elem::U32, 0);
    let all: Vec<u32> = (0..1 << 16).collect();
    for halves in all.chunks(LANES) {
        let mut memories = [Memory::zeros(4 * LANES), Memory::of(halves)];
        run(&kernel, &Launch::default(), &mut memories).expect("the function runs");
        for (&half, found) in halves.iter().zip(memories[0].to_vec::<f32>()) {
            let expected = half::f16::from_bits(half as u16).to_f32();
            let same = found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan();
            assert!(same, "{exact:?} {half:#x}: {found:e}, not {expected:e}");
        }
    }
}

#[test]
fn products_have_a_high_half() {
    let mut source = Source(3);
    let numbers: Vec<u64> = (0..LANES).map(|_| source.word() << 32 >> (source.word() % 40) ^ source.word()).collect();
    let others: Vec<u64> = numbers.iter().rev().map(|n| !n).collect();
    let run_high = |exact| {
        let kernel = over_arrays(exact, Elem::U64, 0);
        let mut memories = [Memory::zeros(8 * LANES), Memory::of(&numbers), Memory::of(&others)];
        run(&kernel, &Launch::default(), &mut memories).expect("the function runs");
        memories[0].to_vec::<u64>()
    };
    let (unsigned, signed) = (run_high(Exact::MulHighU64), run_high(Exact::MulHighS64));
    for i in 0..LANES {
        let (a, b) = (numbers[i], others[i]);
        assert_eq!(unsigned[i], ((a as u128 * b as u128) >> 64) as u64, "{a:#x} * {b:#x}");
        assert_eq!(signed[i], ((a as i64 as i128 * b as i64 as i128) >> 64) as u64, "{a:#x} * {b:#x}");
    }
}

#[test]
fn every_function_is_well_formed() {
    let all = [
        Exact::DivF32Fused,
        Exact::DivF32,
        Exact::SqrtF32Fused,
        Exact::SqrtF32,
        Exact::ReciprocalRootF32Fused,
        Exact::FmaF32Wide,
        Exact::FmaF32,
        Exact::FmaF64,
        Exact::TruncF64,
        Exact::RoundEvenF64,
        Exact::EncodeF16,
        Exact::DecodeF16Denormal,
        Exact::DecodeF16,
        Exact::EncodeBF16,
        Exact::MulHighU64,
        Exact::MulHighS64,
        Exact::Widen,
        Exact::Narrow,
    ];
    assert_eq!(all.len(), COUNT);
    all.into_iter().for_each(|exact| verify(exact.kernel()).expect("the function is well formed"));
}
