from typing import Any, Callable, Sequence

from . import Device, DeviceType, Dtype, Stream, StreamOrDevice, ThreadLocalStream, array, scalar

state: Any
def bernoulli(p: Any = ..., shape: int | Sequence[int] = ..., key: array | None = ..., stream: StreamOrDevice = ...) -> array: """True with a chance of `p`."""
def categorical(logits: Any, axis: int | Sequence[int] | None = ..., shape: int | Sequence[int] = ..., num_samples: Any = ..., key: array | None = ..., stream: StreamOrDevice = ...) -> array: """Categories drawn by their unnormalised logarithms of chances."""
def gumbel(shape: int | Sequence[int] = ..., dtype: Dtype | None = ..., key: array | None = ..., stream: StreamOrDevice = ...) -> array: """Numbers of the standard Gumbel distribution."""
def key(seed: int) -> array: """The key of a seed."""
def laplace(shape: int | Sequence[int] = ..., dtype: Dtype | None = ..., loc: Any = ..., scale: Any = ..., key: array | None = ..., stream: StreamOrDevice = ...) -> array: """Numbers of a Laplace distribution."""
def normal(shape: int | Sequence[int] = ..., dtype: Dtype | None = ..., loc: Any = ..., scale: Any = ..., key: array | None = ..., stream: StreamOrDevice = ...) -> array: """Normally distributed numbers."""
def randint(low: Any, high: Any, shape: int | Sequence[int] = ..., dtype: Dtype | None = ..., key: array | None = ..., stream: StreamOrDevice = ...) -> array: """Whole numbers from `low` to before `high`."""
def seed(seed: int) -> None: """Seeds the calling thread's numbers."""
def split(key: array | None, num: int | None = ..., stream: StreamOrDevice = ...) -> array: """New keys made from one."""
def truncated_normal(lower: Any, upper: Any, shape: int | Sequence[int] = ..., dtype: Dtype | None = ..., key: array | None = ..., stream: StreamOrDevice = ...) -> array: """Normally distributed numbers between bounds."""
def uniform(low: Any = ..., high: Any = ..., shape: int | Sequence[int] = ..., dtype: Dtype | None = ..., key: array | None = ..., stream: StreamOrDevice = ...) -> array: """Evenly distributed numbers from `low` to before `high`."""
