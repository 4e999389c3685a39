//! Kernels that between them use everything the language has.

use pumice_kernel::ir::{BinaryOp, GroupKind};
use pumice_kernel::{Access, Elem, Kernel, Matrix, MatrixLayout, MatrixRole, MatrixScope, Scalar, TileRef, Type, Val};

/// All of them.
pub fn samples() -> Vec<Kernel> {
    let mut all = vec![add(), arguments(), floats(), integers(32), integers(64), conversions(), control()];
    all.extend(Elem::ALL.map(copy));
    all.extend([shared(), private(), atomics(), subgroups(), vectors(), halves()]);
    all.extend([Elem::F16, Elem::BF16, Elem::I8, Elem::U8].map(product));
    all.extend([Elem::F16, Elem::BF16].map(tiles));
    all
}

fn build(name: &str, write: impl FnOnce(&pumice_kernel::Builder)) -> Kernel {
    let kernel = Kernel::build(name, [64, 1, 1], write).expect("the sample is well formed");
    pumice_kernel::verify::verify(&kernel).expect("the sample is well formed");
    kernel
}

/// Addition of two arrays, four at a time.
pub fn add() -> Kernel {
    build("add", |k| {
        let [a, b] = ["a", "b"].map(|name| k.buffer(name, Elem::F32, Access::Read, 16));
        let c = k.buffer("c", Elem::F32, Access::Write, 16);
        let n = k.arg_i32("n");
        k.each(n, |i| {
            let at = i * 4;
            let (x, y) = (a.load_wide(at, 4), b.load_wide(at, 4));
            let sums: Vec<Val<'_>> = x.into_iter().zip(y).map(|(x, y)| x + y).collect();
            c.store_wide(at, &sums);
        });
    })
}

/// Scalars of every type, and an array of them.
fn arguments() -> Kernel {
    build("arguments", |k| {
        let out = k.output("out", Elem::I64);
        let flag = k.arg("flag", Scalar::Bool);
        let (i, l, f) = (k.arg_i32("i"), k.arg_i64("l"), k.arg_f32("f"));
        let shape = k.arg_array("shape", Scalar::I64, 4);
        let at = k.global_index();
        let sum = i.to(Scalar::I64) + l + f.to(Scalar::I64) + shape.at(at & 3);
        out.store(at, flag.select(sum, 0));
    })
}

/// A buffer of each type copied, one element and many at a time, with a 64-bit index too.
fn copy(elem: Elem) -> Kernel {
    build(&format!("copy_{}", elem.name()), |k| {
        let a = k.buffer("a", elem, Access::Read, 16);
        let b = k.buffer("b", elem, Access::ReadWrite, 16);
        let i = k.global_index();
        b.store(i, a.load(i));
        b.store(i.to_u(Scalar::I64) + 100, a.load(i.to_u(Scalar::I64)));
        let mut count = 2;
        while count * elem.bytes() <= 16 {
            let at = i * (count as i32);
            b.store_wide(at, &a.load_wide(at, count));
            count *= 2;
        }
        k.barrier_all();
    })
}

fn floats() -> Kernel {
    build("floats", |k| {
        let [a, b] = ["a", "b"].map(|name| k.input(name, Elem::F32));
        let out = k.output("out", Elem::F32);
        let i = k.global_index();
        let (x, y) = (a.load(i), b.load(i));
        let all = [
            x + y,
            x - y,
            x * y,
            x / y,
            x.min(y),
            x.max(y),
            -x,
            x.abs(),
            x.floor(),
            x.ceil(),
            x.trunc(),
            x.round_even(),
            x.sqrt(),
            x.fma(y, x),
            x.le(y).select(x, y),
        ];
        for (j, &value) in all.iter().enumerate() {
            out.store(i + 1000 * j as i32, value);
        }
    })
}

fn integers(bits: u32) -> Kernel {
    let elem = if bits == 32 { Elem::I32 } else { Elem::I64 };
    build(&format!("integers_{bits}"), |k| {
        let [a, b] = ["a", "b"].map(|name| k.input(name, elem));
        let out = k.output("out", elem);
        let i = k.global_index();
        let (x, y) = (a.load(i), b.load(i));
        let minus_one = k.constant(elem.compute(), u64::MAX >> (64 - bits));
        let all = [
            x + y,
            x - y,
            x * y,
            x / y,
            x % y,
            x.div_u(y),
            x.rem_u(y),
            x / 7,
            x % minus_one,
            x.mul_high_s(y),
            x.mul_high_u(y),
            x.min(y),
            x.max_u(y),
            x & y,
            x | y,
            x ^ y,
            x << y,
            x >> 3,
            x.shr_u(y),
            -x,
            !x,
            x.abs(),
            x.count_ones(),
            x.leading_zeros(),
            x.trailing_zeros(),
            x.reverse_bits(),
            x.lt_u(y).select(x, y),
        ];
        for (j, &value) in all.iter().enumerate() {
            out.store(i + 1000 * j as i32, value);
        }
    })
}

fn conversions() -> Kernel {
    build("conversions", |k| {
        let a = k.input("a", Elem::F32);
        let (ints, longs, floats) =
            (k.output("ints", Elem::I32), k.output("longs", Elem::U64), k.output("floats", Elem::F32));
        let i = k.global_index();
        let x = a.load(i);
        ints.store(i, x.to(Scalar::I32));
        ints.store(i + 100, x.to_u(Scalar::I32));
        longs.store(i, x.to(Scalar::I64));
        longs.store(i + 100, x.to_u(Scalar::I64));
        longs.store(i + 200, i.to(Scalar::I64));
        floats.store(i, i.to(Scalar::F32));
        floats.store(i + 100, i.to_u(Scalar::I64).to_u(Scalar::F32));
        floats.store(i + 200, x.to(Scalar::Bool).to(Scalar::F32));
        floats.store(i + 300, x.bitcast(Scalar::I32).bitcast(Scalar::F32));
        for (j, elem) in [Elem::I8, Elem::U8, Elem::I16, Elem::U16].into_iter().enumerate() {
            ints.store(i + 1000 * j as i32, i.narrow(elem));
        }
    })
}

fn control() -> Kernel {
    build("control", |k| {
        let (a, out) = (k.input("a", Elem::I32), k.output("out", Elem::I32));
        let n = k.arg_i32("n");
        let step = k.arg_i32("step");
        let i = k.global_index();
        let sum = k.for_rolled(0, n, 1, k.i32(0), |j, sum| sum + a.load(j));
        let strided = k.for_(i, n, step, (sum, sum), |j, (x, y)| {
            let inner = k.for_unrolled(0, k.i32(10), 3, x, |_, z| z * 3);
            (inner, y + j)
        });
        let collatz = k.while_(
            strided.0,
            |x| x.gt(1),
            |x| k.if_((x & 1).eq(0), || x >> 1, || k.if_(x.lt(100), || x * 3 + 1, || x)),
        );
        k.when(collatz.ne(5), || out.store(i, collatz + strided.1));
    })
}

fn shared() -> Kernel {
    build("shared", |k| {
        let out = k.output("out", Elem::F32);
        let i = k.local_index();
        let quads = k.shared_vectors("quads", Elem::F32, 4, 64);
        quads.store(i, i.to(Scalar::F32).splat(4));
        let mut sum = k.f32(0.0);
        let narrow = Elem::ALL.into_iter().filter(|e| e.bytes() <= 4 && *e != Elem::Bool);
        for elem in narrow {
            let array = k.shared(elem.name(), elem, 64);
            let value = if elem.compute() == Type::F32 { i.to(Scalar::F32) } else { i };
            array.store(i, value);
            k.barrier();
            sum = sum + array.load(63 - i).to(Scalar::F32);
        }
        let flags = k.shared("flags", Elem::Bool, 64);
        flags.store(i, i.lt(5));
        k.barrier();
        out.store(i, sum + quads.load(i).lane(2) + flags.load(63 - i).to(Scalar::F32));
    })
}

fn private() -> Kernel {
    build("private", |k| {
        let out = k.output("out", Elem::F32);
        let i = k.local_index();
        let (halves, flags) = (k.private("halves", Elem::F16, 8), k.private("flags", Elem::Bool, 8));
        halves.store(i & 7, i.to(Scalar::F32));
        flags.store(i & 7, true);
        out.store(i, flags.load(3).select(halves.load(2), 1.0));
    })
}

fn atomics() -> Kernel {
    build("atomics", |k| {
        let ints = k.buffer("ints", Elem::I32, Access::ReadWrite, 4);
        let floats = k.buffer("floats", Elem::F32, Access::ReadWrite, 4);
        let (tile, words) = (k.shared("tile", Elem::F32, 4), k.shared("words", Elem::U32, 4));
        let i = k.local_index();
        tile.store(i & 3, 0.0);
        words.store(i & 3, 0);
        k.barrier();
        let x = i.to(Scalar::F32);
        tile.atomic_add(0, x);
        tile.atomic_max(1, x);
        words.atomic_or(0, i);
        words.atomic_min(1, i);
        let old = ints.atomic_add(0, i) + ints.atomic_min(1, i) + ints.view(Elem::U32).atomic_max(2, i);
        ints.atomic_compare_exchange(3, old, i);
        floats.atomic_add(0, x);
        floats.atomic_min(1, x);
        floats.atomic_exchange(2, x);
        k.barrier();
        floats.store(3, tile.load(0) + words.load(1).to(Scalar::F32));
    })
}

fn subgroups() -> Kernel {
    build("subgroups", |k| {
        let (floats, ints) = (k.output("floats", Elem::F32), k.output("ints", Elem::I32));
        let i = k.local_index();
        let x = i.to(Scalar::F32);
        for (j, kind) in [GroupKind::Reduce, GroupKind::Inclusive, GroupKind::Exclusive].into_iter().enumerate() {
            let at = i + 64 * j as i32;
            floats.store(at, x.subgroup(BinaryOp::Add, kind) + x.subgroup(BinaryOp::Max, kind));
            let any = i.lt(7).subgroup(BinaryOp::Xor, kind).to(Scalar::I32);
            ints.store(at, i.subgroup(BinaryOp::Add, kind) + i.subgroup(BinaryOp::MinU, kind) + any);
        }
        let moved = x.shuffle(3) + x.shuffle_xor(1) + x.shuffle_xor(i) + x.shuffle_up(2) + x.shuffle_down(i);
        floats.store(i + 500, moved);
        let votes = i.eq(3).subgroup_any() & i.lt(1000).subgroup_all();
        ints.store(i + 500, i.lt(9).ballot().lane(0) + votes.to(Scalar::I32) + k.lane() + k.subgroup_id());
        ints.store(i + 600, k.subgroup_size() + k.subgroup_count());
        floats.store(i + 700, k.group_sum(x));
    })
}

fn vectors() -> Kernel {
    build("vectors", |k| {
        let (a, out) = (k.input("a", Elem::F32), k.output("out", Elem::F32));
        let i = k.global_index();
        let x = k.vector(&[a.load(i), a.load(i + 1), a.load(i + 2), a.load(i + 3)]);
        let y = (x / x.fma(x, x)).sqrt().max(x).narrow(Elem::F16);
        let z = x.lt(y).select(x, y) + x.to(Scalar::I32).to(Scalar::F32);
        out.store(i, z.lane(0) + z.lane(3));
        let bytes = i.dot4_signs(i + 1, i, true, false).dot4(i, i);
        out.store(i + 100, bytes.to(Scalar::F32));
    })
}

fn halves() -> Kernel {
    build("halves", |k| {
        let (a, b) = (k.input("a", Elem::F16), k.input("b", Elem::BF16));
        let out = k.output("out", Elem::U16);
        let i = k.global_index();
        let sum = (a.load(i) + b.load(i)).narrow(Elem::BF16);
        out.store(
            i,
            sum.encode(Elem::F16) + i.decode(Elem::BF16).encode(Elem::BF16) + i.decode(Elem::F16).to(Scalar::I32),
        );
    })
}

/// A product of subgroup matrices, from a buffer and from shared memory.
fn product(factor: Elem) -> Kernel {
    build(&format!("product_{}", factor.name()), |k| {
        let depth = if factor.bytes() == 1 { 32 } else { 16 };
        let sum = if factor.bytes() == 1 { Elem::I32 } else { Elem::F32 };
        let matrix = |elem, rows, cols, role| Matrix { scope: MatrixScope::Subgroup, elem, rows, cols, role };
        let a = k.buffer("a", factor, Access::Read, 16);
        let c = k.buffer("c", sum, Access::Write, 16);
        let packed = k.shared_vectors("packed", Elem::U32, 4, 64);
        let n = k.arg_i32("n");
        let zero = k.matrix_fill(matrix(sum, 16, 16, MatrixRole::Accumulator), 0);
        let total = k.for_(0, n, 1, zero, |i, total| {
            let left = matrix(factor, 16, depth, MatrixRole::A);
            let right = matrix(factor, depth, 16, MatrixRole::B);
            let x = a.load_matrix(left, i * 256, 16, MatrixLayout::RowMajor, 16);
            let y = packed.load_matrix(right, 0, 2, MatrixLayout::ColumnMajor, 16);
            x.matrix_mul_add(y, total)
        });
        c.store_matrix(total.matrix_add(total), 0, 16, MatrixLayout::RowMajor, 16);
    })
}

/// A product of workgroup matrices, clipped tile by clipped tile.
fn tiles(factor: Elem) -> Kernel {
    let kernel = Kernel::build(&format!("tiles_{}", factor.name()), [128, 1, 1], |k| {
        let matrix = |elem, rows, cols, role| Matrix { scope: MatrixScope::Workgroup, elem, rows, cols, role };
        let [a, b] = ["a", "b"].map(|name| k.buffer(name, factor, Access::Read, 16));
        let c = k.buffer("c", factor, Access::Write, 16);
        let [m, n, depth] = ["m", "n", "k"].map(|name| k.arg_i32(name));
        let (row, col) = (k.group_id(1) * 64, k.group_id(0) * 64);
        let tile = |rows, cols, row, col| TileRef { rows, cols, stride: cols, row, col, align: 16 };
        let zero = k.matrix_fill(matrix(Elem::F32, 64, 64, MatrixRole::Accumulator), 0);
        let total = k.for_(0, depth, 32, zero, |i, total| {
            let x = a.load_tile(matrix(factor, 64, 32, MatrixRole::A), tile(m, depth, row, i), false);
            let y = b.load_tile(matrix(factor, 32, 64, MatrixRole::B), tile(n, depth, col, i), true);
            x.matrix_mul_add(y, total)
        });
        let halved = total.matrix_scale(k.f32(0.5));
        let narrow = halved.matrix_convert(matrix(factor, 64, 64, MatrixRole::Accumulator));
        c.store_tile(narrow, tile(m, n, row, col));
    });
    kernel.expect("the sample is well formed")
}
