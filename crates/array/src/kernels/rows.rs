//! Kernels over the rows of a matrix: one workgroup a row, the row's elements read once in 16-byte accesses.

use pumice_kernel::{Access, Builder, Elem, Kernel, Result, Val};

/// Invocations per workgroup.
pub const WORKGROUP: u32 = 256;

/// `out[r] = Σ x[r, :]`: buffers x, out, then rows and columns as I32. A row's length must be a multiple of the elements
/// in 16 bytes, and its address a multiple of 16.
pub fn sum(elem: Elem) -> Result<Kernel> {
    Kernel::build("row_sum", [WORKGROUP, 1, 1], |k| {
        let x = k.buffer("x", elem, Access::Read, 16);
        let out = k.output("out", elem);
        let (rows, cols) = (k.arg_i32("rows"), k.arg_i32("cols"));
        let wide = 16 / elem.bytes();
        each_row(k, rows, |row| {
            let first = k.local_index() * (wide as i32);
            let start = row * cols;
            // Two accumulators: consecutive accesses do not wait for each other's sums.
            let span = (WORKGROUP as usize * wide) as i32;
            let zero = k.f32(0.0);
            let paired = (cols - first) / (2 * span) * (2 * span);
            let sums = k.for_(first, first + paired, 2 * span, [zero, zero], |i, [a, b]| {
                let (left, right) = (x.load_wide(start + i, wide), x.load_wide(start + i + span, wide));
                [add_all(a, left), add_all(b, right)]
            });
            let rest = k.for_(first + paired, cols, span, sums[0] + sums[1], |i, sum| {
                add_all(sum, x.load_wide(start + i, wide))
            });
            let whole = k.group_sum(rest);
            k.when(k.local_index().eq(0), || out.store(row, whole));
        });
    })
}

/// `out[r, :] = softmax(x[r, :])`, computed in f32: buffers x, out, then rows and columns as I32. Rows as in [`sum`], and at
/// most `accesses` 16-byte accesses per invocation long: the row stays in registers between the passes.
pub fn softmax(elem: Elem, accesses: u32) -> Result<Kernel> {
    Kernel::build("row_softmax", [WORKGROUP, 1, 1], |k| {
        let x = k.buffer("x", elem, Access::Read, 16);
        let out = k.buffer("out", elem, Access::Write, 16);
        let (rows, cols) = (k.arg_i32("rows"), k.arg_i32("cols"));
        let wide = 16 / elem.bytes();
        let span = (WORKGROUP as usize * wide) as i32;
        each_row(k, rows, |row| {
            let start = row * cols;
            let places: Vec<Val> = (0..accesses as i32).map(|j| k.local_index() * (wide as i32) + j * span).collect();
            let outside = vec![k.f32(f32::NEG_INFINITY); wide];
            let parts: Vec<Vec<Val>> = places
                .iter()
                .map(|&i| k.if_(i.lt(cols), || x.load_wide(start + i, wide), || outside.clone()))
                .collect();
            let most = parts.iter().flatten().copied().reduce(|a, b| a.max(b)).expect("a row has elements");
            let most = k.group_max(most);
            // A row of -inf alone has no finite maximum: exp(-inf - -inf) is NaN, as the formula says.
            let powers: Vec<Vec<Val>> =
                parts.iter().map(|part| part.iter().map(|&v| (v - most).exp()).collect()).collect();
            let sum = powers.iter().flatten().copied().reduce(|a, b| a + b).expect("a row has elements");
            let scale = 1.0 / k.group_sum(sum);
            for (&i, part) in places.iter().zip(&powers) {
                let scaled: Vec<Val> = part.iter().map(|&v| v * scale).collect();
                k.when(i.lt(cols), || out.store_wide(start + i, &scaled));
            }
        });
    })
}

fn add_all<'k>(sum: Val<'k>, values: Vec<Val<'k>>) -> Val<'k> {
    values.into_iter().fold(sum, |sum, value| sum + value)
}

/// Runs the closure for this workgroup's row; whole workgroups beyond the last row do nothing.
fn each_row<'k>(k: &'k Builder, rows: Val<'k>, body: impl FnOnce(Val<'k>)) {
    let row = k.group_index();
    k.when(row.lt_u(rows), || body(row));
}
