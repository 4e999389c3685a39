//! What a device can do, as plain data.
//!
//! Kernels never ask who made the device, only what stands here. The numbers are the driver's; a feature is true only
//! where the device has it *and* this crate switches it on when it opens the device.

mod query;

pub(crate) use query::{Features, Properties};

/// The sizes and features of a device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    /// Invocations per subgroup unless a pipeline asks for another size.
    pub subgroup_size: u32,
    /// The smallest subgroup a pipeline may ask for.
    pub min_subgroup_size: u32,
    /// The largest subgroup a pipeline may ask for.
    pub max_subgroup_size: u32,
    /// Whether a pipeline may ask for a subgroup size at all.
    pub subgroup_size_control: bool,
    /// Invocations per workgroup.
    pub max_workgroup_invocations: u32,
    /// Invocations per workgroup in each dimension.
    pub max_workgroup_size: [u32; 3],
    /// Workgroups per launch in each dimension; some drivers drop the rest without a word.
    pub max_workgroups: [u32; 3],
    /// Multiprocessors, each of which runs workgroups of its own; 0 where the device does not tell.
    pub multiprocessors: u32,
    /// Shared memory per workgroup.
    pub shared_memory_bytes: u32,
    /// Push constants; kernels use 8 bytes of them.
    pub push_constant_bytes: u32,
    /// The largest allocation the driver promises. Larger ones often succeed and are tried.
    pub max_allocation_bytes: u64,
    /// Nanoseconds per tick of a GPU timestamp.
    pub timestamp_period_ns: f32,
    /// Whether the compute queue writes timestamps.
    pub has_timestamps: bool,

    /// 8-bit integers in arithmetic.
    pub int8: bool,
    /// 16-bit integers in arithmetic.
    pub int16: bool,
    /// 64-bit integers in arithmetic.
    pub int64: bool,
    /// f16 in arithmetic.
    pub float16: bool,
    /// f64 in arithmetic.
    pub float64: bool,
    /// 8-bit values in buffers.
    pub storage8: bool,
    /// 16-bit values in buffers.
    pub storage16: bool,
    /// The bf16 type.
    pub bfloat16: bool,
    /// bf16 in cooperative matrices.
    pub bfloat16_matrix: bool,
    /// Integer dot products as instructions (they exist on every Vulkan 1.3 device, but not always in hardware).
    pub integer_dot: bool,
    /// Whether the packed 4×8-bit dot product runs in hardware.
    pub integer_dot_accelerated: bool,
    /// Atomic f32 addition in buffers.
    pub atomic_float32_add: bool,
    /// Atomic f32 addition in shared memory.
    pub atomic_float32_add_shared: bool,
    /// Atomic 64-bit integers in buffers.
    pub atomic_int64: bool,
    /// Shared memory with explicit layout: one block seen as several types.
    pub workgroup_explicit_layout: bool,

    /// Election and other basics of subgroups.
    pub subgroup_basic: bool,
    /// Votes over a subgroup.
    pub subgroup_vote: bool,
    /// Sums, scans, minima, maxima over a subgroup.
    pub subgroup_arithmetic: bool,
    /// Ballots and broadcasts.
    pub subgroup_ballot: bool,
    /// Shuffles by any index.
    pub subgroup_shuffle: bool,
    /// Shuffles up and down.
    pub subgroup_shuffle_relative: bool,
    /// Reductions over parts of a subgroup.
    pub subgroup_clustered: bool,
    /// Subgroup operations on 8-, 16- and 64-bit types.
    pub subgroup_extended_types: bool,

    /// Float controls for 16-bit floats.
    pub float_controls16: FloatControls,
    /// Float controls for 32-bit floats.
    pub float_controls32: FloatControls,
    /// Float controls for 64-bit floats.
    pub float_controls64: FloatControls,
    /// Whether denormal modes of different widths may differ.
    pub denormal_independence: Independence,
    /// Whether rounding modes of different widths may differ.
    pub rounding_independence: Independence,

    /// The Vulkan memory model.
    pub vulkan_memory_model: bool,
    /// The Vulkan memory model at device scope.
    pub vulkan_memory_model_device_scope: bool,

    /// The shapes of `VK_KHR_cooperative_matrix`.
    pub cooperative_matrix: Vec<CooperativeShape>,
    /// `VK_NV_cooperative_matrix2`, where present.
    pub cooperative_matrix2: Option<CooperativeMatrix2>,
}

/// What a kernel may declare about its floating-point arithmetic at one width.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FloatControls {
    /// Rounding to nearest, ties to even.
    pub round_to_nearest_even: bool,
    /// Denormals are kept.
    pub denormal_preserve: bool,
    /// Denormals are flushed to zero.
    pub denormal_flush: bool,
    /// Signed zeros, infinities and NaN are kept.
    pub signed_zero_inf_nan_preserve: bool,
}

/// For which widths a float control may be chosen separately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Independence {
    /// 32-bit floats may differ from all others.
    Only32,
    /// Each width may differ.
    All,
    /// All widths share one choice.
    #[default]
    None,
}

/// The type of a cooperative matrix's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum ComponentType {
    F16,
    Bf16,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    /// A type this crate does not know, with Vulkan's number.
    Other(i32),
}

/// Who holds a cooperative matrix together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MatrixScope {
    /// One subgroup.
    Subgroup,
    /// The whole workgroup.
    Workgroup,
    /// A scope this crate does not use, with Vulkan's number.
    Other(i32),
}

/// One multiplication `result = a · b + c` that the device can do, `a` being m×k, `b` k×n, `c` and `result` m×n.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct CooperativeShape {
    pub m: u32,
    pub n: u32,
    pub k: u32,
    pub a: ComponentType,
    pub b: ComponentType,
    pub c: ComponentType,
    pub result: ComponentType,
    pub scope: MatrixScope,
    /// Whether integer accumulation saturates.
    pub saturating: bool,
}

/// `VK_NV_cooperative_matrix2`: matrices held by a workgroup, in multiples of a granularity, loaded through tensor
/// layouts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CooperativeMatrix2 {
    /// Matrices may belong to a workgroup.
    pub workgroup_scope: bool,
    /// Sizes are multiples of a granularity rather than fixed.
    pub flexible_dimensions: bool,
    /// Reductions over rows and columns.
    pub reductions: bool,
    /// Conversions between uses and types.
    pub conversions: bool,
    /// A function applied to each element.
    pub per_element_operations: bool,
    /// Loads and stores through tensor layouts and views.
    pub tensor_addressing: bool,
    /// Loads with a decode function per block.
    pub block_loads: bool,
    /// Invocations of the largest workgroup that may hold a matrix.
    pub max_workgroup_invocations: u32,
    /// The largest size in any dimension.
    pub max_dimension: u32,
    /// Shared memory the driver keeps for itself when a workgroup holds matrices.
    pub reserved_shared_memory: u32,
    /// What can be multiplied.
    pub shapes: Vec<FlexibleShape>,
}

/// One multiplication of `VK_NV_cooperative_matrix2`; sizes are multiples of the granularities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct FlexibleShape {
    pub m_granularity: u32,
    pub n_granularity: u32,
    pub k_granularity: u32,
    pub a: ComponentType,
    pub b: ComponentType,
    pub c: ComponentType,
    pub result: ComponentType,
    pub scope: MatrixScope,
    /// Whether integer accumulation saturates.
    pub saturating: bool,
    /// The workgroup size this holds for; 0 at subgroup scope.
    pub workgroup_invocations: u32,
}
