//! Every operation of the language on every type it is defined on.

use pumice_kernel::ir::{BinaryOp, CompareOp, Inst, Op, Place, Results, UnaryOp, Value};
use pumice_kernel::{Elem, Kernel, Scalar, Type, Val, verify};

use super::super::bytes::ByteMap;
use super::super::loops::LANES;
use super::super::{BlockProgram, Input, Output, lower};
use super::{LINE, agree, map};

const SCALARS: [Scalar; 5] = [Scalar::Bool, Scalar::I32, Scalar::I64, Scalar::F32, Scalar::F64];

/// Elements to try: a full block, and a rest.
const COUNT: usize = 1024 + 37;

/// A kernel of one instruction between loads and a store; none if the language does not have it.
fn single(inputs: &[Elem], output: Elem, op: impl FnOnce(&[Value]) -> Op) -> Option<Kernel> {
    let mut kernel = Kernel::build("single", [1, 1, 1], |k| {
        for elem in inputs {
            k.input("in", *elem);
        }
        k.output("out", output);
    })
    .expect("it only declares");
    let push = |kernel: &mut Kernel, ty: Type, op| {
        let result = kernel.fresh(ty);
        kernel.body.insts.push(Inst { results: Results::from_iter([result]), op, line: LINE });
        result
    };
    let index = push(&mut kernel, Type::I32, Op::Const(0));
    let load = |(i, elem): (usize, &Elem)| {
        push(&mut kernel, elem.compute(), Op::Load { place: Place::Buffer(i as u32), elem: *elem, index })
    };
    let loaded: Vec<Value> = inputs.iter().enumerate().map(load).collect();
    let value = push(&mut kernel, output.compute(), op(&loaded));
    let place = Place::Buffer(inputs.len() as u32);
    let store = Op::Store { place, elem: output, index, values: vec![value] };
    kernel.body.insts.push(Inst { results: Results::new(), op: store, line: LINE });
    verify::verify(&kernel).ok().map(|()| kernel)
}

/// Checks those that exist; says how many.
fn all(kernels: impl Iterator<Item = Option<Kernel>>) -> usize {
    kernels.flatten().map(|kernel| agree(&kernel, COUNT)).count()
}

#[test]
fn unary_operations_have_the_interpreters_bits() {
    use UnaryOp::*;
    let ops = [Neg, Abs, Not, Floor, Ceil, Trunc, RoundEven, Sqrt, CountOnes, LeadingZeros, TrailingZeros, ReverseBits];
    let cases = ops.into_iter().flat_map(|op| SCALARS.map(|s| (op, s.storage())));
    let found = all(cases.map(|(op, elem)| single(&[elem], elem, |v| Op::Unary(op, v[0]))));
    assert_eq!(found, 2 * 4 + 3 + 5 * 2 + 4 * 2);
}

#[test]
fn binary_operations_have_the_interpreters_bits() {
    use BinaryOp::*;
    let ops = [
        Add, Sub, Mul, Div, DivS, DivU, RemS, RemU, MulHighS, MulHighU, Min, Max, MinS, MaxS, MinU, MaxU, And, Or, Xor,
        Shl, ShrS, ShrU,
    ];
    let cases = ops.into_iter().flat_map(|op| SCALARS.map(|s| (op, s.storage())));
    let found = all(cases.map(|(op, elem)| single(&[elem, elem], elem, |v| Op::Binary(op, v[0], v[1]))));
    assert_eq!(found, 3 * 4 + 3 * 2 + 3 * 3 + 13 * 2);
}

#[test]
fn comparisons_have_the_interpreters_bits() {
    use CompareOp::*;
    let cases = [Eq, Ne, Lt, Le, LtU, LeU].into_iter().flat_map(|op| SCALARS.map(|s| (op, s.storage())));
    let found = all(cases.map(|(op, elem)| single(&[elem, elem], Elem::Bool, |v| Op::Compare(op, v[0], v[1]))));
    assert_eq!(found, 2 * 5 + 2 * 4 + 2 * 2);
}

#[test]
fn conversions_have_the_interpreters_bits() {
    let cases = SCALARS.into_iter().flat_map(|from| SCALARS.map(|to| (from.storage(), to.storage())));
    let cases = cases.flat_map(|(from, to)| [true, false].map(|signed| (from, to, signed)));
    let found = all(cases.map(|(from, to, signed)| single(&[from], to, |v| Op::Convert { value: v[0], signed })));
    assert_eq!(found, 50);
}

#[test]
fn every_storage_type_is_loaded_and_stored() {
    for elem in Elem::ALL {
        agree(&map([elem], &[elem], |_, [a]| vec![a]), COUNT);
    }
}

#[test]
fn storage_types_round_and_wrap() {
    for elem in Elem::ALL {
        let wide = match elem.compute() {
            Type::F32 => Elem::F32,
            Type::I32 => Elem::I32,
            _ => continue,
        };
        agree(&map([wide], &[elem, wide], |_, [a]| vec![a, a.narrow(elem)]), COUNT);
    }
    for elem in [Elem::F16, Elem::BF16] {
        agree(&map([Elem::F32], &[Elem::I32], |_, [a]| vec![a.encode(elem)]), COUNT);
        agree(&map([Elem::I32], &[Elem::F32], |_, [a]| vec![a.decode(elem)]), COUNT);
    }
}

#[test]
fn all_16_bit_floats_come_back() {
    for elem in [Elem::F16, Elem::BF16] {
        let all: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
        super::agree_on(&map([elem], &[elem, Elem::F32], |_, [a]| vec![a, a]), 1 << 16, &[all]);
    }
}

#[test]
fn selections_and_fused_products_have_the_interpreters_bits() {
    for scalar in SCALARS {
        let elem = scalar.storage();
        agree(&map([Elem::Bool, elem, elem], &[elem], |_, [c, a, b]| vec![c.select(a, b)]), COUNT);
        if scalar.is_float() {
            agree(&map([elem; 3], &[elem], |_, [a, b, c]| vec![a.fma(b, c)]), 20_000);
        }
    }
}

/// Addends with half their last place, in powers of two: normal ones, denormal ones, and those where the two meet.
fn halves() -> Vec<(f32, i32)> {
    let mut bits = super::Bits(0x1234_5678_9abc_def1);
    let normal = (0..500).map(|i| {
        let exponent = 2 + i % 250;
        (f32::from_bits(exponent << 23 | bits.next() as u32 & 0x7f_ffff), exponent as i32 - 151)
    });
    let normal: Vec<_> = normal.collect();
    let denormal = (0..500).map(|_| f32::from_bits(0x100 + bits.next() as u32 % 0x7f_ff00));
    let edge = [0x7f_fffe, 0x7f_ffff, 0x80_0000, 0x80_0001].map(f32::from_bits);
    normal.into_iter().chain(denormal.chain(edge).map(|c| (c, -150))).collect()
}

#[test]
fn a_fused_product_next_to_a_tie_is_rounded_once() {
    // The product is 1 - 2^-46 halves of the addend's last place: just off the tie, and on it once rounded to f64.
    let (above, below) = (1.0 + 2f32.powi(-23), 1.0 - 2f32.powi(-23));
    let [mut a, mut b, mut c] = [const { Vec::new() }; 3];
    for (addend, half) in halves() {
        for (x, addend) in [(above, addend), (-above, addend), (above, -addend), (-above, -addend)] {
            // A chunk of each: a doubtful lane has its neighbours done again too, which would hide one that is missed.
            a.extend((x * 2f32.powi(half / 2)).to_le_bytes().repeat(LANES));
            b.extend((below * 2f32.powi(half - half / 2)).to_le_bytes().repeat(LANES));
            c.extend(addend.to_le_bytes().repeat(LANES));
        }
    }
    let count = c.len() / 4;
    super::agree_on(&map([Elem::F32; 3], &[Elem::F32], |_, [a, b, c]| vec![a.fma(b, c)]), count, &[a, b, c]);
}

#[test]
fn packed_dot_products_have_the_interpreters_bits() {
    for (signed_a, signed_b) in [(false, false), (false, true), (true, false), (true, true)] {
        let kernel = map([Elem::I32; 3], &[Elem::I32], |_, [a, b, c]| vec![a.dot4_signs(b, c, signed_a, signed_b)]);
        agree(&kernel, COUNT);
    }
}

#[test]
fn bits_are_seen_as_other_types() {
    agree(&map([Elem::F32], &[Elem::I32], |_, [a]| vec![a.bitcast(Scalar::I32)]), COUNT);
    agree(&map([Elem::I64], &[Elem::F64], |_, [a]| vec![a.bitcast(Scalar::F64)]), COUNT);
    let halves = map([Elem::I64], &[Elem::I32, Elem::I32], |_, [a]| {
        let pair = a.bitcast_type(Type::Vector(Scalar::I32, 2));
        vec![pair.lane(1), pair.lane(0)]
    });
    agree(&halves, COUNT);
    agree(&map([Elem::C64], &[Elem::I64], |_, [a]| vec![a.bitcast_type(Type::I64)]), COUNT);
}

#[test]
fn vectors_are_worked_on_by_components() {
    let kernel = map([Elem::C64, Elem::C64, Elem::F32], &[Elem::C64, Elem::C64, Elem::F32], |k, [a, b, c]| {
        let four = k.vector(&[a.lane(0), b.lane(1), c, c]);
        let bits = four.lt(0.0).select(four, four * four + 1.0);
        vec![a * b - a, c.gt(0.0).select(a, b), bits.lane(0) + bits.lane(2)]
    });
    agree(&kernel, COUNT);
}

#[test]
fn polynomials_may_be_long_and_used_on_the_way() {
    let kernel = map([Elem::F32; 2], &[Elem::F32; 3], |_, [a, x]| {
        let short = a.fma(x, 0.5).fma(x, -0.25);
        let long = (0..12).fold(a, |sum, i| sum.fma(x, i as f32 / 3.0));
        // Another factor, the same sum twice, and a sum that is no constant.
        let mixed = short.fma(a, 2.0).fma(x, 3.0).fma(short, x);
        vec![short, long, mixed]
    });
    agree(&kernel, 5000);
}

#[test]
fn divisions_of_32_bits_are_exact() {
    let edges =
        [0, 1, 2, 3, 7, 10, 46_341, 65_535, 65_536, 0x7fff_fffe, 0x7fff_ffff, 0x8000_0000, 0x8000_0001, !0 - 1, !0];
    let pairs: Vec<[u32; 2]> = edges.iter().flat_map(|&a| edges.map(|b| [a, b])).collect();
    let sides = [0, 1].map(|i| pairs.iter().flat_map(|pair| pair[i].to_le_bytes()).collect::<Vec<u8>>());
    for elem in [Elem::I32, Elem::U32] {
        let kernel = map([elem; 2], &[elem; 2], |_, [a, b]| match elem {
            Elem::I32 => vec![a / b, a % b],
            _ => vec![a.div_u(b), a.rem_u(b)],
        });
        super::agree_on(&kernel, pairs.len(), &sides);
    }
}

/// Every single operation on bytes, as a map of two of them.
fn byte_maps(elem: Elem) -> Vec<Kernel> {
    type Function = for<'k> fn(Val<'k>, Val<'k>) -> Val<'k>;
    let same: &[Function] = match elem {
        Elem::Bool => &[|a, b| a & b, |a, b| a | b, |a, b| a ^ b],
        Elem::I8 => &[
            |a, b| a + b,
            |a, b| b - a,
            |a, b| a * b,
            |a, b| a & b,
            |a, b| a | b,
            |a, b| a ^ b,
            |a, b| a.min(b),
            |a, b| a.max(b),
        ],
        _ => &[|a, b| a + b, |a, b| b - a, |a, b| a * b, |a, b| a.min_u(b), |a, b| a.max_u(b)],
    };
    let truths: &[Function] = match elem {
        Elem::Bool => &[|a, b| a.eq(b), |a, b| a.ne(b)],
        Elem::I8 => &[|a, b| a.eq(b), |a, b| a.ne(b), |a, b| a.lt(b), |a, b| b.le(a)],
        _ => &[|a, b| a.lt_u(b), |a, b| b.le_u(a)],
    };
    let narrowed = |f: &Function| map([elem; 2], &[elem], |_, [a, b]| vec![rounded(f(a, b), elem)]);
    let compared = |f: &Function| map([elem; 2], &[Elem::Bool], |_, [a, b]| vec![f(a, b)]);
    same.iter().map(narrowed).chain(truths.iter().map(compared)).collect()
}

fn rounded(value: Val<'_>, elem: Elem) -> Val<'_> {
    if elem == Elem::Bool { value } else { value.narrow(elem) }
}

#[test]
fn single_operations_on_bytes_have_the_interpreters_bits() {
    let all: Vec<u8> = (0..=255u8).collect();
    let sides = [all.repeat(256), all.iter().flat_map(|&byte| [byte; 256]).collect()];
    for elem in [Elem::I8, Elem::U8, Elem::Bool] {
        for kernel in byte_maps(elem) {
            assert!(ByteMap::of(&lower::tidied(&kernel)).is_some(), "{kernel}");
            super::agree_on(&kernel, 1 << 16, &sides);
        }
        let negated = map([elem], &[elem], |_, [a]| vec![rounded(if elem == Elem::Bool { !a } else { -a }, elem)]);
        super::agree_on(&negated, 1 << 16, &sides[..1]);
    }
}

#[test]
fn many_bytes_meet_one_byte() {
    let kernel = map([Elem::U8; 2], &[Elem::U8], |_, [a, b]| vec![(a - b).narrow(Elem::U8)]);
    let program = BlockProgram::new(&kernel).expect("it is a map");
    let bytes: Vec<u8> = (0..700_001).map(|i| (i % 251) as u8).collect();
    let mut found = vec![0; bytes.len()];
    let inputs = [Input::Contiguous(&bytes), Input::Scalar(&[7])];
    program.run(bytes.len(), &inputs, &mut [Output::Contiguous(&mut found)]).expect("operands fit");
    assert!(found.iter().zip(&bytes).all(|(found, byte)| *found == byte.wrapping_sub(7)));
}

#[test]
fn floats_become_integers_by_their_bounds() {
    let numbers = [
        0.0,
        -0.0,
        0.5,
        -0.5,
        0.999_999_94,
        1.5,
        -1.5,
        2_147_483_520.0,
        2_147_483_648.0,
        -2_147_483_648.0,
        -2_147_483_904.0,
    ];
    let more =
        [4_294_967_040.0, 4_294_967_296.0, 1e30, -1e30, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, -f32::NAN, 1e-40];
    let all: Vec<u8> = numbers.iter().chain(&more).flat_map(|x: &f32| x.to_le_bytes()).collect();
    let kernel = map([Elem::F32], &[Elem::I32; 2], |_, [a]| vec![a.to(Scalar::I32), a.to_u(Scalar::I32)]);
    super::agree_on(&kernel, numbers.len() + more.len(), &[all]);
}
