//! Dead code goes, effects stay.

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
    let Some(Op::For { init, body, .. }) = kernel.body.insts.iter().map(|i| &i.op).find(|o| o.name() == "for") else {
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
