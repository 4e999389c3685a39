from typing import Any, Callable, Sequence

from . import Device, DeviceType, Dtype, Stream, StreamOrDevice, ThreadLocalStream, array, scalar

def devices() -> list[dict[str, Any]]: """The Vulkan devices of the machine; the one that is used is `chosen`."""
def disable(name: str, off: bool = ...) -> None: """Switches a fast path off, or on again: an op by its name, or `fusion`. What it means runs instead."""
def set_fusion(when: Any) -> None: """When fused kernels are used: `when_ready`, `now` or `never`."""
def stats() -> dict[str, Any]: """What evaluation did since the process began, in numbers."""
