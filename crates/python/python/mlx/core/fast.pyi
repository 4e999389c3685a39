from typing import Any, Callable, Sequence

from . import Device, DeviceType, Dtype, Stream, StreamOrDevice, ThreadLocalStream, array, scalar

def layer_norm(x: array, weight: array | None, bias: array | None, eps: float, *, stream: StreamOrDevice = ...) -> array: """The last axis with mean 0 and variance 1, times a weight and plus a bias."""
def rms_norm(x: array, weight: array | None, eps: float, *, stream: StreamOrDevice = ...) -> array: """The array over the root of the mean square of its last axis, times a weight."""
def rope(a: array, dims: int, *, traditional: bool, base: float | None, scale: float, offset: int | array, freqs: array | None = ..., stream: StreamOrDevice = ...) -> array: """Pairs of features of an array (batch, ..., positions, features), turned by angles that grow with the position."""
def scaled_dot_product_attention(q: array, k: array, v: array, *, scale: float, mask: None | str | array = ..., sinks: array | None = ..., force_fused: bool = ..., stream: StreamOrDevice = ...) -> array: """Values, weighed by how well their keys match queries: softmax(scale * q @ k.T + mask) @ v for each head."""
