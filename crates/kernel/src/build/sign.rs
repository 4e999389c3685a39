//! What is known of floats' signs while a kernel is written: formulas that hold on one side of zero only may be shorter there,
//! with the same bits.

use crate::eval;
use crate::ir::{BinaryOp, CompareOp, Op, UnaryOp, Value};
use crate::types::Scalar;

/// On which sides of zero a float may be. Zeros of either sign and NaN are on none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Sides {
    pub below: bool,
    pub above: bool,
}

impl Sides {
    /// Nothing is known.
    pub const BOTH: Sides = Sides { below: true, above: true };
    const ABOVE: Sides = Sides { below: false, above: true };

    /// Of an operation's result; `of` says it of its operands. Of quotients nothing is known: a zero of either sign may divide.
    pub fn of_result(op: &Op, scalar: Scalar, of: impl Fn(Value) -> Sides) -> Sides {
        if !scalar.is_float() {
            return Sides::BOTH;
        }
        match *op {
            Op::Const(bits) => Sides::of_constant(scalar, bits),
            Op::Unary(UnaryOp::Abs | UnaryOp::Sqrt, _) => Sides::ABOVE,
            Op::Unary(UnaryOp::Neg, a) => of(a).swapped(),
            Op::Narrow(_, a) => of(a),
            Op::Binary(BinaryOp::Mul, a, b) if a == b => Sides::ABOVE,
            Op::Binary(BinaryOp::Mul, a, b) => of(a).times(of(b)),
            Op::Binary(BinaryOp::Add, a, b) | Op::Select(_, a, b) => of(a).or(of(b)),
            Op::Binary(BinaryOp::Sub, a, b) => of(a).or(of(b).swapped()),
            // A NaN on either side wins.
            Op::Binary(BinaryOp::Min, a, b) => {
                Sides { below: of(a).or(of(b)).below, above: of(a).above && of(b).above }
            }
            Op::Binary(BinaryOp::Max, a, b) => {
                Sides { below: of(a).below && of(b).below, above: of(a).or(of(b)).above }
            }
            _ => Sides::BOTH,
        }
    }

    fn of_constant(scalar: Scalar, bits: u64) -> Sides {
        let less = |a, b| eval::compare(CompareOp::Lt, scalar, a, b) != 0;
        Sides { below: less(bits, 0), above: less(0, bits) }
    }

    fn swapped(self) -> Sides {
        Sides { below: self.above, above: self.below }
    }

    fn or(self, other: Sides) -> Sides {
        Sides { below: self.below || other.below, above: self.above || other.above }
    }

    fn times(self, other: Sides) -> Sides {
        Sides {
            below: self.below && other.above || self.above && other.below,
            above: self.below && other.below || self.above && other.above,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::build::{Builder, Val};
    use crate::{Elem, Kernel};

    /// Whether what is made of a loaded number is known not to be positive.
    fn never_positive(write: impl for<'k> FnOnce(&'k Builder, Val<'k>) -> Val<'k>) -> bool {
        let mut known = false;
        let kernel = Kernel::build("sign", [1, 1, 1], |k| {
            let (x, out) = (k.input("x", Elem::F32), k.output("out", Elem::F32));
            let value = write(k, x.load(0));
            known = value.is_never_positive();
            out.store(0, value);
        });
        kernel.expect("the kernel is well formed");
        known
    }

    #[test]
    fn a_negated_distance_is_never_positive() {
        assert!(never_positive(|_, x| -x.abs()));
        assert!(never_positive(|_, x| (-x.abs()).narrow(Elem::F16)));
        assert!(!never_positive(|_, x| x.abs()));
        assert!(!never_positive(|_, x| -x));
        assert!(!never_positive(|_, x| x));
    }

    #[test]
    fn signs_go_through_products_sums_and_choices() {
        assert!(never_positive(|_, x| x * x * -0.5));
        assert!(never_positive(|_, x| -(x * x) - x.abs()));
        assert!(never_positive(|_, x| -(x.abs() + 1.0).sqrt()));
        assert!(never_positive(|k, x| x.lt(1.0).select(k.f32(-0.0), -x.abs())));
        assert!(never_positive(|_, x| x.min(0.0)));
        assert!(never_positive(|_, x| (-x.abs()).max(-1.0)));
        assert!(!never_positive(|_, x| x.max(-1.0)));
        assert!(!never_positive(|_, x| (-x.abs()).max(x)));
        assert!(!never_positive(|_, x| x * x * 0.5));
        assert!(!never_positive(|_, x| -x.abs() / 0.0));
        assert!(!never_positive(|_, x| -x.abs() / x.sqrt()));
        assert!(!never_positive(|_, x| x * -0.5));
        assert!(!never_positive(|_, x| 1.0 - x.abs()));
        assert!(!never_positive(|k, x| x.lt(1.0).select(k.f32(1.0), -x.abs())));
    }

    #[test]
    fn the_exponential_of_what_is_never_positive_has_the_same_bits() {
        let kernel = Kernel::build("both", [1, 1, 1], |k| {
            let (x, out) = (k.input("x", Elem::F32), k.output("out", Elem::F32));
            let i = k.group_id(0);
            let x = x.load(i);
            out.store(i * 2, x.exp());
            out.store(i * 2 + 1, (-x.abs()).exp());
        });
        let steps = (0x8000_0000..=0xff80_0000u32)
            .step_by(65_521)
            .chain(0xc280_0000..0xc280_2000)
            .chain(0xc2d0_0000..0xc2d2_0000);
        let x: Vec<f32> = steps.chain([0xff80_0000, 0xffc0_0000]).map(f32::from_bits).collect();
        let mut memories = [crate::interpret::Memory::of(&x), crate::interpret::Memory::zeros(8 * x.len())];
        let launch = crate::interpret::Launch { groups: [x.len() as u32, 1, 1], ..Default::default() };
        crate::interpret::run(&kernel.expect("the kernel is well formed"), &launch, &mut memories)
            .expect("nothing is wrong");
        for (x, pair) in x.iter().zip(memories[1].to_vec::<f32>().chunks(2)) {
            assert!(pair[0].to_bits() == pair[1].to_bits() || pair.iter().all(|y| y.is_nan()), "of {x}: {pair:?}");
        }
    }
}
