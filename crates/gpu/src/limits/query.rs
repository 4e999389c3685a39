//! Reading [`Limits`] from a driver: its properties, the features it has, and those that opening the device switches
//! on.

use std::ffi::{CStr, CString};

use ash::vk;

use super::{
    ComponentType, CooperativeMatrix2, CooperativeShape, FlexibleShape, FloatControls, Independence, Limits,
    MatrixScope,
};
use crate::calls::InstanceCalls;
use crate::error::Result;
use crate::extensions::{self, Bfloat16Features, CooperativeMatrix2Features, CooperativeMatrix2Properties};

/// The extensions this crate makes use of where a device has them.
const OPTIONAL: [&CStr; 6] = [
    ash::ext::shader_atomic_float::NAME,
    ash::khr::workgroup_memory_explicit_layout::NAME,
    ash::khr::cooperative_matrix::NAME,
    ash::nv::shader_sm_builtins::NAME,
    extensions::SHADER_BFLOAT16,
    extensions::COOPERATIVE_MATRIX2,
];

/// The feature structs of a device: what it has or, after [`Features::wanted`], what is switched on.
#[derive(Default)]
pub(crate) struct Features {
    core: vk::PhysicalDeviceFeatures,
    v11: vk::PhysicalDeviceVulkan11Features<'static>,
    v12: vk::PhysicalDeviceVulkan12Features<'static>,
    v13: vk::PhysicalDeviceVulkan13Features<'static>,
    atomic_float: vk::PhysicalDeviceShaderAtomicFloatFeaturesEXT<'static>,
    explicit_layout: vk::PhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR<'static>,
    cooperative: vk::PhysicalDeviceCooperativeMatrixFeaturesKHR<'static>,
    bfloat16: Bfloat16Features,
    cooperative2: CooperativeMatrix2Features,
    extensions: Vec<&'static CStr>,
}

impl Features {
    /// The features among those the device has that this crate uses.
    pub(crate) fn wanted(calls: &InstanceCalls, device: vk::PhysicalDevice) -> Result<Self> {
        let found = calls.device_extensions(device)?;
        let mut has = Features { extensions: optional(&found), ..Features::default() };
        let mut chain = vk::PhysicalDeviceFeatures2::default()
            .push_next(&mut has.v11)
            .push_next(&mut has.v12)
            .push_next(&mut has.v13);
        if has.extensions.contains(&ash::ext::shader_atomic_float::NAME) {
            chain = chain.push_next(&mut has.atomic_float);
        }
        if has.extensions.contains(&ash::khr::workgroup_memory_explicit_layout::NAME) {
            chain = chain.push_next(&mut has.explicit_layout);
        }
        if has.extensions.contains(&ash::khr::cooperative_matrix::NAME) {
            chain = chain.push_next(&mut has.cooperative);
        }
        if has.extensions.contains(&extensions::SHADER_BFLOAT16) {
            chain = chain.push_next(&mut has.bfloat16);
        }
        if has.extensions.contains(&extensions::COOPERATIVE_MATRIX2) {
            chain = chain.push_next(&mut has.cooperative2);
        }
        calls.features(device, &mut chain);
        has.core = chain.features;
        Ok(has.only_used())
    }

    /// The baseline features that are missing, by their Vulkan names.
    pub(crate) fn missing(&self) -> Vec<&'static str> {
        let baseline = [
            ("shaderInt64", self.core.shader_int64),
            ("synchronization2", self.v13.synchronization2),
            ("maintenance4", self.v13.maintenance4),
            ("timelineSemaphore", self.v12.timeline_semaphore),
            ("bufferDeviceAddress", self.v12.buffer_device_address),
            ("scalarBlockLayout", self.v12.scalar_block_layout),
            ("vulkanMemoryModel", self.v12.vulkan_memory_model),
            ("vulkanMemoryModelDeviceScope", self.v12.vulkan_memory_model_device_scope),
        ];
        let missing = baseline.into_iter().filter(|(_, has)| *has == vk::FALSE);
        missing.map(|(name, _)| name).collect()
    }

    /// The extensions to enable.
    pub(crate) fn extensions(&self) -> Vec<*const std::ffi::c_char> {
        self.extensions.iter().map(|name| name.as_ptr()).collect()
    }

    /// Hands `create` a device description that switches these features on.
    pub(crate) fn enable<T>(
        &mut self,
        info: vk::DeviceCreateInfo<'_>,
        create: impl FnOnce(&vk::DeviceCreateInfo<'_>) -> T,
    ) -> T {
        let mut info = info
            .enabled_features(&self.core)
            .push_next(&mut self.v11)
            .push_next(&mut self.v12)
            .push_next(&mut self.v13);
        if self.extensions.contains(&ash::ext::shader_atomic_float::NAME) {
            info = info.push_next(&mut self.atomic_float);
        }
        if self.extensions.contains(&ash::khr::workgroup_memory_explicit_layout::NAME) {
            info = info.push_next(&mut self.explicit_layout);
        }
        if self.extensions.contains(&ash::khr::cooperative_matrix::NAME) {
            info = info.push_next(&mut self.cooperative);
        }
        if self.extensions.contains(&extensions::SHADER_BFLOAT16) {
            info = info.push_next(&mut self.bfloat16);
        }
        if self.extensions.contains(&extensions::COOPERATIVE_MATRIX2) {
            info = info.push_next(&mut self.cooperative2);
        }
        create(&info)
    }

    /// A copy, unlinked from any chain, that keeps only what this crate has a use for.
    fn only_used(self) -> Self {
        let core = vk::PhysicalDeviceFeatures {
            shader_int64: self.core.shader_int64,
            shader_int16: self.core.shader_int16,
            shader_float64: self.core.shader_float64,
            ..Default::default()
        };
        let v11 = vk::PhysicalDeviceVulkan11Features {
            storage_buffer16_bit_access: self.v11.storage_buffer16_bit_access,
            ..Default::default()
        };
        Features {
            core,
            v11,
            v12: used_of_12(&self.v12),
            v13: used_of_13(&self.v13),
            atomic_float: vk::PhysicalDeviceShaderAtomicFloatFeaturesEXT {
                shader_buffer_float32_atomics: self.atomic_float.shader_buffer_float32_atomics,
                shader_buffer_float32_atomic_add: self.atomic_float.shader_buffer_float32_atomic_add,
                shader_shared_float32_atomics: self.atomic_float.shader_shared_float32_atomics,
                shader_shared_float32_atomic_add: self.atomic_float.shader_shared_float32_atomic_add,
                ..Default::default()
            },
            explicit_layout: vk::PhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR {
                p_next: std::ptr::null_mut(),
                ..self.explicit_layout
            },
            cooperative: vk::PhysicalDeviceCooperativeMatrixFeaturesKHR {
                cooperative_matrix: self.cooperative.cooperative_matrix,
                ..Default::default()
            },
            bfloat16: self.bfloat16.unlinked(),
            cooperative2: self.cooperative2.unlinked(),
            extensions: self.extensions,
        }
    }
}

fn used_of_12(has: &vk::PhysicalDeviceVulkan12Features<'_>) -> vk::PhysicalDeviceVulkan12Features<'static> {
    vk::PhysicalDeviceVulkan12Features {
        storage_buffer8_bit_access: has.storage_buffer8_bit_access,
        shader_buffer_int64_atomics: has.shader_buffer_int64_atomics,
        shader_shared_int64_atomics: has.shader_shared_int64_atomics,
        shader_float16: has.shader_float16,
        shader_int8: has.shader_int8,
        scalar_block_layout: has.scalar_block_layout,
        shader_subgroup_extended_types: has.shader_subgroup_extended_types,
        timeline_semaphore: has.timeline_semaphore,
        buffer_device_address: has.buffer_device_address,
        vulkan_memory_model: has.vulkan_memory_model,
        vulkan_memory_model_device_scope: has.vulkan_memory_model_device_scope,
        ..Default::default()
    }
}

fn used_of_13(has: &vk::PhysicalDeviceVulkan13Features<'_>) -> vk::PhysicalDeviceVulkan13Features<'static> {
    vk::PhysicalDeviceVulkan13Features {
        subgroup_size_control: has.subgroup_size_control,
        compute_full_subgroups: has.compute_full_subgroups,
        synchronization2: has.synchronization2,
        shader_zero_initialize_workgroup_memory: has.shader_zero_initialize_workgroup_memory,
        shader_integer_dot_product: has.shader_integer_dot_product,
        maintenance4: has.maintenance4,
        ..Default::default()
    }
}

fn optional(found: &[CString]) -> Vec<&'static CStr> {
    let has = |name: &&CStr| found.iter().any(|extension| extension.as_c_str() == *name);
    OPTIONAL.into_iter().filter(has).collect()
}

/// The property structs of a device.
#[derive(Default)]
pub(crate) struct Properties {
    pub(crate) core: vk::PhysicalDeviceProperties,
    pub(crate) v11: vk::PhysicalDeviceVulkan11Properties<'static>,
    pub(crate) v12: vk::PhysicalDeviceVulkan12Properties<'static>,
    v13: vk::PhysicalDeviceVulkan13Properties<'static>,
    multiprocessors: vk::PhysicalDeviceShaderSMBuiltinsPropertiesNV<'static>,
    cooperative2: CooperativeMatrix2Properties,
}

impl Properties {
    /// What the device says about itself. `features` tells which extension structs it understands.
    pub(crate) fn query(calls: &InstanceCalls, device: vk::PhysicalDevice, features: &Features) -> Self {
        let mut found = Properties::default();
        let mut chain = vk::PhysicalDeviceProperties2::default()
            .push_next(&mut found.v11)
            .push_next(&mut found.v12)
            .push_next(&mut found.v13);
        if features.extensions.contains(&extensions::COOPERATIVE_MATRIX2) {
            chain = chain.push_next(&mut found.cooperative2);
        }
        if features.extensions.contains(&ash::nv::shader_sm_builtins::NAME) {
            chain = chain.push_next(&mut found.multiprocessors);
        }
        calls.properties(device, &mut chain);
        found.core = chain.properties;
        found
    }

    /// Puts numbers and features together.
    pub(crate) fn limits(
        &self,
        calls: &InstanceCalls,
        device: vk::PhysicalDevice,
        features: &Features,
        timestamp_bits: u32,
    ) -> Result<Limits> {
        let mut limits = Limits::default();
        self.sizes(&mut limits);
        self.subgroups(&mut limits, features);
        self.float_controls(&mut limits);
        arithmetic(&mut limits, features, &self.v13);
        limits.has_timestamps = timestamp_bits > 0 && limits.timestamp_period_ns > 0.0;
        if features.cooperative.cooperative_matrix != vk::FALSE {
            let shapes = calls.cooperative_matrices(device)?;
            limits.cooperative_matrix = shapes.iter().map(shape).collect();
            limits.cooperative_matrix2 = self.cooperative2(calls, device, features)?;
        }
        Ok(limits)
    }

    fn sizes(&self, limits: &mut Limits) {
        let core = &self.core.limits;
        limits.max_workgroup_invocations = core.max_compute_work_group_invocations;
        limits.max_workgroup_size = core.max_compute_work_group_size;
        limits.max_workgroups = core.max_compute_work_group_count;
        limits.multiprocessors = self.multiprocessors.shader_sm_count;
        limits.shared_memory_bytes = core.max_compute_shared_memory_size;
        limits.push_constant_bytes = core.max_push_constants_size;
        limits.max_allocation_bytes = self.v11.max_memory_allocation_size;
        limits.timestamp_period_ns = core.timestamp_period;
    }

    fn subgroups(&self, limits: &mut Limits, features: &Features) {
        let compute = vk::ShaderStageFlags::COMPUTE;
        limits.subgroup_size = self.v11.subgroup_size;
        limits.min_subgroup_size = self.v13.min_subgroup_size;
        limits.max_subgroup_size = self.v13.max_subgroup_size;
        limits.subgroup_size_control =
            features.v13.subgroup_size_control != vk::FALSE && self.v13.required_subgroup_size_stages.contains(compute);
        let operations = if self.v11.subgroup_supported_stages.contains(compute) {
            self.v11.subgroup_supported_operations
        } else {
            vk::SubgroupFeatureFlags::empty()
        };
        limits.subgroup_basic = operations.contains(vk::SubgroupFeatureFlags::BASIC);
        limits.subgroup_vote = operations.contains(vk::SubgroupFeatureFlags::VOTE);
        limits.subgroup_arithmetic = operations.contains(vk::SubgroupFeatureFlags::ARITHMETIC);
        limits.subgroup_ballot = operations.contains(vk::SubgroupFeatureFlags::BALLOT);
        limits.subgroup_shuffle = operations.contains(vk::SubgroupFeatureFlags::SHUFFLE);
        limits.subgroup_shuffle_relative = operations.contains(vk::SubgroupFeatureFlags::SHUFFLE_RELATIVE);
        limits.subgroup_clustered = operations.contains(vk::SubgroupFeatureFlags::CLUSTERED);
        limits.subgroup_extended_types = features.v12.shader_subgroup_extended_types != vk::FALSE;
    }

    fn float_controls(&self, limits: &mut Limits) {
        let v12 = &self.v12;
        let controls = |rte, preserve, flush, special| FloatControls {
            round_to_nearest_even: rte != vk::FALSE,
            denormal_preserve: preserve != vk::FALSE,
            denormal_flush: flush != vk::FALSE,
            signed_zero_inf_nan_preserve: special != vk::FALSE,
        };
        limits.float_controls16 = controls(
            v12.shader_rounding_mode_rte_float16,
            v12.shader_denorm_preserve_float16,
            v12.shader_denorm_flush_to_zero_float16,
            v12.shader_signed_zero_inf_nan_preserve_float16,
        );
        limits.float_controls32 = controls(
            v12.shader_rounding_mode_rte_float32,
            v12.shader_denorm_preserve_float32,
            v12.shader_denorm_flush_to_zero_float32,
            v12.shader_signed_zero_inf_nan_preserve_float32,
        );
        limits.float_controls64 = controls(
            v12.shader_rounding_mode_rte_float64,
            v12.shader_denorm_preserve_float64,
            v12.shader_denorm_flush_to_zero_float64,
            v12.shader_signed_zero_inf_nan_preserve_float64,
        );
        limits.denormal_independence = independence(v12.denorm_behavior_independence);
        limits.rounding_independence = independence(v12.rounding_mode_independence);
    }

    fn cooperative2(
        &self,
        calls: &InstanceCalls,
        device: vk::PhysicalDevice,
        features: &Features,
    ) -> Result<Option<CooperativeMatrix2>> {
        if !features.extensions.contains(&extensions::COOPERATIVE_MATRIX2) {
            return Ok(None);
        }
        let has = &features.cooperative2;
        Ok(Some(CooperativeMatrix2 {
            workgroup_scope: has.workgroup_scope != vk::FALSE,
            flexible_dimensions: has.flexible_dimensions != vk::FALSE,
            reductions: has.reductions != vk::FALSE,
            conversions: has.conversions != vk::FALSE,
            per_element_operations: has.per_element_operations != vk::FALSE,
            tensor_addressing: has.tensor_addressing != vk::FALSE,
            block_loads: has.block_loads != vk::FALSE,
            max_workgroup_invocations: self.cooperative2.workgroup_scope_max_workgroup_size,
            max_dimension: self.cooperative2.flexible_dimensions_max_dimension,
            reserved_shared_memory: self.cooperative2.workgroup_scope_reserved_shared_memory,
            shapes: calls.flexible_dimensions(device)?.iter().map(flexible_shape).collect(),
        }))
    }
}

fn arithmetic(limits: &mut Limits, features: &Features, v13: &vk::PhysicalDeviceVulkan13Properties<'_>) {
    limits.int8 = features.v12.shader_int8 != vk::FALSE;
    limits.int16 = features.core.shader_int16 != vk::FALSE;
    limits.int64 = features.core.shader_int64 != vk::FALSE;
    limits.float16 = features.v12.shader_float16 != vk::FALSE;
    limits.float64 = features.core.shader_float64 != vk::FALSE;
    limits.storage8 = features.v12.storage_buffer8_bit_access != vk::FALSE;
    limits.storage16 = features.v11.storage_buffer16_bit_access != vk::FALSE;
    limits.bfloat16 = features.bfloat16.shader_bfloat16_type != vk::FALSE;
    limits.bfloat16_matrix = features.bfloat16.shader_bfloat16_cooperative_matrix != vk::FALSE;
    limits.integer_dot = features.v13.shader_integer_dot_product != vk::FALSE;
    limits.integer_dot_accelerated = v13.integer_dot_product4x8_bit_packed_signed_accelerated != vk::FALSE;
    limits.atomic_float32_add = features.atomic_float.shader_buffer_float32_atomic_add != vk::FALSE;
    limits.atomic_float32_add_shared = features.atomic_float.shader_shared_float32_atomic_add != vk::FALSE;
    limits.atomic_int64 = features.v12.shader_buffer_int64_atomics != vk::FALSE;
    limits.workgroup_explicit_layout = features.explicit_layout.workgroup_memory_explicit_layout != vk::FALSE;
    limits.vulkan_memory_model = features.v12.vulkan_memory_model != vk::FALSE;
    limits.vulkan_memory_model_device_scope = features.v12.vulkan_memory_model_device_scope != vk::FALSE;
}

fn shape(found: &vk::CooperativeMatrixPropertiesKHR<'_>) -> CooperativeShape {
    CooperativeShape {
        m: found.m_size,
        n: found.n_size,
        k: found.k_size,
        a: component(found.a_type.as_raw()),
        b: component(found.b_type.as_raw()),
        c: component(found.c_type.as_raw()),
        result: component(found.result_type.as_raw()),
        scope: scope(found.scope.as_raw()),
        saturating: found.saturating_accumulation != vk::FALSE,
    }
}

fn flexible_shape(found: &extensions::FlexibleDimensionsProperties) -> FlexibleShape {
    FlexibleShape {
        m_granularity: found.m_granularity,
        n_granularity: found.n_granularity,
        k_granularity: found.k_granularity,
        a: component(found.a_type),
        b: component(found.b_type),
        c: component(found.c_type),
        result: component(found.result_type),
        scope: scope(found.scope),
        saturating: found.saturating_accumulation != vk::FALSE,
        workgroup_invocations: found.workgroup_invocations,
    }
}

fn component(raw: i32) -> ComponentType {
    match raw {
        0 => ComponentType::F16,
        1 => ComponentType::F32,
        2 => ComponentType::F64,
        3 => ComponentType::I8,
        4 => ComponentType::I16,
        5 => ComponentType::I32,
        6 => ComponentType::I64,
        7 => ComponentType::U8,
        8 => ComponentType::U16,
        9 => ComponentType::U32,
        10 => ComponentType::U64,
        extensions::COMPONENT_BFLOAT16 => ComponentType::Bf16,
        other => ComponentType::Other(other),
    }
}

fn scope(raw: i32) -> MatrixScope {
    match vk::ScopeKHR::from_raw(raw) {
        vk::ScopeKHR::SUBGROUP => MatrixScope::Subgroup,
        vk::ScopeKHR::WORKGROUP => MatrixScope::Workgroup,
        other => MatrixScope::Other(other.as_raw()),
    }
}

fn independence(found: vk::ShaderFloatControlsIndependence) -> Independence {
    match found {
        vk::ShaderFloatControlsIndependence::ALL => Independence::All,
        vk::ShaderFloatControlsIndependence::TYPE_32_ONLY => Independence::Only32,
        _ => Independence::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn component_numbers_are_those_of_the_registry() {
        assert_eq!(component(vk::ComponentTypeKHR::FLOAT16.as_raw()), ComponentType::F16);
        assert_eq!(component(vk::ComponentTypeKHR::SINT8.as_raw()), ComponentType::I8);
        assert_eq!(component(vk::ComponentTypeKHR::UINT64.as_raw()), ComponentType::U64);
        assert_eq!(component(1_000_141_000), ComponentType::Bf16);
        assert_eq!(component(99), ComponentType::Other(99));
    }

    #[test]
    fn a_device_without_features_misses_the_whole_baseline() {
        let missing = Features::default().missing();
        assert!(missing.contains(&"bufferDeviceAddress") && missing.contains(&"timelineSemaphore"));
    }
}
