//! What a device can do, as data: the only thing emission knows about it.

use crate::types::{Elem, MatrixScope};

/// What kernels are emitted for. A kernel that needs what is missing is emitted another way where there is one (no narrow
/// storage, no subgroups, no integer dot product, no float atomics), and refused with an error where there is none.
#[derive(Clone, PartialEq, Debug)]
pub struct Target {
    /// Invocations in a subgroup, a power of two. 1 means that subgroup operations are not used at all: every subgroup
    /// is a single invocation, and kernels, which assume no size, stay right.
    pub subgroup_size: u32,
    /// Whether subgroup reductions and scans of integers are native (shuffles are used otherwise).
    pub subgroup_arithmetic: bool,
    /// Multiprocessors, each of which runs workgroups of its own; 0 where the device does not tell. Emission does not ask.
    pub multiprocessors: u32,
    /// Bytes of shared memory a workgroup may have.
    pub shared_bytes: u32,
    /// Invocations a workgroup may have.
    pub max_invocations: u32,
    /// Invocations a workgroup may have along each axis.
    pub max_workgroup: [u32; 3],
    /// 8-bit integers in shaders.
    pub int8: bool,
    /// 16-bit integers in shaders.
    pub int16: bool,
    /// 16-bit floats in shaders.
    pub float16: bool,
    /// 64-bit floats in shaders.
    pub float64: bool,
    /// 8-bit loads and stores in buffers.
    pub storage8: bool,
    /// 16-bit loads and stores in buffers.
    pub storage16: bool,
    /// Atomic addition of f32 in buffers.
    pub atomic_f32_add: bool,
    /// 64-bit integer atomics in buffers.
    pub atomic_i64: bool,
    /// The packed 4 × 8-bit integer dot product.
    pub integer_dot: bool,
    /// Whether the driver's fma rounds once; some software drivers multiply and add. Emulated otherwise.
    pub fused_fma: bool,
    /// Whether the driver keeps the signs of zeros in sums with a constant one. Such constants are hidden from it otherwise.
    pub signed_zeros: bool,
    /// Whether a difference that is no number has no sign: comparisons by differences are shorter then.
    pub positive_nan: bool,
    /// What the driver does with f32 denormals where no declaration helps.
    pub denormals: Denormals,
    /// What can be declared about floating-point arithmetic.
    pub float_controls: FloatControls,
    /// Cooperative matrix shapes.
    pub matrices: Vec<MatrixShape>,
    /// Whether tiles can be loaded into workgroup-scope matrices of any size (VK_NV_cooperative_matrix2).
    pub tensor_addressing: bool,
}

/// Where a driver keeps f32 denormals rather than taking them for zeros. Sums and products keep them everywhere (on NVIDIA
/// because RoundingModeRTE is declared).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Denormals {
    /// In comparisons; made up for otherwise.
    pub compare: bool,
    /// In conversions to and from f64; made up for otherwise.
    pub convert: bool,
    /// In fma. Not made up for: it would cost every product its speed. Denormal operands count as zero there, and a denormal
    /// result becomes zero.
    pub fma: bool,
}

impl Denormals {
    /// Kept everywhere.
    pub const KEPT: Denormals = Denormals { compare: true, convert: true, fma: true };
    /// Flushed wherever a driver is known to.
    pub const FLUSHED: Denormals = Denormals { compare: false, convert: false, fma: false };
}

/// Which of SPIR-V's float controls a device offers, for f32 and f64.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct FloatControls {
    pub denorm_preserve_32: bool,
    pub denorm_preserve_64: bool,
    pub round_to_even_32: bool,
    pub round_to_even_64: bool,
    pub keep_nan_32: bool,
    pub keep_nan_64: bool,
}

/// A cooperative matrix product a device offers: `(m × k) * (k × n) + (m × n)`. For workgroup scope, m, n and k are the
/// granularity: any multiple will do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct MatrixShape {
    pub scope: MatrixScope,
    pub m: u32,
    pub n: u32,
    pub k: u32,
    /// Component type of both factors.
    pub factor: Elem,
    /// Component type of accumulator and result.
    pub accumulator: Elem,
    /// For workgroup scope: how many invocations the workgroup must have. 0 otherwise.
    pub invocations: u32,
}

impl Target {
    /// The least a Vulkan 1.3 device offers: no narrow types, no subgroups, no matrices, 16 KiB of shared memory.
    pub fn minimal() -> Target {
        Target {
            subgroup_size: 1,
            subgroup_arithmetic: false,
            multiprocessors: 0,
            shared_bytes: 16 << 10,
            max_invocations: 128,
            max_workgroup: [128, 128, 64],
            int8: false,
            int16: false,
            float16: false,
            float64: false,
            storage8: false,
            storage16: false,
            atomic_f32_add: false,
            atomic_i64: false,
            integer_dot: false,
            fused_fma: true,
            signed_zeros: true,
            positive_nan: false,
            denormals: Denormals::KEPT,
            float_controls: FloatControls {
                denorm_preserve_32: false,
                denorm_preserve_64: false,
                round_to_even_32: false,
                round_to_even_64: false,
                keep_nan_32: false,
                keep_nan_64: false,
            },
            matrices: Vec::new(),
            tensor_addressing: false,
        }
    }

    /// Everything the language can use, with 32 invocations in a subgroup: for looking at what is emitted.
    pub fn full() -> Target {
        let shape = |factor, accumulator, k| MatrixShape {
            scope: MatrixScope::Subgroup,
            m: 16,
            n: 16,
            k,
            factor,
            accumulator,
            invocations: 0,
        };
        let group = |factor, invocations| MatrixShape {
            scope: MatrixScope::Workgroup,
            m: 32,
            n: 32,
            k: 16,
            factor,
            accumulator: Elem::F32,
            invocations,
        };
        Target {
            subgroup_size: 32,
            subgroup_arithmetic: true,
            multiprocessors: 0,
            shared_bytes: 48 << 10,
            max_invocations: 1024,
            max_workgroup: [1024, 1024, 64],
            int8: true,
            int16: true,
            float16: true,
            float64: true,
            storage8: true,
            storage16: true,
            atomic_f32_add: true,
            atomic_i64: true,
            integer_dot: true,
            fused_fma: true,
            signed_zeros: true,
            positive_nan: false,
            denormals: Denormals::KEPT,
            float_controls: FloatControls {
                denorm_preserve_32: true,
                denorm_preserve_64: true,
                round_to_even_32: true,
                round_to_even_64: true,
                keep_nan_32: true,
                keep_nan_64: true,
            },
            matrices: vec![
                shape(Elem::F16, Elem::F32, 16),
                shape(Elem::BF16, Elem::F32, 16),
                shape(Elem::I8, Elem::I32, 32),
                shape(Elem::U8, Elem::I32, 32),
                group(Elem::F16, 128),
                group(Elem::BF16, 128),
                group(Elem::F16, 256),
                group(Elem::BF16, 256),
            ],
            tensor_addressing: true,
        }
    }
}
