//! Mathematical functions: branches, loops, integers and floats together.

use pumice_kernel::Elem;
use pumice_kernel::math::catalogue::{Form, table};
use pumice_kernel::math::complex::Complex;

use super::{agree, agree_on, map};

fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

#[test]
fn every_function_of_the_catalogue_has_the_interpreters_bits() {
    for function in table() {
        let (mut x, mut y) = function.samples(1 << 21);
        // The ranges are dense: a part of them does.
        let keep = |list: &mut Vec<f32>| {
            let mut i = 0;
            list.retain(|_| {
                i += 1;
                i < 4096 || i % 13 == 0
            });
        };
        keep(&mut x);
        keep(&mut y);
        let kernel = match function.form {
            Form::Unary { build, .. } => map([Elem::F32, Elem::F32], &[Elem::F32], |_, [x, _]| vec![build(x)]),
            Form::Binary { build, .. } => map([Elem::F32, Elem::F32], &[Elem::F32], |_, [x, y]| vec![build(x, y)]),
        };
        agree_on(&kernel, x.len(), &[bytes(&x), bytes(&y)]);
    }
}

#[test]
fn functions_of_moderate_numbers_skip_what_no_lane_needs() {
    let x: Vec<f32> = (0..5000).map(|i| i as f32 * 0.01 - 25.0).collect();
    let kernel = map([Elem::F32], &[Elem::F32, Elem::F32], |_, [x]| {
        let (sin, cos) = x.sin_cos();
        vec![sin, cos]
    });
    agree_on(&kernel, x.len(), &[bytes(&x)]);
}

#[test]
fn complex_functions_have_the_interpreters_bits() {
    let kernel = map([Elem::C64, Elem::C64], &[Elem::C64, Elem::C64, Elem::F32], |_, [a, b]| {
        let (a, b) = (Complex::of(a), Complex::of(b));
        vec![a.pow(b).vector(), a.exp().vector(), a.abs()]
    });
    agree(&kernel, 1024 + 100);
}
