//! `c[i] = f(a[i], b[i])` over contiguous arrays, bound by memory.
//!
//! Every invocation makes `ACCESSES` accesses of 16 bytes to each array, a workgroup's width apart, so that neighbours touch
//! neighbouring bytes: 4-byte accesses reach only three quarters of the bandwidth of an H200, 1-byte ones a quarter.

use pumice_kernel::{Access, Elem, Kernel, Result, Val};

/// Invocations per workgroup.
pub const WORKGROUP: u32 = 256;
/// 16-byte accesses per invocation and array.
const ACCESSES: u32 = 2;

/// Elements one workgroup covers.
pub fn elements_per_group(elem: Elem) -> u64 {
    (WORKGROUP * ACCESSES * 16) as u64 / elem.bytes() as u64
}

/// The kernel: buffers a, b, c, then the number of elements as I32. Its addresses are multiples of 16.
pub fn binary(name: &str, elem: Elem, f: impl for<'k> Fn(Val<'k>, Val<'k>) -> Val<'k>) -> Result<Kernel> {
    Kernel::build(name, [WORKGROUP, 1, 1], |k| {
        let a = k.buffer("a", elem, Access::Read, 16);
        let b = k.buffer("b", elem, Access::Read, 16);
        let c = k.buffer("c", elem, Access::Write, 16);
        let n = k.arg_i32("n");
        let wide = 16 / elem.bytes();
        let span = (WORKGROUP as usize * wide) as i32;
        let first = k.group_index() * (span * ACCESSES as i32) + k.local_index() * (wide as i32);
        let starts: Vec<Val> = (0..ACCESSES as i32).map(|j| first + j * span).collect();
        // n is at most i32::MAX, and so is the last start of a launch that covers it, but not always start + wide.
        let whole = starts[ACCESSES as usize - 1].lt_u(n - (wide as i32 - 1)) & n.ge(wide as i32);
        k.if_(
            whole,
            || {
                let loaded: Vec<_> = starts.iter().map(|&i| (a.load_wide(i, wide), b.load_wide(i, wide))).collect();
                for (&i, (x, y)) in starts.iter().zip(&loaded) {
                    let z: Vec<Val> = x.iter().zip(y).map(|(&x, &y)| f(x, y)).collect();
                    c.store_wide(i, &z);
                }
            },
            || {
                for &start in &starts {
                    let end = (start + wide as i32).min_u(n);
                    k.step(start, end, 1, |i| c.store(i, f(a.load(i), b.load(i))));
                }
            },
        );
    })
}
