//! The end of a product that was made in parts or is not the whole result: adds the parts of K, scales, adds `beta · c`, rounds.

use pumice_kernel::{Access, Kernel, Result, Type, Val};

use crate::dtype::Dtype;
use crate::kernels::matmul::indices::{Indices, Strided, batch_sizes};
use crate::op::Key;

/// Invocations of a workgroup.
pub(super) const WORKGROUP: u32 = 256;

/// What distinguishes the kernels.
#[derive(Clone, Debug)]
pub(super) struct Form {
    /// What the parts are: F32, or C64.
    pub parts: Dtype,
    pub out: Dtype,
    /// Whether there is a c.
    pub with_c: bool,
    pub rank: usize,
    pub long: bool,
}

impl Form {
    pub fn key(&self) -> Key {
        let mut key = Key::default();
        key.text("matmul_combine");
        key.ints(&[self.parts as u32, self.out as u32, self.with_c as u32, self.rank as u32, self.long as u32]);
        key
    }
}

/// The kernel: buffers parts, c (if there is one), out; then the number of results, the number of parts as I32, and for c: rows and
/// columns as I32, the axes in front, c's [`Strided`] (from row to row, from column to column), alpha, beta.
pub(super) fn kernel(form: &Form) -> Result<Kernel> {
    Kernel::build("matmul_combine", [WORKGROUP, 1, 1], |k| {
        let at = Indices { k, long: form.long };
        let parts = k.input("parts", form.parts.elem());
        let c = form.with_c.then(|| k.input("c", form.out.elem()));
        let out = k.buffer("out", form.out.elem(), Access::Write, form.out.size() as u32);
        let (count, number) = (at.arg("count"), k.arg_i32("number"));
        let addend = c.map(|c| (c, [k.arg_i32("m"), k.arg_i32("n")], batch_sizes(k, form.rank)));
        let addend = addend.map(|(c, size, sizes)| (c, size, sizes, Strided::args(&at, "c", form.rank)));
        let addend =
            addend.map(|(c, size, sizes, of_c)| (c, size, sizes, of_c, [k.arg_f32("alpha"), k.arg_f32("beta")]));
        let index = at.of(k.group_index()) * (WORKGROUP as i32) + at.of(k.local_index());
        k.when(index.lt_u(count), || {
            let first = parts.load(index);
            let sum = k.for_(1, number, 1, first, |part, sum| sum + parts.load(at.of(part) * count + index));
            let Some((c, [m, n], sizes, of_c, [alpha, beta])) = &addend else { return out.store(index, sum) };
            let (m, n) = (at.of(*m), at.of(*n));
            let (row, column) = (index.div_u(n).rem_u(m), index.rem_u(n));
            let batch = index.div_u(m * n).to(pumice_kernel::Scalar::I32);
            let base = of_c.base(&at, batch, sizes);
            let term = c.load(base + row * of_c.strides[0] + column * of_c.strides[1]);
            out.store(index, scaled(sum, *alpha) + scaled(term, *beta));
        });
    })
}

/// The value times a factor; zero, whatever the value, if the factor is.
fn scaled<'k>(value: Val<'k>, factor: Val<'k>) -> Val<'k> {
    let k = value.builder();
    let by = if let Type::Vector(_, lanes) = value.ty() { factor.splat(lanes) } else { factor };
    factor.eq(0.0).select(k.constant(value.ty(), 0), value * by)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_well_formed() {
        for (parts, out) in [(Dtype::F32, Dtype::F16), (Dtype::C64, Dtype::C64)] {
            for (with_c, long) in [(false, false), (true, true)] {
                let form = Form { parts, out, with_c, rank: 2, long };
                kernel(&form).unwrap_or_else(|error| panic!("{form:?}: {error}"));
            }
        }
    }
}
