//! Checked builds report what is out of bounds, and change nothing else.

use super::*;
use pumice_kernel::arguments::Argument;
use pumice_kernel::passes::{REPORT_WORDS, checked, read_report};
use pumice_kernel::{Error, Matrix, MatrixLayout, MatrixRole, MatrixScope, Scalar, TileRef};

/// Runs a checked kernel over buffers of zeros of these lengths in bytes; gives the report and the buffers.
fn run_checked(kernel: &Kernel, lengths: &[usize], scalars: &[Argument]) -> (Option<Error>, Vec<Vec<u8>>) {
    let mut memories: Vec<Memory> = lengths.iter().map(|n| Memory::zeros(*n)).collect();
    memories.push(Memory::zeros(4 * REPORT_WORDS));
    let bounds = lengths.iter().map(|n| Argument::I64(*n as i64));
    let scalars: Vec<Argument> = scalars.iter().copied().chain(bounds).collect();
    let launch = Launch { scalars: &scalars, ..Launch::default() };
    run(kernel, &launch, &mut memories).expect("nothing out of bounds is left");
    let words = memories.pop().expect("pushed above").to_vec::<u32>();
    (read_report(kernel, &words), memories.iter().map(|m| m.bytes().to_vec()).collect())
}

fn violation(kernel: &Kernel, lengths: &[usize], scalars: &[Argument]) -> (String, u64, u64) {
    match run_checked(kernel, lengths, scalars).0 {
        Some(Error::OutOfBounds { place, index, bound, line, .. }) => {
            assert!(line.file.ends_with("checked.rs"), "{line}");
            (place, index, bound)
        }
        other => panic!("must report an index out of bounds but reported {other:?}"),
    }
}

#[test]
fn random_kernels_keep_their_bits_and_report_nothing() {
    for seed in 0..120 {
        let random = random_kernel(seed, &RandomLimits::default());
        let mut kernel = random.kernel.clone();
        checked(&mut kernel);
        if seed % 2 == 0 {
            pumice_kernel::passes::optimize(&mut kernel);
        }
        verify(&kernel).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let mut with = random.clone();
        with.buffers.push(vec![0; 4 * REPORT_WORDS]);
        with.scalars.extend(random.buffers.iter().map(|b| Argument::I64(b.len() as i64)));
        let old = outcome(&random, &random.kernel, 32);
        let mut new = outcome(&with, &kernel, 32);
        let report = new.pop().expect("pushed above");
        assert!(report.iter().all(|b| *b == 0), "seed {seed}: {report:?}");
        for (i, param) in random.kernel.buffers.iter().enumerate() {
            assert_eq!(first_difference(param.elem, &old[i], &new[i]), None, "seed {seed}, {}", param.name);
        }
    }
}

#[test]
fn an_overrun_of_a_buffer_names_line_index_and_bound() {
    let line = line!() + 3;
    let kernel = after(checked, |k| {
        let (x, y) = (k.input("x", Elem::F32), k.output("y", Elem::F32));
        y.store(k.local_index(), x.load(k.local_index() + 1) + 1.0);
    });
    let (report, buffers) = run_checked(&kernel, &[256, 256], &[]);
    match report {
        Some(Error::OutOfBounds { kernel, line: at, place, index, bound }) => {
            assert_eq!((kernel.as_str(), place.as_str(), index, bound), ("kernel", "x", 64, 64));
            assert_eq!(at.line, line);
        }
        other => panic!("must report an index out of bounds but reported {other:?}"),
    }
    // What is out of bounds reads zero.
    assert_eq!(buffers[1][252..], 1f32.to_le_bytes());
}

#[test]
fn stores_and_atomics_out_of_bounds_are_skipped() {
    let kernel = after(checked, |k| {
        let y = k.buffer("y", Elem::I32, Access::ReadWrite, 4);
        k.when(k.local_index().eq(0), || {
            y.store(2, 7);
            y.atomic_add(-1, 7);
        });
    });
    let (report, buffers) = run_checked(&kernel, &[8], &[]);
    assert!(matches!(report, Some(Error::OutOfBounds { index: 2, bound: 2, .. })), "{report:?}");
    assert_eq!(buffers[0], [0; 8]);
    let kernel = after(checked, |k| {
        let y = k.buffer("y", Elem::I32, Access::ReadWrite, 4);
        y.atomic_add(k.i64(-1), 7);
    });
    assert_eq!(violation(&kernel, &[8], &[]), ("y".into(), u64::MAX, 2));
}

#[test]
fn arrays_and_argument_arrays_are_checked() {
    let shared = after(checked, |k| k.shared("tile", Elem::F32, 32).store(k.local_index(), 1.0));
    let (place, index, bound) = violation(&shared, &[], &[Argument::I64(0)]);
    assert_eq!((place.as_str(), bound), ("tile", 32));
    assert!(index >= 32);
    let private = after(checked, |k| k.private("mine", Elem::F32, 4).store(k.local_index(), 1.0));
    assert_eq!(violation(&private, &[], &[Argument::I64(0)]), ("mine".into(), 4, 4));
    let argument = after(checked, |k| {
        let y = k.output("y", Elem::I32);
        y.store(0, k.arg_array("shape", Scalar::I32, 4).at(k.i32(5)));
    });
    assert_eq!(violation(&argument, &[4], &[Argument::I32(1); 4]), ("shape".into(), 5, 4));
}

#[test]
fn a_wide_access_past_the_end_or_misaligned_is_a_violation() {
    let kernel = after(checked, |k| {
        let (x, y) = (k.buffer("x", Elem::F32, Access::Read, 16), k.output("y", Elem::F32));
        y.store(0, x.load_wide(k.arg_i32("at"), 4)[0]);
    });
    assert_eq!(run_checked(&kernel, &[32, 4], &[Argument::I32(4)]).0, None);
    assert_eq!(violation(&kernel, &[28, 4], &[Argument::I32(4)]), ("x".into(), 7, 7));
    assert_eq!(violation(&kernel, &[16, 4], &[Argument::I32(4)]), ("x".into(), 4, 4));
    match run_checked(&kernel, &[32, 4], &[Argument::I32(2)]).0 {
        Some(Error::Execution { message, .. }) => {
            assert_eq!(message, "the index of a wide access to x must be a multiple of 4 but is 2.");
        }
        other => panic!("must report a misaligned index but reported {other:?}"),
    }
}

#[test]
fn a_matrix_is_checked_to_its_last_element() {
    let ty = Matrix { scope: MatrixScope::Subgroup, elem: Elem::F16, rows: 16, cols: 16, role: MatrixRole::A };
    let kernel = after(checked, |k| {
        let (x, y) = (k.input("x", Elem::F16), k.output("y", Elem::F16));
        let m = x.load_matrix(ty, k.arg_i32("at"), 20, MatrixLayout::RowMajor, 2);
        y.store_matrix(m, 0, 16, MatrixLayout::ColumnMajor, 2);
    });
    let last = 8 + 15 * 20 + 16;
    assert_eq!(run_checked(&kernel, &[2 * last, 512], &[Argument::I32(8)]).0, None);
    let short = violation(&kernel, &[2 * last - 2, 512], &[Argument::I32(8)]);
    assert_eq!(short, ("x".into(), last as u64 - 1, last as u64 - 1));
    assert_eq!(violation(&kernel, &[2 * last, 500], &[Argument::I32(8)]), ("y".into(), 255, 250));
}

#[test]
fn a_tile_is_checked_where_it_is_inside_its_array() {
    let ty = Matrix { scope: MatrixScope::Workgroup, elem: Elem::F16, rows: 16, cols: 16, role: MatrixRole::A };
    let kernel = after(checked, |k| {
        let (x, y) = (k.input("x", Elem::F16), k.output("y", Elem::F16));
        let tile = |row: &str| TileRef {
            rows: k.i32(20),
            cols: k.i32(24),
            stride: k.i32(24),
            row: k.arg_i32(row),
            col: k.i32(16),
            align: 2,
        };
        let m = x.load_tile(ty, tile("from"), false);
        y.store_tile(m, tile("to"));
    });
    let whole = 20 * 24 * 2;
    let at = |a, b| [Argument::I32(a), Argument::I32(b)];
    assert_eq!(run_checked(&kernel, &[whole, whole], &at(16, 0)).0, None);
    assert_eq!(run_checked(&kernel, &[whole, 0], &at(0, 20)).0, None);
    assert_eq!(violation(&kernel, &[whole - 2, whole], &at(16, 0)), ("x".into(), 479, 479));
    assert_eq!(violation(&kernel, &[whole, 100], &at(16, 0)), ("y".into(), 15 * 24 + 23, 50));
}

#[test]
fn a_kernel_is_checked_once() {
    let once = after(checked, |k| k.output("y", Elem::I32).store(0, 1));
    let mut twice = once.clone();
    checked(&mut twice);
    assert_eq!(once, twice);
}
