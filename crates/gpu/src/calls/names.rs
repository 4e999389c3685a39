//! The Vulkan calls this crate makes, by name: what the counters count, what a fault plan can name, and which calls
//! create an object that another one must destroy.

macro_rules! calls {
    ($($variant:ident = $name:literal,)*) => {
        /// A Vulkan command this crate uses.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(usize)]
        #[allow(missing_docs)]
        pub(crate) enum Call { $($variant),* }

        impl Call {
            pub(crate) const ALL: &'static [Call] = &[$(Call::$variant),*];

            pub(crate) fn name(self) -> &'static str {
                match self { $(Call::$variant => $name),* }
            }
        }
    };
}

calls! {
    LoadLibrary = "dlopen libvulkan",
    CreateInstance = "vkCreateInstance",
    DestroyInstance = "vkDestroyInstance",
    EnumerateInstanceVersion = "vkEnumerateInstanceVersion",
    EnumerateInstanceLayers = "vkEnumerateInstanceLayerProperties",
    CreateMessenger = "vkCreateDebugUtilsMessengerEXT",
    DestroyMessenger = "vkDestroyDebugUtilsMessengerEXT",
    EnumeratePhysicalDevices = "vkEnumeratePhysicalDevices",
    EnumerateDeviceExtensions = "vkEnumerateDeviceExtensionProperties",
    GetProperties = "vkGetPhysicalDeviceProperties2",
    GetFeatures = "vkGetPhysicalDeviceFeatures2",
    GetMemoryProperties = "vkGetPhysicalDeviceMemoryProperties2",
    GetQueueFamilies = "vkGetPhysicalDeviceQueueFamilyProperties2",
    GetCooperativeMatrixProperties = "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR",
    GetFlexibleDimensions = "vkGetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV",
    CreateDevice = "vkCreateDevice",
    DestroyDevice = "vkDestroyDevice",
    GetDeviceQueue = "vkGetDeviceQueue",
    DeviceWaitIdle = "vkDeviceWaitIdle",
    QueueSubmit = "vkQueueSubmit2",
    CreateBuffer = "vkCreateBuffer",
    DestroyBuffer = "vkDestroyBuffer",
    GetBufferRequirements = "vkGetBufferMemoryRequirements",
    GetDescribedBufferRequirements = "vkGetDeviceBufferMemoryRequirements",
    GetBufferAddress = "vkGetBufferDeviceAddress",
    AllocateMemory = "vkAllocateMemory",
    FreeMemory = "vkFreeMemory",
    BindBufferMemory = "vkBindBufferMemory",
    MapMemory = "vkMapMemory",
    CreateShaderModule = "vkCreateShaderModule",
    DestroyShaderModule = "vkDestroyShaderModule",
    CreatePipelineLayout = "vkCreatePipelineLayout",
    DestroyPipelineLayout = "vkDestroyPipelineLayout",
    CreatePipelineCache = "vkCreatePipelineCache",
    DestroyPipelineCache = "vkDestroyPipelineCache",
    GetPipelineCacheData = "vkGetPipelineCacheData",
    MergePipelineCaches = "vkMergePipelineCaches",
    CreateComputePipelines = "vkCreateComputePipelines",
    DestroyPipeline = "vkDestroyPipeline",
    CreateSemaphore = "vkCreateSemaphore",
    DestroySemaphore = "vkDestroySemaphore",
    GetSemaphoreCounter = "vkGetSemaphoreCounterValue",
    WaitSemaphores = "vkWaitSemaphores",
    CreateCommandPool = "vkCreateCommandPool",
    DestroyCommandPool = "vkDestroyCommandPool",
    ResetCommandPool = "vkResetCommandPool",
    AllocateCommandBuffers = "vkAllocateCommandBuffers",
    BeginCommandBuffer = "vkBeginCommandBuffer",
    EndCommandBuffer = "vkEndCommandBuffer",
    CreateQueryPool = "vkCreateQueryPool",
    DestroyQueryPool = "vkDestroyQueryPool",
    GetQueryPoolResults = "vkGetQueryPoolResults",
    CmdBindPipeline = "vkCmdBindPipeline",
    CmdPushConstants = "vkCmdPushConstants",
    CmdDispatch = "vkCmdDispatch",
    CmdPipelineBarrier = "vkCmdPipelineBarrier2",
    CmdCopyBuffer = "vkCmdCopyBuffer",
    CmdFillBuffer = "vkCmdFillBuffer",
    CmdResetQueryPool = "vkCmdResetQueryPool",
    CmdWriteTimestamp = "vkCmdWriteTimestamp2",
}

/// What exists because of a successful call until its counterpart is made.
pub(crate) const OBJECTS: &[(&str, Call, Call)] = &[
    ("VkBuffer", Call::CreateBuffer, Call::DestroyBuffer),
    ("VkDeviceMemory", Call::AllocateMemory, Call::FreeMemory),
    ("VkShaderModule", Call::CreateShaderModule, Call::DestroyShaderModule),
    ("VkPipelineLayout", Call::CreatePipelineLayout, Call::DestroyPipelineLayout),
    ("VkPipelineCache", Call::CreatePipelineCache, Call::DestroyPipelineCache),
    ("VkPipeline", Call::CreateComputePipelines, Call::DestroyPipeline),
    ("VkSemaphore", Call::CreateSemaphore, Call::DestroySemaphore),
    ("VkCommandPool", Call::CreateCommandPool, Call::DestroyCommandPool),
    ("VkQueryPool", Call::CreateQueryPool, Call::DestroyQueryPool),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_call_has_its_own_name() {
        let mut names: Vec<_> = Call::ALL.iter().map(|call| call.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Call::ALL.len());
    }

    #[test]
    fn calls_are_numbered_in_the_order_of_the_table() {
        assert!(Call::ALL.iter().enumerate().all(|(at, call)| *call as usize == at));
    }
}
