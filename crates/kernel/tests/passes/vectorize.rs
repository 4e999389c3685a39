//! Neighbouring accesses become wide ones, and only those that may.

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
fn two_buffers_may_be_the_same_memory() {
    let plain = Kernel::build("in_place", [8, 1, 1], |k| {
        let (x, y) = (k.buffer("x", Elem::I32, Access::Read, 16), k.buffer("y", Elem::I32, Access::Write, 16));
        let base = k.local_index() * 4;
        (0..4).for_each(|j| y.store(base + j, x.load(base + j) * 3 + j));
    })
    .expect("builds");
    let mut wide = plain.clone();
    vectorize(&mut wide);
    assert_eq!((loads(&wide), stores(&wide)), (1, 1), "{wide}");
    let bindings = [0, 0].map(|memory| Binding { memory, bytes: 0..128 });
    let [a, b] = [&plain, &wide].map(|kernel| {
        let mut memories = [Memory::of(&(0..32).collect::<Vec<i32>>())];
        let launch = Launch { bindings: &bindings, ..Launch::default() };
        run(kernel, &launch, &mut memories).expect("runs");
        memories[0].to_vec::<i32>()
    });
    assert_eq!(a, b);
    assert_eq!(a[..4], [0, 4, 8, 12]);
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
