//! A device's limits as the kernel language's target.

use pumice_gpu::{ComponentType, CooperativeShape, FlexibleShape, Limits, MatrixScope as GpuScope};
use pumice_kernel::target::{Denormals, FloatControls, MatrixShape};
use pumice_kernel::{Elem, MatrixScope, Target};

/// What the limits claim; `canary` corrects what they do not say.
pub(super) fn of(limits: &Limits) -> Target {
    let subgroups = limits.subgroup_basic && limits.subgroup_shuffle && limits.subgroup_ballot && limits.subgroup_vote;
    let (f32_controls, f64_controls) = (limits.float_controls32, limits.float_controls64);
    Target {
        subgroup_size: if subgroups { limits.subgroup_size } else { 1 },
        subgroup_arithmetic: limits.subgroup_arithmetic,
        multiprocessors: limits.multiprocessors,
        shared_bytes: limits.shared_memory_bytes,
        max_invocations: limits.max_workgroup_invocations,
        max_workgroup: limits.max_workgroup_size,
        int8: limits.int8,
        int16: limits.int16,
        float16: limits.float16,
        float64: limits.float64,
        storage8: limits.storage8,
        storage16: limits.storage16,
        atomic_f32_add: limits.atomic_float32_add,
        atomic_i64: limits.atomic_int64,
        integer_dot: limits.integer_dot,
        fused_fma: true,
        signed_zeros: true,
        positive_nan: false,
        denormals: Denormals::KEPT,
        float_controls: FloatControls {
            denorm_preserve_32: f32_controls.denormal_preserve,
            denorm_preserve_64: f64_controls.denormal_preserve,
            round_to_even_32: f32_controls.round_to_nearest_even,
            round_to_even_64: f64_controls.round_to_nearest_even,
            keep_nan_32: f32_controls.signed_zero_inf_nan_preserve,
            keep_nan_64: f64_controls.signed_zero_inf_nan_preserve,
        },
        matrices: matrices(limits),
        tensor_addressing: limits.cooperative_matrix2.as_ref().is_some_and(|m| m.tensor_addressing),
    }
}

fn matrices(limits: &Limits) -> Vec<MatrixShape> {
    let fixed = limits.cooperative_matrix.iter().filter_map(fixed_shape);
    let flexible = limits.cooperative_matrix2.iter().flat_map(|m| &m.shapes).filter_map(flexible_shape);
    fixed.chain(flexible).collect()
}

fn fixed_shape(s: &CooperativeShape) -> Option<MatrixShape> {
    let usable = s.scope == GpuScope::Subgroup && s.a == s.b && s.c == s.result && !s.saturating;
    let (factor, accumulator) = (elem(s.a)?, elem(s.c)?);
    usable.then_some(MatrixShape {
        scope: MatrixScope::Subgroup,
        m: s.m,
        n: s.n,
        k: s.k,
        factor,
        accumulator,
        invocations: 0,
    })
}

fn flexible_shape(s: &FlexibleShape) -> Option<MatrixShape> {
    let usable = s.scope == GpuScope::Workgroup && s.a == s.b && s.c == s.result && !s.saturating;
    let (factor, accumulator) = (elem(s.a)?, elem(s.c)?);
    usable.then_some(MatrixShape {
        scope: MatrixScope::Workgroup,
        m: s.m_granularity,
        n: s.n_granularity,
        k: s.k_granularity,
        factor,
        accumulator,
        invocations: s.workgroup_invocations,
    })
}

fn elem(component: ComponentType) -> Option<Elem> {
    match component {
        ComponentType::F16 => Some(Elem::F16),
        ComponentType::Bf16 => Some(Elem::BF16),
        ComponentType::F32 => Some(Elem::F32),
        ComponentType::I8 => Some(Elem::I8),
        ComponentType::U8 => Some(Elem::U8),
        ComponentType::I32 => Some(Elem::I32),
        _ => None,
    }
}
