//! Passes keep bits, and do what they are for.

use pumice_kernel::interpret::{Launch, Memory, run};
use pumice_kernel::ir::{Block, Kernel, Op};
use pumice_kernel::random::{RandomKernel, RandomLimits, first_difference, random_kernel};
use pumice_kernel::verify::verify;
use pumice_kernel::{Access, Builder, Elem};

/// What the buffers of a random kernel hold after a launch.
fn outcome(random: &RandomKernel, kernel: &Kernel, subgroup_size: u32) -> Vec<Vec<u8>> {
    let mut memories: Vec<Memory> = random.buffers.iter().map(|b| Memory::Owned(b.clone())).collect();
    let launch = Launch {
        groups: random.groups,
        scalars: &random.scalars,
        subgroup_size,
        check_races: true,
        ..Launch::default()
    };
    if let Err(error) = run(kernel, &launch, &mut memories) {
        panic!("{error}\n{}\nbecame\n{kernel}", random.kernel);
    }
    memories.iter().map(|m| m.bytes().to_vec()).collect()
}

/// That a pass leaves every random kernel well formed and with the same bits.
fn keeps_bits(seeds: std::ops::Range<u64>, pass: fn(&mut Kernel)) {
    for seed in seeds {
        let random = random_kernel(seed, &RandomLimits::default());
        let mut after = random.kernel.clone();
        pass(&mut after);
        if let Err(error) = verify(&after) {
            panic!("seed {seed}: {error}\n{}\nbecame\n{after}", random.kernel);
        }
        for subgroup_size in [1, 8, 32] {
            let [old, new] = [&random.kernel, &after].map(|k| outcome(&random, k, subgroup_size));
            for (i, param) in random.kernel.buffers.iter().enumerate() {
                let difference = first_difference(param.elem, &old[i], &new[i]);
                assert_eq!(difference, None, "seed {seed}, {}:\n{}\nbecame\n{after}", param.name, random.kernel);
            }
        }
    }
}

fn count(block: &Block, is: &dyn Fn(&Op) -> bool) -> usize {
    let nested = |op: &Op| op.blocks().into_iter().map(|b| count(b, is)).sum::<usize>();
    block.insts.iter().map(|i| is(&i.op) as usize + nested(&i.op)).sum()
}

fn loads(kernel: &Kernel) -> usize {
    count(&kernel.body, &|op| matches!(op, Op::Load { .. }))
}

fn stores(kernel: &Kernel) -> usize {
    count(&kernel.body, &|op| matches!(op, Op::Store { .. }))
}

/// A kernel after a pass.
fn after(pass: fn(&mut Kernel), write: impl FnOnce(&Builder)) -> Kernel {
    let mut kernel = Kernel::build("kernel", [64, 1, 1], write).expect("builds");
    pass(&mut kernel);
    verify(&kernel).expect("is still well formed");
    kernel
}

mod vectorize {
    use super::*;
    use pumice_kernel::passes::vectorize;

    #[test]
    fn keeps_bits_of_random_kernels() {
        keeps_bits(0..120, vectorize);
    }

    #[test]
    fn neighbours_become_one_access() {
        let kernel = after(vectorize, |k| {
            let (x, y) = (k.buffer("x", Elem::F32, Access::Read, 16), k.buffer("y", Elem::F32, Access::Write, 16));
            let base = k.global_index() * 4;
            (0..4).for_each(|j| y.store(base + j, x.load(base + j) + 1.0));
        });
        assert_eq!((loads(&kernel), stores(&kernel)), (1, 1), "{kernel}");
    }

    #[test]
    fn the_width_is_at_most_sixteen_bytes_and_the_alignment() {
        let widths = |elem: Elem, align, expected| {
            let kernel = after(vectorize, |k| {
                let x = k.buffer("x", elem, Access::ReadWrite, align);
                let base = k.local_index() * 16;
                let values: Vec<_> = (0..16).map(|j| x.load(base + j)).collect();
                (0..16).for_each(|j| x.store(base + j, values[15 - j as usize]));
            });
            assert_eq!((loads(&kernel), stores(&kernel)), (expected, expected), "{} {align}", elem.name());
        };
        widths(Elem::U8, 16, 1);
        widths(Elem::U8, 4, 4);
        widths(Elem::BF16, 16, 2);
        widths(Elem::F32, 16, 4);
        widths(Elem::F32, 4, 16);
        widths(Elem::C64, 16, 8);
    }

    #[test]
    fn an_index_of_unknown_alignment_is_left_alone() {
        let kernel = after(vectorize, |k| {
            let (x, y) = (k.buffer("x", Elem::F32, Access::Read, 16), k.output("y", Elem::F32));
            let base = k.local_index() * 3;
            let sum = x.load(base) + x.load(base + 1);
            y.store(k.local_index(), sum);
        });
        assert_eq!(loads(&kernel), 2);
    }

    #[test]
    fn loop_indices_are_known_to_be_multiples_of_their_step() {
        let kernel = after(vectorize, |k| {
            let (x, y) = (k.buffer("x", Elem::F32, Access::Read, 16), k.output("y", Elem::F32));
            let n = k.arg_i32("n");
            let row = (k.group_id(0) * n) << 2;
            let sum = k.for_(k.local_index() * 4, n, 256, k.f32(0.0), |i, sum| {
                (0..4).fold(sum, |sum, j| sum + x.load(row + (i + j)))
            });
            y.store(k.local_index(), sum);
        });
        assert_eq!(loads(&kernel), 1, "{kernel}");
    }

    #[test]
    fn loads_pass_stores_to_other_buffers_and_to_other_elements() {
        let kernel = after(vectorize, |k| {
            let x = k.buffer("x", Elem::F32, Access::ReadWrite, 16);
            let y = k.buffer("y", Elem::F32, Access::Write, 16);
            let base = k.global_index() * 4;
            for j in 0..4 {
                let v = x.load(base + j);
                x.store(base + j, v + 1.0);
                y.store(base + j, v);
            }
        });
        assert_eq!((loads(&kernel), stores(&kernel)), (1, 2), "{kernel}");
    }

    #[test]
    fn a_load_does_not_pass_a_store_it_may_see() {
        let kernel = after(vectorize, |k| {
            let x = k.buffer("x", Elem::F32, Access::ReadWrite, 8);
            let (base, other) = (k.global_index() * 2, k.arg_i32("other"));
            let first = x.load(base);
            x.store(other, first);
            let second = x.load(base + 1);
            x.store(base, second);
            let again = x.load(base);
            x.store(base + 1, again);
        });
        assert_eq!((loads(&kernel), stores(&kernel)), (3, 3), "{kernel}");
    }

    #[test]
    fn nothing_passes_a_barrier_or_an_atomic() {
        let kernel = after(vectorize, |k| {
            let x = k.buffer("x", Elem::I32, Access::ReadWrite, 16);
            let base = k.local_index() * 2;
            let first = x.load(base);
            k.barrier_all();
            let second = x.load(base + 1);
            x.store(base, second);
            x.atomic_add(512, 1);
            x.store(base + 1, first);
        });
        assert_eq!((loads(&kernel), stores(&kernel)), (2, 2), "{kernel}");
    }

    #[test]
    fn neighbours_in_the_wrong_order_are_found_too() {
        let kernel = after(vectorize, |k| {
            let (x, y) = (k.buffer("x", Elem::I32, Access::Read, 16), k.buffer("y", Elem::I32, Access::Write, 16));
            let base = k.global_index() * 4;
            let values: Vec<_> = [3, 1, 0, 2].into_iter().map(|j| x.load(base + j)).collect();
            [2, 3, 1, 0].into_iter().zip(values).for_each(|(j, v)| y.store(base + j, v));
        });
        assert_eq!((loads(&kernel), stores(&kernel)), (1, 1), "{kernel}");
    }
}

mod checked {
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
                assert!(line.file.ends_with("passes.rs"), "{line}");
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
}

mod dce {
    use super::*;
    use pumice_kernel::passes::dce;

    fn instructions(kernel: &Kernel) -> usize {
        count(&kernel.body, &|_| true)
    }

    #[test]
    fn keeps_bits_of_random_kernels() {
        keeps_bits(0..120, dce);
    }

    #[test]
    fn what_nobody_uses_goes() {
        let kernel = after(dce, |k| {
            let (x, y) = (k.input("x", Elem::F32), k.output("y", Elem::F32));
            let _ = (x.load(1) + 1.0).sqrt();
            k.when(k.lane().eq(0), || {
                let _ = x.load(2);
            });
            y.store(0, 2.0);
        });
        assert_eq!(instructions(&kernel), 3, "{kernel}");
    }

    #[test]
    fn what_has_an_effect_stays() {
        let kernel = after(dce, |k| {
            let y = k.buffer("y", Elem::I32, Access::ReadWrite, 4);
            y.atomic_add(0, 1);
            k.barrier();
            k.while_(k.i32(0), |i| i.lt(3), |i| i + 1);
        });
        for name in ["atomic_add", "barrier", "while"] {
            assert_eq!(count(&kernel.body, &|op| op.name() == name), 1, "{name}");
        }
    }

    #[test]
    fn carried_values_that_feed_only_themselves_go() {
        let kernel = after(dce, |k| {
            let y = k.output("y", Elem::I32);
            let n = k.arg_i32("n");
            let (sum, _, _) = k.for_(0, n, 1, (k.i32(0), k.i32(1), k.i32(2)), |i, (a, b, c)| (a + i, b * c, c - b));
            y.store(0, sum);
        });
        let Some(Op::For { init, body, .. }) = kernel.body.insts.iter().map(|i| &i.op).find(|o| o.name() == "for")
        else {
            panic!("the loop must stay:\n{kernel}");
        };
        assert_eq!((init.len(), body.params.len(), body.yields.len(), body.insts.len()), (1, 2, 1, 1));
    }

    #[test]
    fn a_carried_value_another_one_needs_stays() {
        let kernel = after(dce, |k| {
            let y = k.output("y", Elem::I32);
            let (a, _, _) = k.for_(0, k.i32(5), 1, (k.i32(0), k.i32(1), k.i32(2)), |_, (_, b, c)| (b, c, b + c));
            y.store(0, a);
        });
        let carried = kernel.body.insts.iter().find_map(|i| match &i.op {
            Op::For { init, .. } => Some(init.len()),
            _ => None,
        });
        assert_eq!(carried, Some(3), "{kernel}");
    }

    #[test]
    fn results_of_an_if_that_nobody_uses_go() {
        let kernel = after(dce, |k| {
            let y = k.output("y", Elem::I32);
            let one = || (k.i32(1), k.lane() * 3);
            let (used, _) = k.if_(k.lane().eq(0), one, || (k.i32(2), k.i32(5)));
            y.store(0, used);
        });
        assert_eq!(count(&kernel.body, &|op| op.name() == "mul"), 0, "{kernel}");
    }
}

mod cse {
    use super::*;
    use pumice_kernel::passes::{cse, dce};

    fn named(kernel: &Kernel, name: &str) -> usize {
        count(&kernel.body, &|op| op.name() == name)
    }

    #[test]
    fn keeps_bits_of_random_kernels() {
        keeps_bits(0..120, cse);
    }

    #[test]
    fn the_same_is_computed_once() {
        let kernel = after(cse, |k| {
            let (x, y) = (k.input("x", Elem::F32), k.output("y", Elem::F32));
            let (a, b) = (x.load(k.lane()), x.load(k.lane()));
            y.store(k.lane(), a * b + b * a);
        });
        assert_eq!((loads(&kernel), named(&kernel, "mul"), named(&kernel, "lane")), (1, 1, 1), "{kernel}");
    }

    #[test]
    fn what_a_surrounding_block_computed_is_used_but_not_what_a_sibling_did() {
        let kernel = after(cse, |k| {
            let (n, y) = (k.arg_i32("n"), k.output("y", Elem::I32));
            let double = n * 2;
            k.if_(n.eq(0), || y.store(0, n * 2 + n * 3), || y.store(0, n * 3 - double));
        });
        assert_eq!(named(&kernel, "mul"), 3, "{kernel}");
    }

    #[test]
    fn constants_and_arguments_move_to_the_top() {
        let kernel = after(cse, |k| {
            let shape = k.arg_array("shape", pumice_kernel::Scalar::I32, 4);
            let y = k.output("y", Elem::I32);
            k.step(0, k.i32(4), 1, |i| y.store(i, shape.at(3) + 7));
            k.step(0, k.i32(4), 1, |i| y.store(i, shape.at(3) - 7));
        });
        assert_eq!((named(&kernel, "arg"), named(&kernel, "const")), (1, 5), "{kernel}");
        assert!(kernel.body.insts.iter().take(6).all(|i| matches!(i.op.name(), "const" | "arg")), "{kernel}");
    }

    #[test]
    fn an_argument_outside_its_array_stays_where_it_is() {
        let kernel = after(cse, |k| {
            let shape = k.arg_array("shape", pumice_kernel::Scalar::I32, 4);
            let y = k.output("y", Elem::I32);
            k.when(shape.at(0).eq(0), || y.store(0, shape.at(9)));
        });
        let inside = kernel.body.insts.iter().flat_map(|i| i.op.blocks()).map(|b| count(b, &|op| op.name() == "arg"));
        assert_eq!(inside.sum::<usize>(), 1, "{kernel}");
    }

    #[test]
    fn a_load_is_repeated_after_a_write_that_may_change_it() {
        let kernel = after(cse, |k| {
            let x = k.buffer("x", Elem::I32, Access::ReadWrite, 4);
            let y = k.output("y", Elem::I32);
            let other = k.arg_i32("other");
            let first = x.load(0);
            y.store(1, first);
            let kept = x.load(0);
            x.store(other, kept);
            let changed = x.load(0);
            y.store(2, changed);
        });
        assert_eq!(loads(&kernel), 2, "{kernel}");
    }

    #[test]
    fn a_load_is_repeated_in_a_loop_that_writes_it_and_after_a_barrier() {
        let kernel = after(cse, |k| {
            let s = k.shared("s", Elem::I32, 64);
            let (x, y) = (k.input("x", Elem::I32), k.output("y", Elem::I32));
            s.store(k.local_index(), x.load(0));
            let first = s.load(k.local_index());
            k.barrier();
            let second = s.load(k.local_index());
            k.step(0, k.i32(3), 1, |i| {
                let turn = s.load(k.local_index());
                s.store(k.local_index(), turn + i + x.load(0));
            });
            y.store(k.local_index(), first + second + s.load(k.local_index()));
        });
        // Of x one load, of s four.
        assert_eq!(loads(&kernel), 5, "{kernel}");
    }

    #[test]
    fn a_write_on_one_side_of_an_if_does_not_reach_the_other() {
        let kernel = after(cse, |k| {
            let x = k.buffer("x", Elem::I32, Access::ReadWrite, 4);
            let y = k.output("y", Elem::I32);
            let first = x.load(0);
            k.if_(first.eq(0), || x.store(0, 1), || y.store(0, x.load(0)));
            y.store(1, x.load(0));
        });
        assert_eq!(loads(&kernel), 2, "{kernel}");
    }

    #[test]
    fn float_minimum_does_not_commute() {
        let kernel = after(cse, |k| {
            let (x, y) = (k.input("x", Elem::F32), k.output("y", Elem::F32));
            let (a, b) = (x.load(0), x.load(1));
            y.store(0, a.min(b) - b.min(a));
        });
        assert_eq!(named(&kernel, "min"), 2);
    }

    #[test]
    fn guards_of_the_same_access_share_their_work() {
        let mut kernel = after(pumice_kernel::passes::checked, |k| {
            let x = k.buffer("x", Elem::F32, Access::ReadWrite, 4);
            x.store(k.local_index(), x.load(k.local_index()) + 1.0);
        });
        cse(&mut kernel);
        dce(&mut kernel);
        verify(&kernel).expect("is still well formed");
        assert_eq!(named(&kernel, "lt_u"), 1, "{kernel}");
    }
}

mod optimize {
    use super::*;
    use pumice_kernel::passes::optimize;

    #[test]
    fn keeps_bits_of_random_kernels() {
        keeps_bits(0..250, optimize);
    }

    #[test]
    #[ignore = "slow"]
    fn keeps_bits_of_many_random_kernels() {
        keeps_bits(500..20_000, optimize);
    }

    #[test]
    fn a_second_time_changes_nothing_more() {
        for seed in 0..100 {
            let mut once = random_kernel(seed, &RandomLimits::default()).kernel;
            optimize(&mut once);
            let instructions = count(&once.body, &|_| true);
            optimize(&mut once);
            assert!(count(&once.body, &|_| true) <= instructions, "seed {seed}");
        }
    }
}
