from typing import Any, Callable, Sequence

from . import Device, DeviceType, Dtype, Stream, StreamOrDevice, ThreadLocalStream, array, scalar

def layer_norm(x: Any, weight: Any, bias: Any, eps: Any, *, stream: StreamOrDevice = ...) -> array: """The last axis with mean 0 and variance 1, times a weight and plus a bias."""
def rms_norm(x: Any, weight: Any, eps: Any, *, stream: StreamOrDevice = ...) -> array: """The array over the root of the mean square of its last axis, times a weight."""
def rope(a: Any, dims: Any, *, traditional: Any, base: Any, scale: Any, offset: Any, freqs: Any = ..., stream: StreamOrDevice = ...) -> array: """Pairs of features of an array (batch, ..., positions, features), turned by angles that grow with the position."""
def scaled_dot_product_attention(q: Any, k: int, v: Any, *, scale: Any, mask: Any = ..., sinks: Any = ..., force_fused: Any = ..., stream: StreamOrDevice = ...) -> array: """Values, weighed by how well their keys match queries: softmax(scale * q @ k.T + mask) @ v for each head."""
