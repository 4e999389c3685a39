//! Arithmetic that drivers do not get right, as functions of the module.
//!
//! Division and square root of drivers are off by an ulp or two, some multiply and add for an fma, f32 to f16 is elided or
//! flushes denormals, lavapipe leaves f64 beyond 2^31 unrounded, and 64-bit products have no high half. Each of these is written once, in the kernel language itself: a
//! small kernel whose scalar arguments are the operands and whose one store is the result. Emission turns it into a SPIR-V
//! function of the module that uses it, and the interpreter can run it like any other kernel, which is how it is tested.
//!
//! Inside such a kernel `Div`, `Sqrt`, `Fma`, comparisons and conversions between floats mean the driver's instructions:
//! seeds to be corrected, what the target promises to be fused, and numbers that are never denormal.

mod division;
mod fma;
mod half;
mod product;
mod reciprocal_root;
mod rounding;
mod square_root;
#[cfg(test)]
mod tests;
mod whole;
mod width;

use std::sync::OnceLock;

use rspirv::spirv::{FunctionControl, GlslStd450Op, Op as Code};

use super::emitter::Emitter;
use super::words::{Id, push};
use crate::build::{Builder, Val};
use crate::ir::Kernel;
use crate::types::{Elem, Scalar, Type};

/// A function of the module. The variants of one operation differ in what they need of the device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Exact {
    /// By the device's fma, and by integers where exponents are extreme.
    DivF32Fused,
    /// By integers.
    DivF32,
    /// By the device's fma, and by integers where exponents are extreme.
    SqrtF32Fused,
    /// By integers.
    SqrtF32,
    /// One over the root, by the device's fma, and by integers where exponents are extreme.
    ReciprocalRootF32Fused,
    /// Through 64-bit floats.
    FmaF32Wide,
    /// By integers.
    FmaF32,
    /// By integers.
    FmaF64,
    TruncF64,
    RoundEvenF64,
    EncodeF16,
    /// By a product that may pass through denormals.
    DecodeF16Denormal,
    DecodeF16,
    EncodeBF16,
    MulHighU64,
    MulHighS64,
    /// f32 to f64, denormals kept.
    Widen,
    /// f64 to f32, denormals kept.
    Narrow,
}

const COUNT: usize = Exact::Narrow as usize + 1;

/// The functions a module has so far.
#[derive(Default)]
pub(super) struct Library([Option<Id>; COUNT]);

impl Exact {
    /// The kernel that defines it, built once per process.
    pub fn kernel(self) -> &'static Kernel {
        static KERNELS: [OnceLock<Kernel>; COUNT] = [const { OnceLock::new() }; COUNT];
        KERNELS[self as usize].get_or_init(|| self.build())
    }

    fn build(self) -> Kernel {
        let name = format!("{self:?}");
        let write = match self {
            Exact::DivF32Fused => division::fused,
            Exact::DivF32 => division::by_integers,
            Exact::SqrtF32Fused => square_root::fused,
            Exact::SqrtF32 => square_root::by_integers,
            Exact::ReciprocalRootF32Fused => reciprocal_root::fused,
            Exact::FmaF32Wide => fma::through_f64,
            Exact::FmaF32 => fma::f32_by_integers,
            Exact::FmaF64 => fma::f64_by_integers,
            Exact::TruncF64 => whole::trunc,
            Exact::RoundEvenF64 => whole::round_even,
            Exact::EncodeF16 => half::encode_f16,
            Exact::DecodeF16Denormal => half::decode_f16_by_product,
            Exact::DecodeF16 => half::decode_f16,
            Exact::EncodeBF16 => half::encode_bf16,
            Exact::MulHighU64 => product::high_unsigned,
            Exact::MulHighS64 => product::high_signed,
            Exact::Widen => width::widen,
            Exact::Narrow => width::narrow,
        };
        Kernel::build(&name, [1, 1, 1], write).expect("exact arithmetic is well formed")
    }
}

/// Writes a kernel of `N` operands and one result.
fn function<'k, const N: usize>(k: &'k Builder, operand: Scalar, body: impl FnOnce([Val<'k>; N]) -> Val<'k>) {
    const NAMES: [&str; 3] = ["a", "b", "c"];
    let operands = std::array::from_fn(|i| k.arg(NAMES[i], operand));
    let result = body(operands);
    let elem = match result.ty() {
        Type::F32 => Elem::F32,
        Type::F64 => Elem::F64,
        Type::I32 => Elem::U32,
        _ => Elem::U64,
    };
    k.output("result", elem).store(0, result);
}

impl Emitter<'_> {
    /// Calls an exact function on each component.
    pub fn call_each<const N: usize>(&mut self, exact: Exact, from: Type, to: Type, values: [Id; N]) -> Id {
        let function = self.function(exact);
        let scalar = Type::Scalar(to.scalar().expect("exact arithmetic works on scalars and vectors"));
        let ty = self.ty(scalar);
        self.each_component(from, to, values, |e, components| {
            let operands = [&[function], &components[..]].concat();
            e.raw(Code::FunctionCall, ty, &operands)
        })
    }

    /// The function's id; written on first use.
    fn function(&mut self, exact: Exact) -> Id {
        if let Some(id) = self.asm.library.0[exact as usize] {
            return id;
        }
        let kernel = exact.kernel();
        let (id, words) = Emitter::new(kernel, self.target, self.asm).write_function();
        self.asm.library.0[exact as usize] = Some(id);
        self.asm.append_function(&words);
        id
    }

    fn write_function(mut self) -> (Id, Vec<u32>) {
        let result = self.kernel.buffers[0].elem.compute();
        let operands: Vec<Type> = self.kernel.scalars.iter().map(|p| Type::Scalar(p.scalar)).collect();
        let types: Vec<Id> = [result].iter().chain(&operands).map(|&ty| self.ty(ty)).collect();
        let signature = self.asm.declare(Code::TypeFunction, &types);
        let id = self.asm.fresh();
        push(&mut self.code, Code::Function, &[types[0], id, FunctionControl::INLINE.bits(), signature]);
        let parameters = types[1..].iter().map(|&ty| self.raw(Code::FunctionParameter, ty, &[])).collect();
        let first = self.asm.fresh();
        self.label(first);
        self.memory.parameters = Some(parameters);
        self.block(&self.kernel.body).expect("exact arithmetic needs nothing that a device may lack");
        self.effect(Code::FunctionEnd, &[]);
        (id, self.code)
    }

    /// Whether this is the body of an exact function, where arithmetic is the driver's.
    pub fn is_function(&self) -> bool {
        self.memory.parameters.is_some()
    }

    pub fn div_f32(&mut self, ty: Type, a: Id, b: Id) -> Id {
        match self.target.fused_fma {
            _ if self.is_function() => self.float(Code::FDiv, ty, &[a, b]),
            true => self.call_each(Exact::DivF32Fused, ty, ty, [a, b]),
            false => self.call_each(Exact::DivF32, ty, ty, [a, b]),
        }
    }

    pub fn sqrt_f32(&mut self, ty: Type, a: Id) -> Id {
        match self.target.fused_fma {
            _ if self.is_function() => self.glsl(GlslStd450Op::Sqrt, ty, &[a]),
            true => self.call_each(Exact::SqrtF32Fused, ty, ty, [a]),
            false => self.call_each(Exact::SqrtF32, ty, ty, [a]),
        }
    }

    /// One over the square root, if there is a shorter way than by the two.
    pub fn reciprocal_root_f32(&mut self, ty: Type, a: Id) -> Option<Id> {
        let shorter = self.target.fused_fma && !self.is_function();
        shorter.then(|| self.call_each(Exact::ReciprocalRootF32Fused, ty, ty, [a]))
    }

    pub fn fma(&mut self, ty: Type, operands: [Id; 3]) -> Id {
        if self.target.fused_fma {
            return self.exact_glsl(GlslStd450Op::Fma, ty, &operands);
        }
        let exact = match ty.scalar() {
            Some(Scalar::F64) => Exact::FmaF64,
            _ if self.target.float64 => Exact::FmaF32Wide,
            _ => Exact::FmaF32,
        };
        self.call_each(exact, ty, ty, operands)
    }

    /// f32 to f64 or back.
    pub fn convert_width(&mut self, from: Type, to: Type, a: Id) -> Id {
        if self.is_function() || self.target.denormals.convert {
            return self.op(Code::FConvert, to, &[a]);
        }
        let exact = if from.scalar() == Some(Scalar::F32) { Exact::Widen } else { Exact::Narrow };
        self.call_each(exact, from, to, [a])
    }

    pub fn encode(&mut self, elem: Elem, ty: Type, a: Id) -> Id {
        let exact = if elem == Elem::F16 { Exact::EncodeF16 } else { Exact::EncodeBF16 };
        self.call_each(exact, ty.with_scalar(Scalar::F32), ty, [a])
    }

    pub fn decode(&mut self, elem: Elem, ty: Type, a: Id) -> Id {
        let int = ty.with_scalar(Scalar::I32);
        if elem == Elem::BF16 {
            let by = self.constant(int, 16);
            let bits = self.op(Code::ShiftLeftLogical, int, &[a, by]);
            return self.op(Code::Bitcast, ty, &[bits]);
        }
        let exact = match self.target.float_controls.denorm_preserve_32 {
            true => Exact::DecodeF16Denormal,
            false => Exact::DecodeF16,
        };
        self.call_each(exact, int, ty, [a])
    }

    /// The value as it would come back from storage.
    pub fn narrow(&mut self, elem: Elem, ty: Type, a: Id) -> Id {
        match elem {
            Elem::F16 | Elem::BF16 => {
                let bits = self.encode(elem, ty.with_scalar(Scalar::I32), a);
                self.decode(elem, ty, bits)
            }
            Elem::U8 | Elem::U16 => {
                let mask = self.constant(ty, (1 << (8 * elem.bytes())) - 1);
                self.op(Code::BitwiseAnd, ty, &[a, mask])
            }
            Elem::I8 | Elem::I16 => {
                let by = self.constant(ty, 32 - 8 * elem.bytes() as u64);
                let up = self.op(Code::ShiftLeftLogical, ty, &[a, by]);
                self.op(Code::ShiftRightArithmetic, ty, &[up, by])
            }
            _ => a,
        }
    }
}
