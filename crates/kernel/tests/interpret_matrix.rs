//! Cooperative matrices of the interpreter: products, layouts, packing, tiles, and what goes wrong.

use half::{bf16, f16};
use pumice_kernel::interpret::{Launch, Memory, Report, run};
use pumice_kernel::{
    Access, Builder, Elem, Error, Kernel, Matrix, MatrixLayout, MatrixRole, MatrixScope, Result, Scalar, TileRef,
};

const ROWS: MatrixLayout = MatrixLayout::RowMajor;
const COLUMNS: MatrixLayout = MatrixLayout::ColumnMajor;

fn matrix(elem: Elem, rows: u32, cols: u32, role: MatrixRole) -> Matrix {
    Matrix { scope: MatrixScope::Subgroup, elem, rows, cols, role }
}

fn build(write: impl FnOnce(&Builder)) -> Kernel {
    Kernel::build("kernel", [8, 1, 1], write).expect("the kernel is well formed")
}

fn run_one(kernel: &Kernel, memories: &mut [Memory<'_>]) -> Result<Report> {
    run(kernel, &Launch { subgroup_size: 8, check_races: true, ..Launch::default() }, memories)
}

/// `a (4 x 8) * b (8 x 4) + c` by definition.
fn product(a: &[f64], b: &[f64], c: f64) -> Vec<f64> {
    let one = |i: usize| (0..8).map(|k| a[i / 4 * 8 + k] * b[k * 4 + i % 4]).sum::<f64>() + c;
    (0..16).map(one).collect()
}

fn factors() -> (Vec<f64>, Vec<f64>) {
    let a = (0..32).map(|i| (i * 5 % 17) as f64 - 8.0).collect();
    let b = (0..32).map(|i| (i * 7 % 13) as f64 / 4.0 - 1.0).collect();
    (a, b)
}

#[test]
fn a_product_of_halves_is_summed_and_rounded_once() {
    let kernel = build(|k| {
        let (a, b) = (k.input("a", Elem::F16), k.input("b", Elem::F16));
        let c = k.output("c", Elem::F32);
        let left = a.load_matrix(matrix(Elem::F16, 4, 8, MatrixRole::A), 0, 8, ROWS, 16);
        let right = b.load_matrix(matrix(Elem::F16, 8, 4, MatrixRole::B), 0, 8, COLUMNS, 16);
        let sum = k.matrix_fill(matrix(Elem::F32, 4, 4, MatrixRole::Accumulator), 0.5f32);
        c.store_matrix(left.matrix_mul_add(right, sum), 0, 4, ROWS, 16);
    });
    let (a, b) = factors();
    let halves = |values: &[f64]| values.iter().map(|v| f16::from_f64(*v)).collect::<Vec<_>>();
    // The right factor lies column by column.
    let turned: Vec<f64> = (0..32).map(|i| b[i % 8 * 4 + i / 8]).collect();
    let mut memories = [Memory::of(&halves(&a)), Memory::of(&halves(&turned)), Memory::zeros(64)];
    run_one(&kernel, &mut memories).expect("nothing is wrong");
    let expected: Vec<f32> = product(&a, &b, 0.5).iter().map(|v| *v as f32).collect();
    assert_eq!(memories[2].to_vec::<f32>(), expected);
}

#[test]
fn a_product_of_bytes_has_the_sign_of_its_type_and_wraps() {
    for (elem, byte) in [(Elem::I8, -1i32), (Elem::U8, 255)] {
        let kernel = build(|k| {
            let (a, c) = (k.input("a", elem), k.output("c", Elem::I32));
            let left = a.load_matrix(matrix(elem, 2, 4, MatrixRole::A), 0, 4, ROWS, 4);
            let right = a.load_matrix(matrix(elem, 4, 2, MatrixRole::B), 0, 2, ROWS, 2);
            let sum = k.matrix_fill(matrix(Elem::I32, 2, 2, MatrixRole::Accumulator), i32::MAX);
            c.store_matrix(left.matrix_mul_add(right, sum), 0, 2, ROWS, 8);
        });
        let mut memories = [Memory::of(&[255u8; 8]), Memory::zeros(16)];
        run_one(&kernel, &mut memories).expect("nothing is wrong");
        assert_eq!(memories[1].to_vec::<i32>(), [i32::MAX.wrapping_add(4 * byte * byte); 4]);
    }
}

#[test]
fn a_shared_array_of_words_holds_packed_halves() {
    let kernel = build(|k| {
        let (x, out) = (k.buffer("x", Elem::U32, Access::Read, 16), k.output("out", Elem::BF16));
        let tile = k.shared_vectors("tile", Elem::U32, 4, 8);
        let i = k.local_index();
        // Rows of eight 16-bit components, one element each, every second element left out.
        k.when(i.lt(4), || tile.store(i * 2, k.vector(&x.load_wide(i * 4, 4))));
        k.barrier();
        let m = tile.load_matrix(matrix(Elem::BF16, 4, 8, MatrixRole::A), 0, 2, ROWS, 16);
        out.store_matrix(m, 0, 4, COLUMNS, 8);
    });
    let values: Vec<bf16> = (0..32).map(|i| bf16::from_f32(i as f32)).collect();
    let mut memories = [Memory::of(&values), Memory::zeros(64)];
    run_one(&kernel, &mut memories).expect("nothing is wrong");
    let turned: Vec<bf16> = (0..32).map(|i| values[i % 4 * 8 + i / 4]).collect();
    assert_eq!(memories[1].to_vec::<bf16>(), turned);
}

/// Loads a tile of a 5 x 6 array and stores it to a 5 x 6 array at the same place.
fn moved(row: i32, col: i32, transpose: bool) -> (Vec<f32>, Vec<f32>) {
    let kernel = build(|k| {
        let (x, out) = (k.input("x", Elem::F32), k.output("out", Elem::F32));
        let plain = k.output("plain", Elem::F32);
        let ty = matrix(Elem::F32, 4, 4, MatrixRole::Accumulator);
        let tile =
            TileRef { rows: k.i32(5), cols: k.i32(6), stride: k.i32(6), row: k.i32(row), col: k.i32(col), align: 8 };
        let m = x.load_tile(ty, tile, transpose);
        plain.store_matrix(m, 0, 4, ROWS, 16);
        out.store_tile(m, tile);
    });
    let x: Vec<f32> = (1..=30).map(|i| i as f32).collect();
    let mut memories = [Memory::of(&x), Memory::of(&[-1f32; 30]), Memory::zeros(64)];
    run_one(&kernel, &mut memories).expect("nothing is wrong");
    (memories[1].to_vec(), memories[2].to_vec())
}

#[test]
fn a_tile_is_zero_outside_its_array_and_not_written_there() {
    for (row, col) in [(0, 0), (3, 4), (-2, -1), (9, 0)] {
        let (out, plain) = moved(row, col, false);
        let inside = |r: i32, c: i32| (0..5).contains(&r) && (0..6).contains(&c);
        for (i, found) in plain.iter().enumerate() {
            let (r, c) = (row + i as i32 / 4, col + i as i32 % 4);
            let expected = if inside(r, c) { (r * 6 + c + 1) as f32 } else { 0.0 };
            assert_eq!(*found, expected, "{row} {col}: {i}");
        }
        for (i, found) in out.iter().enumerate() {
            let (r, c) = (i as i32 / 6, i as i32 % 6);
            let written = (row..row + 4).contains(&r) && (col..col + 4).contains(&c);
            assert_eq!(*found, if written { i as f32 + 1.0 } else { -1.0 }, "{row} {col}: {i}");
        }
    }
}

#[test]
fn a_tile_is_transposed_on_the_way() {
    let (_, plain) = moved(0, 2, false);
    let (_, turned) = moved(0, 2, true);
    let expected: Vec<f32> = (0..16).map(|i| plain[i % 4 * 4 + i / 4]).collect();
    assert_eq!(turned, expected);
}

#[test]
fn matrices_are_scaled_added_and_converted_by_components() {
    let kernel = build(|k| {
        let (x, out) = (k.input("x", Elem::F32), k.output("out", Elem::F16));
        let ty = matrix(Elem::F32, 2, 2, MatrixRole::Accumulator);
        let m = x.load_matrix(ty, 0, 2, ROWS, 8);
        let sum = m.matrix_scale(k.f32(3.0)).matrix_add(m);
        let half = sum.matrix_convert(matrix(Elem::F16, 2, 2, MatrixRole::A));
        out.store_matrix(half, 0, 2, ROWS, 4);
    });
    let x = [0.1f32, 1000.0, 1e6, -3e-8];
    let mut memories = [Memory::of(&x), Memory::zeros(8)];
    run_one(&kernel, &mut memories).expect("nothing is wrong");
    assert_eq!(memories[1].to_vec::<f16>(), x.map(|v| f16::from_f32(v * 3.0 + v)));
}

#[test]
fn a_matrix_is_carried_by_a_loop() {
    let kernel = build(|k| {
        let out = k.output("out", Elem::F32);
        let ty = matrix(Elem::F32, 2, 2, MatrixRole::Accumulator);
        let last = k.for_(0, k.i32(5), 1, k.matrix_fill(ty, 1.0f32), |_, m| m.matrix_add(m));
        let chosen = k.if_(k.group_id(0).eq(0), || last.matrix_scale(k.f32(2.0)), || last);
        out.store_matrix(chosen, 0, 2, ROWS, 8);
    });
    let mut memories = [Memory::zeros(16)];
    run_one(&kernel, &mut memories).expect("nothing is wrong");
    assert_eq!(memories[0].to_vec::<f32>(), [64f32; 4]);
}

#[test]
fn each_subgroup_or_the_workgroup_holds_its_own() {
    for (scope, expected) in [(MatrixScope::Subgroup, [0f32, 1., 2., 3.]), (MatrixScope::Workgroup, [0f32; 4])] {
        let kernel = Kernel::build("kernel", [8, 1, 1], |k| {
            let out = k.output("out", Elem::F32);
            let ty = Matrix { scope, ..matrix(Elem::F32, 1, 1, MatrixRole::Accumulator) };
            let id = if scope == MatrixScope::Subgroup { k.subgroup_id() } else { k.group_id(0) };
            out.store_matrix(k.matrix_fill(ty, id.to(Scalar::F32)), id, 1, ROWS, 4);
        })
        .expect("the kernel is well formed");
        let mut memories = [Memory::zeros(16)];
        let launch = Launch { subgroup_size: 2, ..Launch::default() };
        run(&kernel, &launch, &mut memories).expect("nothing is wrong");
        assert_eq!(memories[0].to_vec::<f32>(), expected);
    }
}

#[test]
fn a_matrix_outside_its_buffer_names_the_first_element_outside() {
    let kernel = build(|k| {
        let x = k.input("x", Elem::F32);
        x.load_matrix(matrix(Elem::F32, 4, 4, MatrixRole::Accumulator), 2, 8, ROWS, 8);
    });
    let Err(Error::OutOfBounds { place, index, bound, .. }) = run_one(&kernel, &mut [Memory::zeros(80)]) else {
        panic!("the third row ends outside");
    };
    assert_eq!((place.as_str(), index, bound), ("x", 20, 20));
}

fn message(result: Result<Report>) -> String {
    match result.expect_err("something is wrong") {
        Error::Execution { message, .. } => message,
        other => panic!("{other} should be an error of execution"),
    }
}

#[test]
fn rows_that_are_not_aligned_as_promised_are_an_error() {
    let kernel = build(|k| {
        let x = k.input("x", Elem::F32);
        x.load_matrix(matrix(Elem::F32, 2, 2, MatrixRole::Accumulator), 1, 4, ROWS, 16);
    });
    let expected = "rows of a matrix in x must be aligned to 16 bytes but lie at 4.";
    assert_eq!(message(run_one(&kernel, &mut [Memory::zeros(80)])), expected);
}

#[test]
fn operands_of_a_matrix_must_agree_among_its_invocations() {
    let kernel = build(|k| {
        k.matrix_fill(matrix(Elem::F32, 2, 2, MatrixRole::Accumulator), k.local_index().to(Scalar::F32));
    });
    let expected = "a matrix operand must be the same in all its invocations but is 0x0 and 0x3f800000.";
    assert_eq!(message(run_one(&kernel, &mut [])), expected);
}

#[test]
fn a_matrix_read_before_the_barrier_is_a_race() {
    let kernel = build(|k| {
        let tile = k.shared("tile", Elem::F32, 8);
        tile.store(k.local_index(), 1.0f32);
        tile.load_matrix(matrix(Elem::F32, 2, 4, MatrixRole::Accumulator), 0, 4, ROWS, 16);
    });
    let expected = "element 0 of tile must be left to one invocation until a barrier but is touched by \
                    matrix holder 0 after invocation 0.";
    assert_eq!(message(run_one(&kernel, &mut [])), expected);
}
