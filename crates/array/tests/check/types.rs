//! Which of its types a case is checked with.

use std::hash::{DefaultHasher, Hash, Hasher};

use pumice::ops::catalogue::Case;
use pumice::{Device, Dtype};

use crate::rig;

/// A case that meets a device.
pub struct Met<'a> {
    pub op: &'static str,
    /// Its number among the op's cases.
    pub index: usize,
    pub case: &'a Case,
    pub device: Device,
}

/// The types a case is checked with on a device.
pub type Types = fn(&Met) -> Vec<Dtype>;

/// Every type on the CPU. A pipeline of every form and type of every op is more than a quick check can wait for: on the GPU it is
/// one type, another for each case.
pub fn every_type(met: &Met) -> Vec<Dtype> {
    if met.device == Device::CPU || rig::slow() { met.case.dtypes.to_vec() } else { one_type(met) }
}

/// Every type for an op's first case on the GPU as well.
pub fn every_type_at_first(met: &Met) -> Vec<Dtype> {
    if met.index == 0 { met.case.dtypes.to_vec() } else { every_type(met) }
}

/// The floats and complex numbers of a case that has derivatives.
pub fn smooth_types(met: &Met) -> Vec<Dtype> {
    let inexact = met.case.dtypes.iter().copied().filter(|dtype| met.case.differentiable && dtype.is_inexact());
    inexact.collect()
}

/// Floats that a case takes besides float32.
pub fn other_floats(met: &Met) -> Vec<Dtype> {
    let all = met.case.dtypes;
    let others = all.iter().copied().filter(|&dtype| dtype.is_floating() && dtype != Dtype::F32);
    if all.contains(&Dtype::F32) { others.collect() } else { Vec::new() }
}

/// One type that the device has, by the names of op and case.
pub fn one_type(met: &Met) -> Vec<Dtype> {
    let types: Vec<Dtype> = met.case.dtypes.iter().copied().filter(|&dtype| dtype != Dtype::F64).collect();
    let mut hasher = DefaultHasher::new();
    (met.op, &met.case.name).hash(&mut hasher);
    let at = hasher.finish() as usize % types.len().max(1);
    types.get(at).copied().into_iter().collect()
}
