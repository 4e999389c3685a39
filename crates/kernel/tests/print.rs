//! Printed kernels, word for word.

use pumice_kernel::print::print;
use pumice_kernel::{Access, Elem, Kernel, Matrix, MatrixLayout, MatrixRole, MatrixScope, Scalar};

#[test]
fn a_loop_prints_one_instruction_a_line() {
    let kernel = Kernel::build("sum", [32, 1, 1], |k| {
        let (x, y) = (k.buffer("x", Elem::F16, Access::Read, 16), k.output("y", Elem::F32));
        let n = k.arg_i32("n");
        let strides = k.arg_array("strides", Scalar::I64, 3);
        k.private("kept", Elem::F32, 2);
        let sum = k.for_(0, n, 1, k.f32(-0.5), |i, s| s + x.load(i));
        k.when(sum.gt(1.0), || y.store(strides.at(2), sum));
    })
    .expect("builds");
    let expected = "\
kernel sum [32, 1, 1]
buffer 0 x: f16 read align 16
buffer 1 y: f32 write align 4
scalar 0 n: i32
scalar 1 strides: i64[3]
private 0 kept: f32[2]
{
  %1: f32 = const -0.5
  %2: i32 = const 0
  %3: i32 = const 1
  %9: f32 = const 1.0
  %11: i32 = const 2
  %0: i32 = arg n
  %8: f32 = for %4: i32, %5: f32 in %2..%0 step %3 from %1 {
    %6: f32 = load f16 x[%4]
    %7: f32 = add %5, %6
    yield %7
  }
  %10: bool = lt %9, %8
  if %10 {
    %12: i64 = arg strides[%11]
    store f32 y[%12], %8
  }
}
";
    assert_eq!(print(&kernel), expected);
}

#[test]
fn matrices_and_atomics_print_their_places() {
    let of = |elem, role| Matrix { scope: MatrixScope::Subgroup, elem, rows: 16, cols: 16, role };
    let kernel = Kernel::build("tile", [32, 1, 1], |k| {
        let counts = k.buffer("counts", Elem::U32, Access::ReadWrite, 4);
        let tile = k.shared_vectors("tile", Elem::U32, 4, 64);
        let a = tile.load_matrix(of(Elem::F16, MatrixRole::A), 0, 2, MatrixLayout::RowMajor, 16);
        let b = tile.load_matrix(of(Elem::F16, MatrixRole::B), 32, 2, MatrixLayout::ColumnMajor, 16);
        let zero = k.matrix_fill(of(Elem::F32, MatrixRole::Accumulator), 0.0);
        a.matrix_mul_add(b, zero);
        counts.atomic_compare_exchange(0, 1, 2);
    })
    .expect("builds");
    let text = print(&kernel);
    for line in [
        "shared 0 tile: u32x4[64]",
        "  %2: matrix<f16, 16x16, a, subgroup> = matrix_load tile[%0] stride %1 row_major align 16",
        "= matrix_load tile[%3] stride %1 column_major align 16",
        ": matrix<f32, 16x16, acc, subgroup> = matrix_fill ",
        ": matrix<f32, 16x16, acc, subgroup> = matrix_mul_add %2, %4, %6",
        ": i32 = atomic_compare_exchange u32 counts[",
    ] {
        assert!(text.contains(line), "{line} is missing from\n{text}");
    }
}

#[test]
fn the_same_kernel_prints_the_same() {
    let build = || Kernel::build("again", [8, 1, 1], |k| k.output("y", Elem::I32).store(k.lane(), k.local_index()));
    let [a, b] = [build(), build()].map(|k| print(&k.expect("builds")));
    assert_eq!(a, b);
}

#[test]
fn a_loop_says_whether_it_is_to_be_unrolled() {
    let kernel = Kernel::build("turns", [32, 1, 1], |k| {
        let n = k.arg_i32("n");
        k.for_unrolled(0, n, 1, n, |_, x| x + 1);
        k.for_rolled(0, n, 1, n, |_, x| x + 2);
    })
    .expect("builds");
    let text = print(&kernel);
    assert!(text.contains(" unroll {") && text.contains(" rolled {"), "{text}");
}
