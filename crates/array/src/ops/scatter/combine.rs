//! What happens where an update meets an element.

use pumice_kernel::Val;

use crate::dtype::Dtype;
use crate::typed::Typed;

/// How an update and the element it meets become one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Combine {
    Replace,
    Add,
    Multiply,
    Max,
    Min,
}

impl Combine {
    pub const ALL: [Combine; 5] = [Combine::Replace, Combine::Add, Combine::Multiply, Combine::Max, Combine::Min];

    /// The name of the scatter that combines so.
    pub fn name(self) -> &'static str {
        match self {
            Combine::Replace => "scatter",
            Combine::Add => "scatter_add",
            Combine::Multiply => "scatter_prod",
            Combine::Max => "scatter_max",
            Combine::Min => "scatter_min",
        }
    }

    /// One line that says what that scatter gives.
    pub fn doc(self) -> &'static str {
        match self {
            Combine::Replace => "The array with parts replaced.",
            Combine::Add => "The array with updates added to parts.",
            Combine::Multiply => "The array with parts multiplied by updates.",
            Combine::Max => "The larger of updates and parts.",
            Combine::Min => "The smaller of updates and parts.",
        }
    }

    /// What becomes of an element and an update, in a kernel.
    pub fn typed<'k>(self, old: Typed<'k>, update: Typed<'k>) -> Typed<'k> {
        match self {
            Combine::Replace => update,
            Combine::Add => old + update,
            Combine::Multiply => old * update,
            Combine::Max => choose(greater(old, update), old, update),
            Combine::Min => choose(greater(update, old), old, update),
        }
    }
}

fn choose<'k>(condition: Val<'k>, yes: Typed<'k>, no: Typed<'k>) -> Typed<'k> {
    let val = match yes.dtype {
        Dtype::C64 => {
            let parts = [0, 1].map(|i| condition.select(yes.val.lane(i), no.val.lane(i)));
            condition.builder().vector(&parts)
        }
        _ => condition.select(yes.val, no.val),
    };
    Typed::new(val, yes.dtype)
}

/// Whether one is greater, as MLX orders them: complex numbers by their real parts first; NaN is not.
fn greater<'k>(a: Typed<'k>, b: Typed<'k>) -> Val<'k> {
    match a.dtype {
        Dtype::Bool => a.val & !b.val,
        Dtype::C64 => {
            let (a, b) = (a.complex(), b.complex());
            a.re.gt(b.re) | (a.re.eq(b.re) & a.im.gt(b.im))
        }
        dtype if dtype.is_unsigned() => a.val.gt_u(b.val),
        _ => a.val.gt(b.val),
    }
}
