//! Vulkan structs that are newer than the headers of `ash` 0.38 (1.3.281), written by hand after the Vulkan registry:
//! `VK_KHR_shader_bfloat16` and `VK_NV_cooperative_matrix2`.

use std::ffi::{CStr, c_void};
use std::ptr;

use ash::vk;

/// `VK_KHR_shader_bfloat16`.
pub(crate) const SHADER_BFLOAT16: &CStr = c"VK_KHR_shader_bfloat16";
/// `VK_NV_cooperative_matrix2`.
pub(crate) const COOPERATIVE_MATRIX2: &CStr = c"VK_NV_cooperative_matrix2";

/// `VK_COMPONENT_TYPE_BFLOAT16_KHR`.
pub(crate) const COMPONENT_BFLOAT16: i32 = 1_000_141_000;

macro_rules! chained {
    ($($(#[$doc:meta])* $name:ident = $stype:literal { $($field:ident: $type:ty),* $(,)? })*) => { $(
        $(#[$doc])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $name {
            stype: vk::StructureType,
            next: *mut c_void,
            $(pub(crate) $field: $type),*
        }

        impl $name {
            /// A copy that is in no chain.
            #[allow(dead_code)]
            pub(crate) fn unlinked(&self) -> Self {
                $name { next: ptr::null_mut(), ..*self }
            }
        }

        impl Default for $name {
            fn default() -> Self {
                $name { stype: vk::StructureType::from_raw($stype), next: ptr::null_mut(), $($field: Default::default()),* }
            }
        }
    )* };
}

chained! {
    /// `VkPhysicalDeviceShaderBfloat16FeaturesKHR`.
    Bfloat16Features = 1_000_141_000 {
        shader_bfloat16_type: vk::Bool32,
        shader_bfloat16_dot_product: vk::Bool32,
        shader_bfloat16_cooperative_matrix: vk::Bool32,
    }

    /// `VkPhysicalDeviceCooperativeMatrix2FeaturesNV`.
    CooperativeMatrix2Features = 1_000_593_000 {
        workgroup_scope: vk::Bool32,
        flexible_dimensions: vk::Bool32,
        reductions: vk::Bool32,
        conversions: vk::Bool32,
        per_element_operations: vk::Bool32,
        tensor_addressing: vk::Bool32,
        block_loads: vk::Bool32,
    }

    /// `VkPhysicalDeviceCooperativeMatrix2PropertiesNV`.
    CooperativeMatrix2Properties = 1_000_593_002 {
        workgroup_scope_max_workgroup_size: u32,
        flexible_dimensions_max_dimension: u32,
        workgroup_scope_reserved_shared_memory: u32,
    }

    /// `VkCooperativeMatrixFlexibleDimensionsPropertiesNV`.
    FlexibleDimensionsProperties = 1_000_593_001 {
        m_granularity: u32,
        n_granularity: u32,
        k_granularity: u32,
        a_type: i32,
        b_type: i32,
        c_type: i32,
        result_type: i32,
        saturating_accumulation: vk::Bool32,
        scope: i32,
        workgroup_invocations: u32,
    }
}

// SAFETY: the layouts are those of the registry, and the registry allows each in the chain named here.
unsafe impl vk::ExtendsPhysicalDeviceFeatures2 for Bfloat16Features {}
// SAFETY: as above.
unsafe impl vk::ExtendsDeviceCreateInfo for Bfloat16Features {}
// SAFETY: as above.
unsafe impl vk::ExtendsPhysicalDeviceFeatures2 for CooperativeMatrix2Features {}
// SAFETY: as above.
unsafe impl vk::ExtendsDeviceCreateInfo for CooperativeMatrix2Features {}
// SAFETY: as above.
unsafe impl vk::ExtendsPhysicalDeviceProperties2 for CooperativeMatrix2Properties {}

type GetFlexibleDimensions =
    unsafe extern "system" fn(vk::PhysicalDevice, *mut u32, *mut FlexibleDimensionsProperties) -> vk::Result;

/// `vkGetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV`, where the loader has it.
pub(crate) struct FlexibleDimensions(Option<GetFlexibleDimensions>);

impl FlexibleDimensions {
    pub(crate) fn load(entry: &ash::Entry, instance: vk::Instance) -> Self {
        let name = c"vkGetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV";
        // SAFETY: the instance is alive; the name is the one of the signature it is cast to.
        let found = unsafe { entry.get_instance_proc_addr(instance, name.as_ptr()) };
        // SAFETY: a Vulkan function pointer of this name has this type; both are pointers that may be null.
        FlexibleDimensions(unsafe {
            std::mem::transmute::<vk::PFN_vkVoidFunction, Option<GetFlexibleDimensions>>(found)
        })
    }

    /// # Safety
    /// The physical device must belong to the instance and have the extension.
    pub(crate) unsafe fn get(
        &self,
        device: vk::PhysicalDevice,
    ) -> Result<Vec<FlexibleDimensionsProperties>, vk::Result> {
        let Some(get) = self.0 else { return Ok(Vec::new()) };
        let mut count = 0;
        // SAFETY: a null array asks for the count alone.
        unsafe { get(device, &mut count, ptr::null_mut()) }.result()?;
        let mut found = vec![FlexibleDimensionsProperties::default(); count as usize];
        // SAFETY: the array has room for `count` structs whose type fields are set.
        unsafe { get(device, &mut count, found.as_mut_ptr()) }.result()?;
        found.truncate(count as usize);
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_are_those_of_the_registry() {
        assert_eq!(size_of::<Bfloat16Features>(), 32);
        assert_eq!(size_of::<CooperativeMatrix2Features>(), 48);
        assert_eq!(size_of::<CooperativeMatrix2Properties>(), 32);
        assert_eq!(size_of::<FlexibleDimensionsProperties>(), 56);
    }
}
