//! MLX for every GPU, in Rust.
//!
//! What stands today: the built-in kernels ([`kernels`]) and what runs them on a Vulkan device ([`launch`]). Kernels are written in
//! the kernel language ([`kernel`]) and run by the Vulkan runtime ([`gpu`]); this crate is where the two meet, and nothing
//! else knows both.

pub use pumice_gpu as gpu;
pub use pumice_kernel as kernel;

mod array;
pub mod cpu;
mod debug;
mod device;
mod dtype;
mod error;
pub mod eval;
pub mod indexing;
pub mod kernels;
pub mod launch;
mod memory;
pub mod op;
mod operators;
pub mod ops;
mod print;
pub mod random;
mod reading;
pub mod scalar;
mod shape;
mod storage;
pub mod trace;
pub mod transforms;
pub mod typed;
mod typed_bits;

pub use array::Array;
pub use device::{
    Device, DeviceKind, Stream, ThreadLocalStream, clear_streams, current_stream, default_device, default_stream,
    forked, new_stream, new_stream_with, new_thread_local_stream, new_thread_unsafe_stream, set_default_device,
    set_default_stream, synchronize, the_gpu, with_stream,
};
pub use dtype::{Complex64, Dtype, Element};
pub use error::{Error, Result};
pub use eval::{async_eval, eval};
pub use memory::{
    clear_cache, get_active_memory, get_cache_memory, get_memory_limit, get_peak_memory, reset_peak_memory,
    set_cache_limit, set_memory_limit, set_wired_limit,
};
pub use print::set_precision;
pub use reading::SharedMemory;
pub use shape::{Layout, Shape, Spec, Strides, broadcast};
pub use transforms::{CustomFunction, checkpoint, compile, compile_shapeless, grad, jvp, value_and_grad, vjp, vmap};
