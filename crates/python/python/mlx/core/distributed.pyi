from typing import Any, Callable, Sequence

from . import Device, DeviceType, Dtype, Stream, StreamOrDevice, ThreadLocalStream, array, scalar

class Group:
    def rank(self) -> int: """The number of this process."""
    def size(self) -> int: """The number of processes."""

def all_gather(x: Any, *, group: Any = ..., stream: StreamOrDevice = ...) -> array: """Over a group of one, the array itself."""
def all_max(x: Any, *, group: Any = ..., stream: StreamOrDevice = ...) -> array: """Over a group of one, the array itself."""
def all_min(x: Any, *, group: Any = ..., stream: StreamOrDevice = ...) -> array: """Over a group of one, the array itself."""
def all_sum(x: Any, *, group: Any = ..., stream: StreamOrDevice = ...) -> array: """Over a group of one, the array itself."""
def init(strict: Any = ..., backend: Any = ...) -> Group: """The group of this process."""
def is_available(backend: Any = ...) -> bool: """Whether processes can compute together."""
def sum_scatter(x: Any, *, group: Any = ..., stream: StreamOrDevice = ...) -> array: """Over a group of one, the array itself."""
