//! What the elements of an array are, and what two of them together become.

use std::fmt;

use pumice_kernel::Elem;

/// MLX's fourteen element types, in MLX's order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[allow(missing_docs)] // the names say it
pub enum Dtype {
    Bool,
    U8,
    U16,
    U32,
    U64,
    I8,
    I16,
    I32,
    I64,
    F16,
    F32,
    F64,
    BF16,
    /// Two f32: real part, imaginary part.
    C64,
}

use Dtype::{BF16, Bool, C64, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};

impl Dtype {
    /// Every type, in MLX's order.
    pub const ALL: [Dtype; 14] = [Bool, U8, U16, U32, U64, I8, I16, I32, I64, F16, F32, F64, BF16, C64];

    /// Bytes of one element.
    pub fn size(self) -> usize {
        self.elem().bytes()
    }

    /// How the kernel language stores it.
    pub fn elem(self) -> Elem {
        match self {
            Bool => Elem::Bool,
            U8 => Elem::U8,
            U16 => Elem::U16,
            U32 => Elem::U32,
            U64 => Elem::U64,
            I8 => Elem::I8,
            I16 => Elem::I16,
            I32 => Elem::I32,
            I64 => Elem::I64,
            F16 => Elem::F16,
            F32 => Elem::F32,
            F64 => Elem::F64,
            BF16 => Elem::BF16,
            C64 => Elem::C64,
        }
    }

    /// MLX's name of it.
    pub fn name(self) -> &'static str {
        match self {
            Bool => "bool",
            U8 => "uint8",
            U16 => "uint16",
            U32 => "uint32",
            U64 => "uint64",
            I8 => "int8",
            I16 => "int16",
            I32 => "int32",
            I64 => "int64",
            F16 => "float16",
            F32 => "float32",
            F64 => "float64",
            BF16 => "bfloat16",
            C64 => "complex64",
        }
    }

    /// Whether it is one of the real floating-point types.
    pub fn is_floating(self) -> bool {
        matches!(self, F16 | F32 | F64 | BF16)
    }

    /// Whether it is floating or complex.
    pub fn is_inexact(self) -> bool {
        self.is_floating() || self == C64
    }

    /// Whether it is an integer; bool is none.
    pub fn is_integer(self) -> bool {
        self.is_signed() || self.is_unsigned()
    }

    /// Whether it is a signed integer.
    pub fn is_signed(self) -> bool {
        matches!(self, I8 | I16 | I32 | I64)
    }

    /// Whether it is an unsigned integer; bool is none.
    pub fn is_unsigned(self) -> bool {
        matches!(self, U8 | U16 | U32 | U64)
    }

    /// The type that an operation on both computes in.
    pub fn promote(self, other: Dtype) -> Dtype {
        let (a, b) = if self <= other { (self, other) } else { (other, self) };
        match (a, b) {
            _ if a == b => a,
            (_, C64) => C64,
            (F64, _) | (_, F64) => F64,
            (F16, BF16) => F32,
            (F32, _) | (_, F32) => F32,
            (_, F16 | BF16) => b,
            (Bool, _) => b,
            // Integers: two of one sign give the wider; mixed signs what holds both, beyond 64 bits a float.
            _ if a.is_signed() == b.is_signed() => b,
            (U64, _) => F32,
            _ => signed_holding(a, b),
        }
    }

    /// The floating type that functions of an integer or bool give: itself if it is inexact, otherwise float32.
    pub fn at_least_float(self) -> Dtype {
        if self.is_inexact() { self } else { F32 }
    }
}

/// The signed type that holds an unsigned type of up to 32 bits and a signed one.
fn signed_holding(unsigned: Dtype, signed: Dtype) -> Dtype {
    match (2 * unsigned.size()).max(signed.size()) {
        2 => I16,
        4 => I32,
        _ => I64,
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Rust types that are elements of arrays.
pub trait Element: bytemuck::Pod {
    /// The array's element type.
    const DTYPE: Dtype;
}

macro_rules! elements {
    ($($rust:ty => $dtype:ident),* $(,)?) => {$(
        impl Element for $rust {
            const DTYPE: Dtype = $dtype;
        }
    )*};
}
elements! {
    u8 => U8, u16 => U16, u32 => U32, u64 => U64, i8 => I8, i16 => I16, i32 => I32, i64 => I64,
    f32 => F32, f64 => F64, half::f16 => F16, half::bf16 => BF16, Complex64 => C64,
}

/// A complex number of two f32.
#[derive(Clone, Copy, PartialEq, Debug, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Complex64 {
    /// Real part.
    pub re: f32,
    /// Imaginary part.
    pub im: f32,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The wheel's table, by `(mx.zeros((1,), a) + mx.zeros((1,), b)).dtype` for every pair; a row per type in `ALL`'s order.
    const MLX: [[Dtype; 14]; 14] = [
        [Bool, U8, U16, U32, U64, I8, I16, I32, I64, F16, F32, F64, BF16, C64],
        [U8, U8, U16, U32, U64, I16, I16, I32, I64, F16, F32, F64, BF16, C64],
        [U16, U16, U16, U32, U64, I32, I32, I32, I64, F16, F32, F64, BF16, C64],
        [U32, U32, U32, U32, U64, I64, I64, I64, I64, F16, F32, F64, BF16, C64],
        [U64, U64, U64, U64, U64, F32, F32, F32, F32, F16, F32, F64, BF16, C64],
        [I8, I16, I32, I64, F32, I8, I16, I32, I64, F16, F32, F64, BF16, C64],
        [I16, I16, I32, I64, F32, I16, I16, I32, I64, F16, F32, F64, BF16, C64],
        [I32, I32, I32, I64, F32, I32, I32, I32, I64, F16, F32, F64, BF16, C64],
        [I64, I64, I64, I64, F32, I64, I64, I64, I64, F16, F32, F64, BF16, C64],
        [F16, F16, F16, F16, F16, F16, F16, F16, F16, F16, F32, F64, F32, C64],
        [F32, F32, F32, F32, F32, F32, F32, F32, F32, F32, F32, F64, F32, C64],
        [F64, F64, F64, F64, F64, F64, F64, F64, F64, F64, F64, F64, F64, C64],
        [BF16, BF16, BF16, BF16, BF16, BF16, BF16, BF16, BF16, F32, F32, F64, BF16, C64],
        [C64, C64, C64, C64, C64, C64, C64, C64, C64, C64, C64, C64, C64, C64],
    ];

    #[test]
    fn promotion_is_the_wheels() {
        for (i, a) in Dtype::ALL.into_iter().enumerate() {
            for (j, b) in Dtype::ALL.into_iter().enumerate() {
                assert_eq!(a.promote(b), MLX[i][j], "{a} and {b}");
            }
        }
    }
}
