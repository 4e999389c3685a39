from typing import Any, Callable, Sequence

from . import Device, DeviceType, Dtype, Stream, StreamOrDevice, ThreadLocalStream, array, scalar

def clear_cache() -> None: """Frees what is kept to be used again."""
def device_info(d: Any = ...) -> dict[str, str | int]: """What is known of a device."""
def get_active_memory() -> int: """Bytes that arrays hold."""
def get_cache_memory() -> int: """Bytes that are kept to be used again."""
def get_peak_memory() -> int: """The most bytes that arrays have held."""
def is_available() -> bool: """No: this is neither Metal nor CUDA."""
def reset_peak_memory() -> None: """Starts to look for the peak anew."""
def set_cache_limit(limit: int) -> int: """Sets how many bytes may be kept, and gives what it was."""
def set_memory_limit(limit: int) -> int: """Sets how many bytes evaluation stays under, and gives what it was."""
def set_wired_limit(limit: int) -> int: """Memory is not wired here: nothing changes."""
