//! One compute pipeline from one SPIR-V module.

use ash::vk;

use super::PipelineRequest;
use crate::calls::Calls;
use crate::error::{Error, Result};
use crate::limits::Limits;

const SPIRV_MAGIC: u32 = 0x0723_0203;

/// Builds the pipeline through the cache, and says whether the cache had it.
pub(crate) fn build(
    calls: &Calls,
    limits: &Limits,
    layout: vk::PipelineLayout,
    cache: vk::PipelineCache,
    request: &PipelineRequest,
) -> Result<(vk::Pipeline, bool)> {
    check(limits, request)?;
    let info = vk::ShaderModuleCreateInfo::default().code(&request.spirv);
    // SAFETY: the words begin as SPIR-V does. Whether the rest is valid is the emitter's promise.
    let module = unsafe { calls.create_shader_module(&info) }.map_err(|error| named(error, request))?;
    let mut size = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default();
    let mut stage =
        vk::PipelineShaderStageCreateInfo::default().stage(vk::ShaderStageFlags::COMPUTE).module(module).name(c"main");
    if let Some(wanted) = request.subgroup_size {
        size = size.required_subgroup_size(wanted);
        stage = stage.push_next(&mut size);
    }
    let mut feedback = vk::PipelineCreationFeedback::default();
    let mut ask = vk::PipelineCreationFeedbackCreateInfo::default().pipeline_creation_feedback(&mut feedback);
    let info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout).push_next(&mut ask);
    // SAFETY: module, layout and cache are alive; the cache is internally synchronised.
    let built = unsafe { calls.create_compute_pipeline(cache, &info) };
    // SAFETY: a module is needed only while pipelines are created from it.
    unsafe { calls.destroy_shader_module(module) };
    let pipeline = built.map_err(|error| named(error, request))?;
    let hit =
        vk::PipelineCreationFeedbackFlags::VALID | vk::PipelineCreationFeedbackFlags::APPLICATION_PIPELINE_CACHE_HIT;
    Ok((pipeline, feedback.flags.contains(hit)))
}

/// Refuses what a driver would not answer with an error but with a crash.
fn check(limits: &Limits, request: &PipelineRequest) -> Result<()> {
    let refuse = |reason: String| Err(Error::Pipeline { kernel: request.name.clone(), reason });
    match request.spirv.first() {
        Some(&SPIRV_MAGIC) if request.spirv.len() > 5 => {}
        Some(&word) => return refuse(format!("its SPIR-V of {} words begins with {word:#010x}", request.spirv.len())),
        None => return refuse("its SPIR-V is empty".into()),
    }
    let Some(size) = request.subgroup_size else { return Ok(()) };
    if !limits.subgroup_size_control {
        return refuse(format!("it wants subgroups of {size} and the device does not let pipelines choose"));
    }
    if !size.is_power_of_two() || size < limits.min_subgroup_size || size > limits.max_subgroup_size {
        let (min, max) = (limits.min_subgroup_size, limits.max_subgroup_size);
        return refuse(format!("it wants subgroups of {size} and the device has {min} to {max}"));
    }
    Ok(())
}

/// The driver's refusal with the kernel's name; loss and lack of memory stay what they are.
fn named(error: Error, request: &PipelineRequest) -> Error {
    match error {
        Error::Vulkan { call, code } => Error::Pipeline {
            kernel: request.name.clone(),
            reason: format!("{call} returned {} ({code})", vk::Result::from_raw(code)),
        },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(spirv: &[u32], subgroup_size: Option<u32>) -> PipelineRequest {
        PipelineRequest { name: "k".into(), spirv: spirv.into(), subgroup_size }
    }

    fn limits() -> Limits {
        Limits { min_subgroup_size: 8, max_subgroup_size: 32, subgroup_size_control: true, ..Limits::default() }
    }

    #[test]
    fn words_that_are_no_spirv_are_refused() {
        let message = check(&limits(), &request(&[1, 2, 3], None)).expect_err("no magic number").to_string();
        assert_eq!(message, "[pipeline] kernel k must compile but its SPIR-V of 3 words begins with 0x00000001.");
        assert!(check(&limits(), &request(&[], None)).is_err());
        assert!(check(&limits(), &request(&[SPIRV_MAGIC], None)).is_err());
    }

    #[test]
    fn a_subgroup_size_must_be_one_the_device_has() {
        let words = [SPIRV_MAGIC, 0x0001_0600, 0, 1, 0, 0];
        assert!(check(&limits(), &request(&words, Some(16))).is_ok());
        assert!(check(&limits(), &request(&words, Some(64))).is_err());
        assert!(check(&limits(), &request(&words, Some(12))).is_err());
        assert!(check(&Limits::default(), &request(&words, Some(32))).is_err());
    }
}
