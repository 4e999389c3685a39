//! The built-in kernels against plain definitions, by the interpreter and on the device.

mod rig;

use half::{bf16, f16};
use pumice::kernel::arguments::Argument;
use pumice::kernel::random::first_difference;
use pumice::kernel::{Elem, Kernel, MatrixScope};
use pumice::kernels::matmul::last_wave::{LastWave, Work};
use pumice::kernels::matmul::{cooperative, pieces, tiled, workgroup};
use pumice::kernels::{binary, rows};
use pumice::launch::{Build, fold_groups};
use rig::{Job, Source, floats};

/// What the last buffer holds after a launch, from the interpreter and, where there is one, the device (a checked and a fast
/// build, equal bits).
fn run(kernel: &Kernel, groups: [u32; 3], scalars: &[Argument], buffers: Vec<Vec<u8>>) -> Vec<u8> {
    let elem = kernel.buffers.last().expect("kernels have outputs").elem;
    let job = Job { kernel, groups, scalars, buffers };
    let size = rig::gpu().map_or(32, |gpu| gpu.target().subgroup_size);
    let expected = job.interpreted(size).expect("the interpreter runs it").pop().expect("kernels have outputs");
    if let Some(gpu) = rig::gpu() {
        for build in [Build::Checked, Build::Fast] {
            let found = job.on_device(gpu, build).expect("the launch works").pop().expect("kernels have outputs");
            let differs = first_difference(elem, &expected, &found);
            assert_eq!(differs, None, "{} ({build:?}) must give the interpreter's bits", kernel.name);
        }
    }
    expected
}

/// Values of a storage type, with their bytes; all exactly representable.
fn random(elem: Elem, count: usize, seed: u64) -> (Vec<f32>, Vec<u8>) {
    let mut source = Source(seed);
    let values = (0..count).map(|_| match elem {
        Elem::F16 => f16::from_f32(source.unit()).to_f32(),
        Elem::BF16 => bf16::from_f32(source.unit()).to_f32(),
        Elem::F32 => source.unit(),
        _ => (source.bits() % 100) as f32,
    });
    let values: Vec<f32> = values.collect();
    let bytes = values.iter().flat_map(|&v| encode(elem, v)).collect();
    (values, bytes)
}

fn encode(elem: Elem, v: f32) -> Vec<u8> {
    match elem {
        Elem::F16 => f16::from_f32(v).to_le_bytes().to_vec(),
        Elem::BF16 => bf16::from_f32(v).to_le_bytes().to_vec(),
        Elem::F32 => v.to_le_bytes().to_vec(),
        Elem::F64 => (v as f64).to_le_bytes().to_vec(),
        _ => (v as i64).to_le_bytes()[..elem.bytes()].to_vec(),
    }
}

fn decode(elem: Elem, bytes: &[u8]) -> Vec<f32> {
    let pairs = || bytes.chunks_exact(2).map(|b| u16::from_le_bytes([b[0], b[1]]));
    match elem {
        Elem::F16 => pairs().map(|b| f16::from_bits(b).to_f32()).collect(),
        Elem::BF16 => pairs().map(|b| bf16::from_bits(b).to_f32()).collect(),
        _ => floats(bytes),
    }
}

/// ‖found - expected‖ / ‖expected‖.
fn normalised_error(found: &[f32], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let square = |it: &mut dyn Iterator<Item = f64>| it.map(|x| x * x).sum::<f64>();
    let difference = square(&mut found.iter().zip(expected).map(|(&f, &e)| f as f64 - e));
    (difference / square(&mut expected.iter().copied())).sqrt()
}

#[test]
fn addition_is_exact_for_every_type_and_any_length() {
    for elem in [Elem::U8, Elem::I16, Elem::I32, Elem::I64, Elem::F16, Elem::BF16, Elem::F32] {
        let kernel = binary::binary("add", elem, |a, b| a + b).expect("the kernel is well formed");
        for n in [1, 15, 16, 1000, binary::elements_per_group(elem) as usize + 5] {
            let ((a, a_bytes), (b, b_bytes)) = (random(elem, n, 1), random(elem, n, 2));
            let groups = fold_groups((n as u64).div_ceil(binary::elements_per_group(elem)));
            // A guard behind the output shows writes past the end.
            let mut out = vec![0xa5u8; n * elem.bytes()];
            out.extend([0xa5; 64]);
            let found = run(&kernel, groups, &[Argument::I32(n as i32)], vec![a_bytes, b_bytes, out]);
            let expected: Vec<u8> = a.iter().zip(&b).flat_map(|(a, b)| encode(elem, a + b)).collect();
            assert_eq!(found[..expected.len()], expected, "{elem:?}, {n} elements");
            assert!(found[expected.len()..].iter().all(|&b| b == 0xa5), "{elem:?}, {n} elements: past the end");
        }
    }
}

#[test]
fn row_sums_match_a_sum_in_double_precision() {
    for (elem, rows, cols) in [(Elem::F32, 3, 4096), (Elem::F32, 5, 20), (Elem::F32, 2, 9000), (Elem::BF16, 3, 2048)] {
        let kernel = rows::sum(elem).expect("the kernel is well formed");
        let (x, bytes) = random(elem, rows * cols, 7);
        let scalars = [Argument::I32(rows as i32), Argument::I32(cols as i32)];
        let found = run(&kernel, fold_groups(rows as u64), &scalars, vec![bytes, vec![0; rows * elem.bytes()]]);
        let expected: Vec<f64> = x.chunks(cols).map(|row| row.iter().map(|&v| v as f64).sum()).collect();
        let error = normalised_error(&decode(elem, &found), &expected);
        let bound = if elem == Elem::F32 { 1e-6 } else { 4e-3 };
        assert!(error < bound, "{elem:?} {rows}x{cols}: {error:e}");
    }
}

#[test]
fn row_softmax_matches_the_definition() {
    for (elem, rows, cols) in [(Elem::F32, 3, 4096), (Elem::F32, 4, 1000), (Elem::F16, 3, 2048), (Elem::BF16, 2, 64)] {
        let accesses = (cols * elem.bytes()).div_ceil(16 * rows::WORKGROUP as usize) as u32;
        let kernel = rows::softmax(elem, accesses).expect("the kernel is well formed");
        let (x, bytes) = random(elem, rows * cols, 8);
        let scalars = [Argument::I32(rows as i32), Argument::I32(cols as i32)];
        let size = bytes.len();
        let found = run(&kernel, fold_groups(rows as u64), &scalars, vec![bytes, vec![0; size]]);
        let expected: Vec<f64> = x.chunks(cols).flat_map(softmax).collect();
        let error = normalised_error(&decode(elem, &found), &expected);
        let bound = match elem {
            Elem::F32 => 3e-7,
            Elem::F16 => 5e-4,
            _ => 4e-3,
        };
        assert!(error < bound, "{elem:?} {rows}x{cols}: {error:e}");
    }
}

fn softmax(row: &[f32]) -> Vec<f64> {
    let most = row.iter().fold(f64::NEG_INFINITY, |m, &v| m.max(v as f64));
    let powers: Vec<f64> = row.iter().map(|&v| (v as f64 - most).exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.iter().map(|p| p / sum).collect()
}

/// `a (m × k) · b (k × n)` in double precision.
fn product(a: &[f32], b: &[f32], [m, n, k]: [usize; 3]) -> Vec<f64> {
    let mut c = vec![0.0; m * n];
    for i in 0..m {
        for l in 0..k {
            let left = a[i * k + l] as f64;
            for j in 0..n {
                c[i * n + j] += left * b[l * n + j] as f64;
            }
        }
    }
    c
}

#[test]
fn f32_products_match_double_precision() {
    let sizes = [256, 128, 96];
    let [m, n, k] = sizes.map(|n| n as usize);
    let ((a, a_bytes), (b, b_bytes)) = (random(Elem::F32, m * k, 1), random(Elem::F32, k * n, 2));
    let scalars = tiled::Form::plain_scalars(sizes);
    let fused = rig::gpu().is_none_or(|gpu| gpu.target().fused_fma);
    let mut bits: Option<Vec<u8>> = None;
    for cut in tiled::CUTS {
        let form = tiled::Form { fused, ..tiled::Form::plain(cut) };
        let kernel = tiled::kernel(&form).expect("the kernel is well formed");
        let groups = fold_groups(form.plain_groups(sizes));
        let found = run(&kernel, groups, &scalars, vec![a_bytes.clone(), b_bytes.clone(), vec![0; m * n * 4]]);
        let error = normalised_error(&floats(&found), &product(&a, &b, [m, n, k]));
        assert!(error < 1e-6, "{cut:?}: {error:e}");
        assert!(bits.get_or_insert_with(|| found.clone()) == &found, "{cut:?}: every cut sums in the same order");
    }
}

#[test]
fn f32_products_in_pieces_match_double_precision() {
    let fused = rig::gpu().is_none_or(|gpu| gpu.target().fused_fma);
    // One tile in halves; less than a wave, with a bundle that lacks a tile; that behind a whole wave.
    for (cut, sizes, places, bundle, shares) in [
        (tiled::CUTS[0], [384, 128, 96], 2, 1, 2),
        (tiled::CUTS[1], [320, 64, 96], 9, 2, 3),
        (tiled::CUTS[2], [224, 64, 160], 9, 2, 3),
    ] {
        let [m, n, k] = sizes.map(|n| n as usize);
        let ((a, a_bytes), (b, b_bytes)) = (random(Elem::F32, m * k, 1), random(Elem::F32, k * n, 2));
        let form = tiled::Form { fused, ..tiled::Form::plain(cut) };
        let work = Work { tiles: form.plain_groups(sizes) as i64, steps: k as i64 / cut.step as i64, places };
        let wave = LastWave::cut(work, bundle, shares).expect("there are places for all shares");
        let mut out = vec![0; m * n * 4];
        if wave.before() > 0 {
            let kernel = tiled::kernel(&form).expect("the kernel is well formed");
            let scalars = tiled::Form::plain_scalars(sizes);
            out =
                run(&kernel, fold_groups(wave.before() as u64), &scalars, vec![a_bytes.clone(), b_bytes.clone(), out]);
        }
        let kernel = pieces::kernel(&form).expect("the kernel is well formed");
        let scalars = pieces::plain_scalars(&form, sizes, &wave);
        let room = vec![0; (wave.slots() * cut.tile as i64 * cut.tile as i64 * 4) as usize];
        let sums = run(&kernel, fold_groups(wave.slots() as u64), &scalars, vec![a_bytes, b_bytes, room]);
        let sum = pieces::Sum { tile: cut.tile, wide: true, long: false };
        let kernel = pieces::add(&sum).expect("the kernel is well formed");
        let scalars = pieces::plain_adding_scalars(sizes, &wave);
        let found = run(&kernel, fold_groups(sum.groups(wave.tiles())), &scalars, vec![sums, out]);
        let error = normalised_error(&floats(&found), &product(&a, &b, [m, n, k]));
        assert!(error < 1e-6, "{cut:?} {wave:?}: {error:e}");
    }
}

/// Runs a product by the interpreter, and on the device where it has such matrices; the two round differently inside.
fn check_cooperative(kernel: &Kernel, scope: MatrixScope, elem: Elem, out: Elem, size: [usize; 3], groups: u64) {
    check_product(kernel, scope, elem, out, size, groups, false);
}

fn check_product(
    kernel: &Kernel,
    scope: MatrixScope,
    elem: Elem,
    out: Elem,
    size: [usize; 3],
    groups: u64,
    transposed: bool,
) {
    let [m, n, k] = size;
    let ((a, a_bytes), (mut b, b_bytes)) = (random(elem, m * k, 1), random(elem, k * n, 2));
    if transposed {
        b = (0..k * n).map(|at| b[at % n * k + at / n]).collect();
    }
    let expected = product(&a, &b, size);
    let scalars = size.map(|v| Argument::I32(v as i32));
    let buffers = vec![a_bytes, b_bytes, vec![0; m * n * out.bytes()]];
    let job = Job { kernel, groups: fold_groups(groups), scalars: &scalars, buffers };
    let bound = match out {
        Elem::F32 => 1e-5,
        Elem::F16 => 5e-4,
        _ => 4e-3,
    };
    let interpreted = job.interpreted(32).expect("the interpreter runs it");
    let error = normalised_error(&decode(out, &interpreted[2]), &expected);
    assert!(error < bound, "{} interpreted, {elem:?}: {error:e}", kernel.name);
    let Some(gpu) = rig::gpu() else { return };
    let shapes = &gpu.target().matrices;
    if !shapes.iter().any(|s| s.scope == scope && s.factor == elem && s.accumulator == Elem::F32) {
        eprintln!("{} on {}: no such matrices here", kernel.name, gpu.device().info().name);
        return;
    }
    for build in [Build::Fast, Build::Checked] {
        let found = job.on_device(gpu, build).expect("the launch works");
        let error = normalised_error(&decode(out, &found[2]), &expected);
        assert!(error < bound, "{} {build:?} on the device, {elem:?}: {error:e}", kernel.name);
    }
}

/// Some shapes of the cooperative kernel, or all of the search space.
fn check_shapes(elem: Elem) {
    let best = cooperative::best(32);
    let mut shapes = vec![best, cooperative::Shape { transposed: true, step: 16, ahead: 2, ..best }];
    let smaller = |n: i64| cooperative::for_products([1, n, n, n], 132, 32, n == 512).expect("whole tiles");
    shapes.extend([512, 1024].map(smaller));
    if rig::slow() {
        shapes.extend([false, true].into_iter().flat_map(|transposed| cooperative::candidates(32, transposed)));
    }
    for shape in shapes {
        let kernel = cooperative::matmul(elem, shape).expect("the kernel is well formed");
        let size = [2 * shape.tile_m as usize, shape.tile_n as usize, 3 * shape.depth_unit() as usize];
        check_product(&kernel, MatrixScope::Subgroup, elem, elem, size, 2, shape.transposed);
    }
}

// A test for each type: a driver compiles all shapes of one for minutes.
#[test]
fn cooperative_products_of_f16_match_double_precision() {
    check_shapes(Elem::F16);
}

#[test]
fn cooperative_products_of_bf16_match_double_precision() {
    check_shapes(Elem::BF16);
}

#[test]
fn workgroup_products_match_double_precision_at_any_size() {
    for elem in [Elem::F16, Elem::BF16] {
        for shape in workgroup::candidates().into_iter().take(if rig::slow() { usize::MAX } else { 1 }) {
            let kernel = workgroup::matmul(elem, shape).expect("the kernel is well formed");
            let size = [shape.tile_m as usize + 40, shape.tile_n as usize + 8, 104];
            check_cooperative(&kernel, MatrixScope::Workgroup, elem, Elem::F32, size, 4);
        }
    }
}
