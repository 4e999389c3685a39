//! Operands: contiguous, scalar, strided, in place, unaligned; all counts.

use pumice_kernel::{Elem, Kernel};

use super::super::{BlockProgram, Input, Output};
use super::{agree, data, elems, inputs_for, interpreted, map, outputs_for, same};

fn subtract(elem: Elem) -> Kernel {
    map([elem, elem], &[elem], |_, [a, b]| vec![a - b])
}

const ELEMS: [Elem; 6] = [Elem::F32, Elem::I64, Elem::BF16, Elem::U8, Elem::F16, Elem::C64];

/// Elements picked by strides.
fn picked(elem: Elem, bytes: &[u8], start: i64, shape: &[usize], strides: &[i64]) -> Vec<u8> {
    addresses(start, shape, strides).flat_map(|at| bytes[at * elem.bytes()..(at + 1) * elem.bytes()].to_vec()).collect()
}

fn addresses(start: i64, shape: &[usize], strides: &[i64]) -> impl Iterator<Item = usize> {
    let (shape, strides) = (shape.to_vec(), strides.to_vec());
    (0..shape.iter().product::<usize>()).map(move |i| {
        let mut rest = i;
        let mut at = start;
        for (size, stride) in shape.iter().zip(&strides).rev() {
            at += (rest % size) as i64 * stride;
            rest /= size;
        }
        at as usize
    })
}

#[test]
fn any_number_of_elements_is_computed() {
    for count in [0, 1, 7, 31, 32, 33, 511, 512, 513, 1023, 1024, 1025, 3000, 300_000] {
        agree(&subtract(Elem::F32), count);
        agree(&subtract(Elem::BF16), count);
        agree(&subtract(Elem::F64), count);
    }
}

#[test]
fn an_element_knows_its_number() {
    for scalar in [pumice_kernel::Scalar::I32, pumice_kernel::Scalar::I64] {
        let kernel = Kernel::build("number", [1, 1, 1], |k| {
            let index = k.arg("index", scalar);
            let out = k.output("out", Elem::I64);
            out.store(0, index.to(pumice_kernel::Scalar::I64) * 3);
        });
        let kernel = kernel.expect("it is well formed");
        [1, 1025, 300_001].into_iter().for_each(|count| agree(&kernel, count));
    }
}

#[test]
fn one_element_may_serve_all() {
    for elem in ELEMS {
        let kernel = subtract(elem);
        let program = BlockProgram::new(&kernel).expect("it is a map");
        let count = 1500;
        let (a, b) = (data(elem, count, 1), data(elem, 1, 5));
        let expected = interpreted(&kernel, count, &[a.clone(), b.repeat(count)], &outputs_for(&kernel, count));
        let mut out = vec![0; count * elem.bytes()];
        let inputs = [Input::Contiguous(&a), Input::Scalar(&b)];
        program.run(count, &inputs, &mut [Output::Contiguous(&mut out)]).expect("they fit");
        same(&kernel, &[out], &expected);
        let expected = interpreted(&kernel, count, &[b.repeat(count), b.repeat(count)], &outputs_for(&kernel, count));
        let mut out = vec![0; count * elem.bytes()];
        let inputs = [Input::Scalar(&b), Input::Scalar(&b)];
        program.run(count, &inputs, &mut [Output::Contiguous(&mut out)]).expect("they fit");
        same(&kernel, &[out], &expected);
    }
}

#[test]
fn a_constant_fills_the_output() {
    let kernel = map([], &[Elem::F32, Elem::BF16, Elem::Bool], |k, []| vec![k.f32(1.5), k.f32(2.5), k.bool(true)]);
    [1, 100, 1024, 5000].into_iter().for_each(|count| agree(&kernel, count));
}

/// Shapes and strides with the number of elements they reach over.
const STRIDED: [(&[usize], i64, &[i64], usize); 12] = [
    (&[1100], 0, &[1], 1100),
    (&[1100], 5, &[3], 3400),
    (&[1100], 1099, &[-1], 1100),
    (&[1100], 7, &[0], 8),
    (&[40, 50], 0, &[50, 1], 2000),
    (&[40, 50], 0, &[1, 40], 2000),
    (&[40, 50], 1999, &[-1, -40], 2000),
    (&[40, 50], 3, &[0, 1], 60),
    (&[40, 50], 0, &[1, 0], 40),
    (&[5, 33, 37], 0, &[1221, 1, 33], 6105),
    (&[33, 5, 37], 0, &[1, 1221, 33], 6105),
    (&[2, 3, 4, 5, 6], 719, &[-360, 120, -30, 6, -1], 1300),
];

#[test]
fn strided_inputs_are_read_where_they_lie() {
    for elem in ELEMS {
        let kernel = subtract(elem);
        let program = BlockProgram::new(&kernel).expect("it is a map");
        for (shape, start, strides, reach) in STRIDED {
            let count = shape.iter().product();
            let (a, b) = (data(elem, reach, 3), data(elem, count, 4));
            let dense = picked(elem, &a, start, shape, strides);
            let expected = interpreted(&kernel, count, &[dense, b.clone()], &outputs_for(&kernel, count));
            let mut out = vec![0; count * elem.bytes()];
            let inputs = [Input::Strided { bytes: &a, start, shape, strides }, Input::Contiguous(&b)];
            program.run(count, &inputs, &mut [Output::Contiguous(&mut out)]).expect("they fit");
            same(&kernel, &[out], &expected);
        }
    }
}

#[test]
fn strided_outputs_are_written_where_they_lie_and_nowhere_else() {
    for elem in ELEMS {
        let kernel = subtract(elem);
        let program = BlockProgram::new(&kernel).expect("it is a map");
        for (shape, start, strides, reach) in STRIDED.into_iter().filter(|(_, _, strides, _)| !strides.contains(&0)) {
            let count = shape.iter().product();
            let inputs = inputs_for(&kernel, count);
            let dense = interpreted(&kernel, count, &inputs, &outputs_for(&kernel, count)).remove(0);
            let mut out = data(elem, reach, 9);
            let mut expected = out.clone();
            for (i, at) in addresses(start, shape, strides).enumerate() {
                let size = elem.bytes();
                expected[at * size..(at + 1) * size].copy_from_slice(&dense[i * size..(i + 1) * size]);
            }
            let operands: Vec<_> = inputs.iter().map(|bytes| Input::Contiguous(bytes)).collect();
            let output = Output::Strided { bytes: &mut out, start, shape, strides };
            program.run(count, &operands, &mut [output]).expect("they fit");
            same(&kernel, &[out], &[expected]);
        }
    }
}

#[test]
fn large_runs_are_split_among_threads() {
    let shape = [600usize, 700];
    let count = 600 * 700;
    let layouts: [(i64, [i64; 2], usize); 5] = [
        (0, [700, 1], count),
        (3, [1000, 1], 600_100),
        (0, [1, 600], count),
        (599 * 700, [-700, 1], count),
        (1399, [1400, -2], 600 * 1400),
    ];
    for (elem, (start, strides, reach)) in [Elem::F32, Elem::BF16].iter().flat_map(|e| layouts.map(|l| (*e, l))) {
        let kernel = subtract(elem);
        let program = BlockProgram::new(&kernel).expect("it is a map");
        let (a, b) = (data(elem, reach, 3), data(elem, count, 4));
        let dense = picked(elem, &a, start, &shape, &strides);
        let expected = interpreted(&kernel, count, &[dense, b.clone()], &outputs_for(&kernel, count)).remove(0);
        let mut out = data(elem, reach, 8);
        let inputs = [Input::Strided { bytes: &a, start, shape: &shape, strides: &strides }, Input::Contiguous(&b)];
        let output = Output::Strided { bytes: &mut out, start, shape: &shape, strides: &strides };
        program.run(count, &inputs, &mut [output]).expect("they fit");
        same(&kernel, &[picked(elem, &out, start, &shape, &strides)], &[expected]);
    }
}

#[test]
fn an_input_may_give_its_memory_to_the_output() {
    for elem in ELEMS {
        let kernel = subtract(elem);
        let program = BlockProgram::new(&kernel).expect("it is a map");
        for count in [1, 1024, 1030, 200_000] {
            let inputs = inputs_for(&kernel, count);
            let expected = interpreted(&kernel, count, &inputs, &outputs_for(&kernel, count));
            let mut out = inputs[1].clone();
            let operands = [Input::Contiguous(&inputs[0]), Input::InPlace(0)];
            program.run(count, &operands, &mut [Output::Contiguous(&mut out)]).expect("they fit");
            same(&kernel, &[out], &expected);
        }
    }
}

#[test]
fn several_outputs_may_take_several_inputs_memory_crosswise() {
    let kernel = map([Elem::F32, Elem::I32], &[Elem::I32, Elem::F32], |_, [a, b]| {
        vec![b + a.to(pumice_kernel::Scalar::I32), a * 2.0]
    });
    let program = BlockProgram::new(&kernel).expect("it is a map");
    let count = 3000;
    let inputs = inputs_for(&kernel, count);
    let expected = interpreted(&kernel, count, &inputs, &outputs_for(&kernel, count));
    let (mut first, mut second) = (inputs[0].clone(), inputs[1].clone());
    let operands = [Input::InPlace(0), Input::InPlace(1)];
    let mut outputs = [Output::Contiguous(&mut first), Output::Contiguous(&mut second)];
    program.run(count, &operands, &mut outputs).expect("they fit");
    same(&kernel, &[first, second], &expected);
}

#[test]
fn a_strided_slice_is_updated_in_place() {
    let kernel = subtract(Elem::F32);
    let program = BlockProgram::new(&kernel).expect("it is a map");
    let (shape, strides, start) = ([30usize, 40], [100i64, 2], 7);
    let mut memory = data(Elem::F32, 3100, 2);
    let (a, b) = (picked(Elem::F32, &memory, start, &shape, &strides), data(Elem::F32, 1200, 3));
    let expected = interpreted(&kernel, 1200, &[a, b.clone()], &outputs_for(&kernel, 1200));
    let output = Output::Strided { bytes: &mut memory, start, shape: &shape, strides: &strides };
    program.run(1200, &[Input::InPlace(0), Input::Contiguous(&b)], &mut [output]).expect("they fit");
    same(&kernel, &[picked(Elem::F32, &memory, start, &shape, &strides)], &expected);
}

#[test]
fn bytes_need_not_be_aligned() {
    for elem in ELEMS {
        let kernel = subtract(elem);
        let program = BlockProgram::new(&kernel).expect("it is a map");
        let count = 2050;
        let inputs = inputs_for(&kernel, count);
        let expected = interpreted(&kernel, count, &inputs, &outputs_for(&kernel, count));
        let shifted: Vec<Vec<u8>> = inputs.iter().map(|bytes| [&[0][..], bytes].concat()).collect();
        let operands: Vec<_> = shifted.iter().map(|bytes| Input::Contiguous(&bytes[1..])).collect();
        let mut out = vec![0; count * elem.bytes() + 1];
        program.run(count, &operands, &mut [Output::Contiguous(&mut out[1..])]).expect("they fit");
        same(&kernel, &[out[1..].to_vec()], &expected);
    }
}

#[test]
fn an_element_knows_its_number_in_a_tile() {
    let kernel = Kernel::build("number", [1, 1, 1], |k| {
        let (index, a) = (k.arg_i32("index"), k.input("a", Elem::I32));
        k.output("out", Elem::I32).store(0, index + a.load(0));
    });
    let kernel = kernel.expect("it is well formed");
    assert_eq!(elems(&kernel, pumice_kernel::Access::Read), [Elem::I32]);
    let program = BlockProgram::new(&kernel).expect("it is a map");
    let (shape, strides) = ([70usize, 90], [1i64, 70]);
    let a: Vec<u8> = (0..6300i32).flat_map(i32::to_le_bytes).collect();
    let mut out = vec![0; 6300 * 4];
    let input = Input::Strided { bytes: &a, start: 0, shape: &shape, strides: &strides };
    program.run(6300, &[input], &mut [Output::Contiguous(&mut out)]).expect("they fit");
    let expected: Vec<u8> =
        addresses(0, &shape, &strides).enumerate().flat_map(|(i, at)| ((i + at) as i32).to_le_bytes()).collect();
    assert_eq!(out, expected);
}
