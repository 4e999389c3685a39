//! (being written)

mod arguments;
mod calls;
pub mod checker;
mod commands;
mod device;
mod encoder;
mod error;
mod event;
mod extensions;
mod hazards;
mod instance;
mod leaks;
mod limits;
mod memory;
mod options;
mod pipeline;
mod probe;
mod recording;
mod replay;
mod stats;
mod stream;
mod timeline;
mod timestamps;
mod transfer;
mod validation;
mod watchdog;

pub use calls::{Calls, Fault, FaultPlan, Health};
pub use device::Device;
pub use encoder::Launch;
pub use error::{Error, Result};
pub use event::Event;
pub use leaks::LeakLog;
pub use limits::{
    ComponentType, CooperativeMatrix2, CooperativeShape, FlexibleShape, FloatControls, Independence, Limits, MatrixScope,
};
pub use memory::{Buffer, MemoryStats};
pub use options::{Options, Transfers, Validation};
pub use pipeline::{PendingPipeline, Pipeline, PipelineRequest};
pub use probe::{DeviceInfo, DeviceKind, devices};
pub use replay::{Plan, Recorder};
pub use stats::Statistics;
pub use stream::{Stream, StreamOptions};
pub use timestamps::Timestamp;
pub use validation::ValidationLog;
