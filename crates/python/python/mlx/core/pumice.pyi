from typing import Any, Callable, Sequence

from . import Device, DeviceType, Dtype, Stream, StreamOrDevice, ThreadLocalStream, array, scalar

def devices() -> list[dict[str, Any]]: """The Vulkan devices of the machine; the one that is used is `chosen`."""
def disable(name: str, off: bool = ...) -> None: """Switches a fast path off, or on again: an op by its name, or `fusion`. What it means runs instead."""
def disabled() -> array: """The fast paths that are switched off."""
def reset_stats() -> array: """Counts anew from here on."""
def set_fusion(when: Any) -> None: """When fused kernels are used: `when_ready`, `now` or `never`."""
def start_trace(path: Any) -> array: """Starts to trace into a file that Perfetto shows: evaluations, steps of the CPU, the GPU's launches by its own clock."""
def stats() -> dict[str, Any]: """What evaluation did since the process began, in numbers."""
def stop_trace() -> array: """Ends the trace and its file. What was given to the GPU is waited for."""
