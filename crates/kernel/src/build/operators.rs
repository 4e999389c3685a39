//! `+`, `-`, `*` and the rest on values. Integer division, remainder and right shift are signed; the unsigned ones are methods.

use std::ops;

use super::value::{BITS, INT, NUMBER};
use super::{Operand, Val};
use crate::ir::{BinaryOp, UnaryOp};

macro_rules! operators {
    ($($trait:ident $method:ident $kinds:ident |$is_float:ident| $op:expr;)*) => {$(
        impl<'k, R: Operand<'k>> ops::$trait<R> for Val<'k> {
            type Output = Val<'k>;
            #[track_caller]
            fn $method(self, other: R) -> Val<'k> {
                let $is_float = self.is_float();
                self.binary($op, other, $kinds)
            }
        }
        operators!(@literal $trait $method i32);
        operators!(@literal $trait $method f32);
    )*};
    (@literal $trait:ident $method:ident $t:ty) => {
        impl<'k> ops::$trait<Val<'k>> for $t {
            type Output = Val<'k>;
            #[track_caller]
            fn $method(self, other: Val<'k>) -> Val<'k> {
                ops::$trait::$method(self.into_val(other.k, other.ty()), other)
            }
        }
    };
}

operators! {
    Add add NUMBER |_float| BinaryOp::Add;
    Sub sub NUMBER |_float| BinaryOp::Sub;
    Mul mul NUMBER |_float| BinaryOp::Mul;
    Div div NUMBER |float| if float { BinaryOp::Div } else { BinaryOp::DivS };
    Rem rem INT |_float| BinaryOp::RemS;
    BitAnd bitand BITS |_float| BinaryOp::And;
    BitOr bitor BITS |_float| BinaryOp::Or;
    BitXor bitxor BITS |_float| BinaryOp::Xor;
    Shl shl INT |_float| BinaryOp::Shl;
    Shr shr INT |_float| BinaryOp::ShrS;
}

impl<'k> ops::Neg for Val<'k> {
    type Output = Val<'k>;
    #[track_caller]
    fn neg(self) -> Val<'k> {
        self.unary(UnaryOp::Neg, NUMBER)
    }
}

impl<'k> ops::Not for Val<'k> {
    type Output = Val<'k>;
    #[track_caller]
    fn not(self) -> Val<'k> {
        self.unary(UnaryOp::Not, BITS)
    }
}
