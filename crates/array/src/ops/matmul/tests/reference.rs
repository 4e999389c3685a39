//! Every kernel against sums in double precision, with the error that sums in single precision may have.

use super::super::addmm::{AddMm, addmm_by};
use super::super::gpu::Way;
use super::super::{addmm, matmul, product_by};
use super::{array, complex, lying, on_each_device, values};
use crate::array::Array;
use crate::dtype::Dtype;
use crate::kernels::matmul::tiled::CUTS;

/// Numbers between -1 and 1 that the type has.
fn random(count: usize, seed: u64, dtype: Dtype) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let numbers = (0..count).map(|_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f64 / (1u64 << 23) as f64 - 1.0
    });
    match dtype {
        Dtype::F16 => numbers.map(|x| half::f16::from_f64(x).to_f64()).collect(),
        Dtype::BF16 => numbers.map(|x| half::bf16::from_f64(x).to_f64()).collect(),
        Dtype::F64 => numbers.collect(),
        _ => numbers.map(|x| x as f32 as f64).collect(),
    }
}

/// Matrices of random numbers: `(count, rows, columns)`.
fn matrices(size: [usize; 3], seed: u64, dtype: Dtype) -> (Vec<f64>, Array) {
    let parts = if dtype == Dtype::C64 { 2 } else { 1 };
    let numbers = random(size.iter().product::<usize>() * parts, seed, dtype);
    let shape = size.map(|n| n as i32);
    let x = if parts == 2 { complex(&numbers, &shape) } else { array(&numbers, &shape, dtype) };
    (numbers, x)
}

/// What the product is, and the sum of its terms' magnitudes.
fn exact(a: &[f64], b: &[f64], [count, m, n, k]: [usize; 4], dtype: Dtype) -> (Vec<f64>, Vec<f64>) {
    let parts = if dtype == Dtype::C64 { 2 } else { 1 };
    let (mut sums, mut sizes) = (vec![0.0; count * m * n * parts], vec![0.0; count * m * n * parts]);
    for at in 0..count * m * n {
        let (batch, i, j) = (at / (m * n), at / n % m, at % n);
        for l in 0..k {
            let (x, y) = ((batch * m + i) * k + l, (batch * k + l) * n + j);
            let pairs: &[(usize, usize, usize, f64)] = match parts {
                1 => &[(0, 0, 0, 1.0)],
                _ => &[(0, 0, 0, 1.0), (1, 1, 0, -1.0), (0, 1, 1, 1.0), (1, 0, 1, 1.0)],
            };
            for &(p, q, to, sign) in pairs {
                let term = a[x * parts + p] * b[y * parts + q];
                sums[at * parts + to] += sign * term;
                sizes[at * parts + to] += term.abs();
            }
        }
    }
    (sums, sizes)
}

/// Each sum of k terms may be off by so many roundings of single precision, and by one of the result's type.
fn check(found: &[f64], (sums, sizes): &(Vec<f64>, Vec<f64>), k: usize, dtype: Dtype, what: &str) {
    let (step, last) = match dtype {
        Dtype::F64 => (f64::EPSILON, f64::EPSILON),
        Dtype::F16 => (f32::EPSILON as f64, 2f64.powi(-11)),
        Dtype::BF16 => (f32::EPSILON as f64, 2f64.powi(-8)),
        _ => (f32::EPSILON as f64, f32::EPSILON as f64),
    };
    assert_eq!(found.len(), sums.len(), "{what}");
    for (i, ((found, sum), size)) in found.iter().zip(sums).zip(sizes).enumerate() {
        let bound = (k as f64 + 2.0) * step * size + last * sum.abs() + 1e-7 * (dtype == Dtype::F16) as u8 as f64;
        assert!((found - sum).abs() <= bound, "{what}: element {i} is {found}, must be {sum} within {bound}");
    }
}

/// One product on both devices, with factors that lie in memory as given: strides of count, row, column.
fn check_lying(size: [usize; 4], dtype: Dtype, lie: impl Fn(usize, usize, usize) -> [i64; 3], way: Way) {
    let [count, m, n, k] = size;
    let (a, left) = matrices([count, m, k], 1, dtype);
    let (b, right) = matrices([count, k, n], 2, dtype);
    let expected = exact(&a, &b, size, dtype);
    on_each_device(dtype, |device| {
        let (left, right) = (lying(&left, &lie(0, m, k)), lying(&right, &lie(1, k, n)));
        let found = values(&product_by(&left, &right, way).expect("they match"));
        check(&found, &expected, k, dtype, &format!("{size:?} {dtype} {way:?} on {device}"));
    });
}

fn in_order(_: usize, rows: usize, columns: usize) -> [i64; 3] {
    [(rows * columns) as i64, columns as i64, 1]
}

fn transposed(_: usize, rows: usize, columns: usize) -> [i64; 3] {
    [(rows * columns) as i64, 1, rows as i64]
}

const FLOATS: [Dtype; 5] = [Dtype::F32, Dtype::F16, Dtype::BF16, Dtype::C64, Dtype::F64];

#[test]
fn products_of_odd_sizes_match_double_precision() {
    for (m, n, k) in [(1, 1, 1), (2, 3, 5), (9, 9, 9), (13, 31, 7), (33, 17, 70), (65, 70, 67), (40, 36, 24)] {
        check_lying([1, m, n, k], Dtype::F32, in_order, Way::Best);
    }
    for dtype in FLOATS {
        check_lying([1, 19, 35, 53], dtype, in_order, Way::Best);
        check_lying([1, 36, 44, 68], dtype, in_order, Way::Best);
    }
}

#[test]
fn factors_are_read_where_they_lie() {
    for (dtype, sizes) in [
        (Dtype::F32, &[[1, 20, 28, 36], [2, 13, 11, 10]][..]),
        (Dtype::BF16, &[[1, 20, 28, 36]]),
        (Dtype::C64, &[[2, 13, 11, 10]]),
    ] {
        for &size in sizes {
            check_lying(size, dtype, transposed, Way::Best);
            let left = |which, r, c| if which == 0 { transposed(0, r, c) } else { in_order(1, r, c) };
            let right = |which, r, c| if which == 1 { transposed(1, r, c) } else { in_order(0, r, c) };
            check_lying(size, dtype, left, Way::Best);
            check_lying(size, dtype, right, Way::Best);
        }
    }
    let backwards = |_, rows: usize, columns: usize| [-((rows * columns) as i64), -(columns as i64), 1];
    let mirrored = |_, rows: usize, columns: usize| [(rows * columns) as i64, columns as i64, -1];
    let gaps = |_, rows: usize, columns: usize| [(2 * rows * columns + 5) as i64, 2 * columns as i64, 2];
    for size in [[2, 12, 16, 20], [1, 3, 50, 41], [1, 50, 3, 41]] {
        for lie in [backwards as fn(usize, usize, usize) -> [i64; 3], mirrored, gaps] {
            check_lying(size, Dtype::F32, lie, Way::Best);
        }
    }
}

#[test]
fn stacks_match_double_precision() {
    check_lying([5, 17, 9, 12], Dtype::F32, in_order, Way::Best);
    check_lying([3, 1, 9, 12], Dtype::F16, in_order, Way::Best);
    check_lying([70, 2, 2, 3], Dtype::C64, in_order, Way::Best);
}

#[test]
fn whole_tiles_match_double_precision() {
    // Where a device multiplies 16-bit matrices, these are tiles of every size that it is given.
    let right = |which, r, c| if which == 1 { transposed(1, r, c) } else { in_order(0, r, c) };
    for dtype in [Dtype::F16, Dtype::BF16] {
        for size in [[1, 64, 192, 96], [2, 128, 64, 64], [25, 128, 256, 64], [25, 256, 192, 64]] {
            check_lying(size, dtype, in_order, Way::Best);
            check_lying(size, dtype, right, Way::Best);
        }
    }
    check_lying([17, 256, 512, 32], Dtype::BF16, in_order, Way::Best);
    check_lying([17, 256, 512, 32], Dtype::F16, right, Way::Best);
}

#[test]
fn few_rows_and_few_columns_match_double_precision() {
    for dtype in [Dtype::F32, Dtype::BF16, Dtype::F16] {
        for few in if dtype == Dtype::F32 { [1, 3, 8] } else { [1, 1, 2] } {
            for lie in [in_order as fn(usize, usize, usize) -> [i64; 3], transposed] {
                check_lying([1, few, 48, 64], dtype, lie, Way::Best);
                check_lying([1, 41, few, 37], dtype, lie, Way::Best);
            }
        }
    }
    // Enough columns for a subgroup each.
    check_lying([1, 1, 600, 24], Dtype::F32, transposed, Way::Best);
    check_lying([2, 2, 601, 9], Dtype::F16, transposed, Way::Best);
}

#[test]
fn long_sums_are_cut_into_parts() {
    for dtype in [Dtype::F32, Dtype::BF16, Dtype::C64] {
        check_lying([1, 1, 1, 5000], dtype, in_order, Way::Best);
        check_lying([1, 12, 9, 1500], dtype, in_order, Way::Best);
    }
    check_lying([2, 3, 40, 1027], Dtype::F32, in_order, Way::Best);
    check_lying([1, 3, 40, 1024], Dtype::F16, transposed, Way::Best);
}

#[test]
fn every_cut_of_the_tiled_kernel_matches_double_precision() {
    for (i, cut) in CUTS.iter().enumerate() {
        let (tile, step) = (cut.tile as usize, cut.step as usize);
        // Whole tiles, whole quads, anything; then fewer rows than a quad.
        for (m, n, k) in
            [(tile, 2 * tile, 3 * step), (tile + 4, 8, step + 4), (tile + 1, tile - 3, step + 1), (2, 3, 5)]
        {
            for lie in [in_order as fn(usize, usize, usize) -> [i64; 3], transposed] {
                check_lying([1, m, n, k], Dtype::F32, lie, Way::Tiled(i));
            }
        }
        check_lying([2, tile + 4, 12, step], Dtype::BF16, in_order, Way::Tiled(i));
        if cut.cols == 4 {
            check_lying([1, tile, 33, step + 1], Dtype::C64, in_order, Way::Tiled(i));
        }
    }
}

#[test]
fn a_last_wave_that_is_cut_matches_double_precision() {
    for (i, cut) in CUTS.iter().enumerate() {
        let (tile, step) = (cut.tile as usize, cut.step as usize);
        // A wave of six tiles and one; less than a wave, of whole quads; a stack, anything; a wave of five and four of a stack.
        for (size, places) in [
            ([1, 7 * tile, tile, 6 * step], 6),
            ([1, 2 * tile + 4, tile + 8, 9 * step + 4], 7),
            ([3, tile + 1, tile - 3, 5 * step + 1], 4),
            ([3, 3 * tile - 2, 20, 7 * step], 5),
        ] {
            for lie in [in_order as fn(usize, usize, usize) -> [i64; 3], transposed] {
                check_lying(size, Dtype::F32, lie, Way::Filled(i, places));
            }
        }
    }
    // More rows of tiles than are walked together, the places of a large device, too few steps to cut.
    check_lying([1, 300, 70, 300], Dtype::F32, in_order, Way::Filled(2, 16));
    check_lying([1, 100, 90, 400], Dtype::F32, in_order, Way::Filled(2, 264));
    check_lying([1, 100, 90, 30], Dtype::F32, in_order, Way::Filled(2, 7));
    let stats = crate::eval::stats();
    let launched = |name: &str| stats.launches.get(name).copied().unwrap_or(0);
    let products = if stats.gpu.is_some() { 8 * CUTS.len() as u64 + 2 } else { 0 };
    assert!(launched("matmul_pieces") >= products && launched("matmul_add_pieces") >= products, "{stats:?}");
}

#[test]
fn addmm_adds_to_pieces_too() {
    let size = [2, 70, 45, 150];
    let [count, m, n, k] = size;
    let (a, left) = matrices([count, m, k], 1, Dtype::F32);
    let (b, right) = matrices([count, k, n], 2, Dtype::F32);
    let (c, row) = matrices([1, 1, n], 3, Dtype::F32);
    let (mut sums, mut sizes) = exact(&a, &b, size, Dtype::F32);
    for (at, (sum, size)) in sums.iter_mut().zip(&mut sizes).enumerate() {
        let term = 0.75 * c[at % n];
        (*sum, *size) = (*sum * 1.5 + term, *size * 1.5 + term.abs());
    }
    on_each_device(Dtype::F32, |device| {
        let op = AddMm { alpha: 1.5, beta: 0.75, way: Way::Filled(2, 7) };
        let found = values(&addmm_by([&row, &left, &right], op).expect("they match"));
        check(&found, &(sums.clone(), sizes.clone()), k + 1, Dtype::F32, &format!("addmm on {device}"));
    });
}

#[test]
fn addmm_rounds_once() {
    for dtype in FLOATS {
        let parts = if dtype == Dtype::C64 { 2 } else { 1 };
        let (a, left) = matrices([1, 14, 21], 1, dtype);
        let (b, right) = matrices([1, 21, 18], 2, dtype);
        let (c, row) = matrices([1, 1, 18], 3, dtype);
        let (mut sums, mut sizes) = exact(&a, &b, [1, 14, 18, 21], dtype);
        for (at, (sum, size)) in sums.iter_mut().zip(&mut sizes).enumerate() {
            let term = 0.75 * c[at % (18 * parts)];
            (*sum, *size) = (*sum * 1.5 + term, *size * 1.5 + term.abs());
        }
        on_each_device(dtype, |device| {
            let found = values(&addmm(&row, &left, &right, 1.5, 0.75).expect("they match"));
            check(&found, &(sums.clone(), sizes.clone()), 22, dtype, &format!("addmm {dtype} on {device}"));
        });
    }
}

#[test]
fn a_number_repeated_is_a_factor_too() {
    on_each_device(Dtype::F32, |device| {
        let ones = crate::ops::full::ones(&[5, 6], Dtype::F32).expect("any shape");
        let found =
            values(&matmul(&ones, &crate::ops::full::full(&[6, 9], 0.5, None).expect("any shape")).expect("ok"));
        assert_eq!(found, [3.0; 45], "{device}");
    });
}
