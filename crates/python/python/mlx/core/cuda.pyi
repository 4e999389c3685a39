from typing import Any, Callable, Sequence

from . import Device, DeviceType, Dtype, Stream, StreamOrDevice, ThreadLocalStream, array, scalar

def is_available() -> bool: """No: this is neither Metal nor CUDA."""
