from typing import Any, Callable, Sequence

from . import random as random
from . import fast as fast
from . import linalg as linalg
from . import fft as fft
from . import metal as metal
from . import cuda as cuda
from . import distributed as distributed
from . import pumice as pumice

class ArrayAt:
    def __getitem__(self, key: Any, /) -> array: ...
    def add(self, value: Any) -> array: """The array with a value added to the elements."""
    def divide(self, value: Any) -> array: """The array with the elements divided by a value."""
    def maximum(self, value: Any) -> array: """The array with the larger of the elements and a value."""
    def minimum(self, value: Any) -> array: """The array with the smaller of the elements and a value."""
    def multiply(self, value: Any) -> array: """The array with the elements multiplied by a value."""
    def subtract(self, value: Any) -> array: """The array with a value taken from the elements."""

class ArrayIterator:
    def __iter__(self) -> Any: ...
    def __next__(self) -> array: ...

class ArrayLike:
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class Device:
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @property
    def type(self) -> DeviceType: ...

class DeviceType:
    cpu = 0
    gpu = 1

class Dtype:
    @property
    def size(self) -> int: ...

class DtypeCategory:
    complexfloating = 0
    floating = 1
    inexact = 2
    signedinteger = 3
    unsignedinteger = 4
    integer = 5
    number = 6
    generic = 7

class PrintOptions:
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @property
    def precision(self) -> int: ...

class Stream:
    @property
    def device(self) -> Device: ...

class StreamContext:
    def __enter__(self) -> Any: ...
    def __exit__(self, exc_type: Any = ..., exc_value: Any = ..., traceback: Any = ...) -> None: ...
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class ThreadLocalStream:
    @property
    def device(self) -> Device: ...

class array:
    @property
    def T(self) -> array: ...
    def __abs__(self) -> array: ...
    def __add__(self, value: Any, /) -> array: ...
    def __and__(self, value: Any, /) -> array: ...
    def __array__(self, dtype: Any = ..., copy: Any = ...) -> Any: ...
    def __array_namespace__(self, api_version: Any = ...) -> Any: ...
    def __bool__(self) -> bool: ...
    def __bytes__(self) -> bytes: ...
    def __complex__(self) -> complex: ...
    def __copy__(self) -> array: ...
    def __deepcopy__(self, _memo: Any) -> array: ...
    def __delitem__(self, key: Any, /) -> array: ...
    def __div__(self, other: Any) -> array: ...
    def __dlpack__(self, *, stream: Any = ..., max_version: Any = ..., dl_device: Any = ..., copy: Any = ...) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __float__(self) -> float: ...
    def __floordiv__(self, value: Any, /) -> array: ...
    def __getitem__(self, key: Any, /) -> array: ...
    def __iadd__(self, value: Any, /) -> array: ...
    def __iand__(self, value: Any, /) -> array: ...
    def __ifloordiv__(self, value: Any, /) -> array: ...
    def __ilshift__(self, value: Any, /) -> array: ...
    def __imatmul__(self, value: Any, /) -> array: ...
    def __imod__(self, value: Any, /) -> array: ...
    def __imul__(self, value: Any, /) -> array: ...
    def __index__(self) -> int: ...
    def __int__(self) -> int: ...
    def __invert__(self) -> array: ...
    def __ior__(self, value: Any, /) -> array: ...
    def __ipow__(self, value: Any, /) -> array: ...
    def __irshift__(self, value: Any, /) -> array: ...
    def __isub__(self, value: Any, /) -> array: ...
    def __iter__(self) -> Any: ...
    def __itruediv__(self, value: Any, /) -> array: ...
    def __ixor__(self, value: Any, /) -> array: ...
    def __len__(self) -> int: ...
    def __lshift__(self, value: Any, /) -> array: ...
    def __matmul__(self, value: Any, /) -> array: ...
    def __mod__(self, value: Any, /) -> array: ...
    def __mul__(self, value: Any, /) -> array: ...
    def __neg__(self) -> array: ...
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def __or__(self, value: Any, /) -> array: ...
    def __pos__(self) -> array: ...
    def __pow__(self, value: Any, mod: Any = ..., /) -> array: ...
    def __radd__(self, value: Any, /) -> array: ...
    def __rand__(self, value: Any, /) -> array: ...
    def __rdiv__(self, other: Any) -> array: ...
    def __rfloordiv__(self, value: Any, /) -> array: ...
    def __rlshift__(self, value: Any, /) -> array: ...
    def __rmatmul__(self, value: Any, /) -> array: ...
    def __rmod__(self, value: Any, /) -> array: ...
    def __rmul__(self, value: Any, /) -> array: ...
    def __ror__(self, value: Any, /) -> array: ...
    def __rpow__(self, value: Any, mod: Any = ..., /) -> array: ...
    def __rrshift__(self, value: Any, /) -> array: ...
    def __rshift__(self, value: Any, /) -> array: ...
    def __rsub__(self, value: Any, /) -> array: ...
    def __rtruediv__(self, value: Any, /) -> array: ...
    def __rxor__(self, value: Any, /) -> array: ...
    def __setitem__(self, key: Any, value: Any, /) -> None: ...
    def __setstate__(self, state: Any) -> None: ...
    def __sub__(self, value: Any, /) -> array: ...
    def __truediv__(self, value: Any, /) -> array: ...
    def __xor__(self, value: Any, /) -> array: ...
    def abs(self, *, stream: StreamOrDevice = ...) -> array: """See `mx.abs`."""
    def all(self, axis: int | Sequence[int] | None = ..., keepdims: bool = ..., *, stream: StreamOrDevice = ...) -> array: """Whether all differ from zero."""
    def any(self, axis: int | Sequence[int] | None = ..., keepdims: bool = ..., *, stream: StreamOrDevice = ...) -> array: """Whether one differs from zero."""
    def argmax(self, axis: int | Sequence[int] | None = ..., keepdims: bool = ..., *, stream: StreamOrDevice = ...) -> array: """See `mx.argmax`."""
    def argmin(self, axis: int | Sequence[int] | None = ..., keepdims: bool = ..., *, stream: StreamOrDevice = ...) -> array: """See `mx.argmin`."""
    def astype(self, dtype: Dtype | None, stream: StreamOrDevice = ...) -> array: """See `mx.astype`."""
    @property
    def at(self) -> ArrayAt: ...
    def conj(self, *, stream: StreamOrDevice = ...) -> array: """See `mx.conj`."""
    def cos(self, *, stream: StreamOrDevice = ...) -> array: """See `mx.cos`."""
    def diag(self, k: int = ..., *, stream: StreamOrDevice = ...) -> array: """See `mx.diag`."""
    def diagonal(self, offset: Any = ..., axis1: Any = ..., axis2: Any = ..., stream: StreamOrDevice = ...) -> array: """See `mx.diagonal`."""
    @property
    def dtype(self) -> Dtype: ...
    def exp(self, *, stream: StreamOrDevice = ...) -> array: """See `mx.exp`."""
    def flatten(self, start_axis: Any = ..., end_axis: Any = ..., *, stream: StreamOrDevice = ...) -> array: """See `mx.flatten`."""
    @property
    def imag(self) -> array: ...
    def item(self) -> scalar: """The value of an array of one element."""
    @property
    def itemsize(self) -> int: ...
    def log(self, *, stream: StreamOrDevice = ...) -> array: """See `mx.log`."""
    def log10(self, *, stream: StreamOrDevice = ...) -> array: """See `mx.log10`."""
    def log1p(self, *, stream: StreamOrDevice = ...) -> array: """See `mx.log1p`."""
    def log2(self, *, stream: StreamOrDevice = ...) -> array: """See `mx.log2`."""
    def logsumexp(self, axis: int | Sequence[int] | None = ..., keepdims: bool = ..., *, stream: StreamOrDevice = ...) -> array: """The logarithm of the sum of exponentials."""
    @property
    def mT(self) -> array: ...
    def max(self, axis: int | Sequence[int] | None = ..., keepdims: bool = ..., *, stream: StreamOrDevice = ...) -> array: """The largest; NaN if one is."""
    def mean(self, axis: int | Sequence[int] | None = ..., keepdims: bool = ..., *, stream: StreamOrDevice = ...) -> array: """The sum divided by the number of elements."""
    def min(self, axis: int | Sequence[int] | None = ..., keepdims: bool = ..., *, stream: StreamOrDevice = ...) -> array: """The smallest; NaN if one is."""
    def moveaxis(self, source: Any, destination: Any, *, stream: StreamOrDevice = ...) -> array: """See `mx.moveaxis`."""
    @property
    def nbytes(self) -> int: ...
    @property
    def ndim(self) -> int: ...
    def prod(self, axis: int | Sequence[int] | None = ..., keepdims: bool = ..., *, stream: StreamOrDevice = ...) -> array: """The product."""
    @property
    def real(self) -> array: ...
    def reciprocal(self, *, stream: StreamOrDevice = ...) -> array: """See `mx.reciprocal`."""
    def reshape(self, *shape: int | Sequence[int], stream: StreamOrDevice = ...) -> array: """The elements in order, in another shape: `reshape(2, 3)` or `reshape((2, 3))`."""
    def round(self, decimals: int = ..., *, stream: StreamOrDevice = ...) -> array: """See `mx.round`."""
    def rsqrt(self, *, stream: StreamOrDevice = ...) -> array: """See `mx.rsqrt`."""
    @property
    def shape(self) -> tuple[int, ...]: ...
    def sin(self, *, stream: StreamOrDevice = ...) -> array: """See `mx.sin`."""
    @property
    def size(self) -> int: ...
    def split(self, indices_or_sections: Any, axis: int | Sequence[int] | None = ..., *, stream: StreamOrDevice = ...) -> list[array]: """See `mx.split`."""
    def sqrt(self, *, stream: StreamOrDevice = ...) -> array: """See `mx.sqrt`."""
    def square(self, *, stream: StreamOrDevice = ...) -> array: """See `mx.square`."""
    def squeeze(self, axis: int | Sequence[int] | None = ..., *, stream: StreamOrDevice = ...) -> array: """See `mx.squeeze`."""
    def std(self, axis: int | Sequence[int] | None = ..., keepdims: bool = ..., ddof: int = ..., *, correction: int | None = ..., stream: StreamOrDevice = ...) -> array: """See `mx.std`."""
    def sum(self, axis: int | Sequence[int] | None = ..., keepdims: bool = ..., *, stream: StreamOrDevice = ...) -> array: """The sum."""
    def swapaxes(self, axis1: Any, axis2: Any, *, stream: StreamOrDevice = ...) -> array: """See `mx.swapaxes`."""
    def tolist(self) -> Any: """The values as nested lists, or as a number where there is no axis."""
    def transpose(self, *axes: Any, stream: StreamOrDevice = ...) -> array: """The axes in another order, or in reverse: `transpose(1, 0)` or `transpose((1, 0))`."""
    def var(self, axis: int | Sequence[int] | None = ..., keepdims: bool = ..., ddof: int = ..., *, correction: int | None = ..., stream: StreamOrDevice = ...) -> array: """See `mx.var`."""
    def view(self, dtype: Dtype | None, *, stream: StreamOrDevice = ...) -> array: """See `mx.view`."""

class custom_function:
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def jvp(self, f: Callable) -> tuple[list[array], list[array]]: """The rule from primals and tangents to the tangents of the outputs."""
    def vjp(self, f: Callable) -> tuple[list[array], list[array]]: """The rule from primals, cotangents and outputs to the cotangents of the primals."""
    def vmap(self, f: Callable) -> Callable: """The rule from inputs and their axes to outputs and theirs."""

class finfo:
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @property
    def bits(self) -> int: ...
    @property
    def dtype(self) -> Dtype: ...
    @property
    def eps(self) -> float: ...
    @property
    def max(self) -> Any: ...
    @property
    def min(self) -> Any: ...
    @property
    def smallest_normal(self) -> float: ...

class iinfo:
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @property
    def dtype(self) -> Dtype: ...
    @property
    def max(self) -> Any: ...
    @property
    def min(self) -> Any: ...

scalar = bool | int | float | complex
StreamOrDevice = Stream | ThreadLocalStream | Device | DeviceType | None

bfloat16: Dtype
bool_: Dtype
complex64: Dtype
complexfloating: DtypeCategory
cpu: DeviceType
e: float
euler_gamma: float
float16: Dtype
float32: Dtype
float64: Dtype
floating: DtypeCategory
generic: DtypeCategory
gpu: DeviceType
inexact: DtypeCategory
inf: float
int16: Dtype
int32: Dtype
int64: Dtype
int8: Dtype
integer: DtypeCategory
nan: float
newaxis: None
number: DtypeCategory
pi: float
signedinteger: DtypeCategory
uint16: Dtype
uint32: Dtype
uint64: Dtype
uint8: Dtype
unsignedinteger: DtypeCategory

def abs(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """The distance from zero."""
def acos(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """The inverse of the cosine, in radians."""
def acosh(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """The inverse of the hyperbolic cosine."""
def add(a: Any, b: Any, /, *, stream: StreamOrDevice = ...) -> array: """The sum."""
def addmm(c: Any, a: Any, b: Any, /, alpha: Any = ..., beta: Any = ..., *, stream: StreamOrDevice = ...) -> array: """`alpha * (a @ b) + beta * c`."""
def all(a: Any, /, axis: int | Sequence[int] | None = ..., keepdims: bool = ..., *, stream: StreamOrDevice = ...) -> array: """Whether all differ from zero."""
def allclose(a: Any, b: Any, /, rtol: float = ..., atol: float = ..., *, equal_nan: bool = ..., stream: StreamOrDevice = ...) -> array: """Whether all numbers are within `atol + rtol * abs(b)` of each other."""
def any(a: Any, /, axis: int | Sequence[int] | None = ..., keepdims: bool = ..., *, stream: StreamOrDevice = ...) -> array: """Whether one differs from zero."""
def arange(start: Any = ..., stop: Any = ..., step: Any = ..., dtype: Dtype | None = ..., *, stream: StreamOrDevice = ...) -> array: """The numbers `start, start + step, …` before `stop`: `arange(stop)`, `arange(start, stop)`, `arange(start, stop, step)`."""
def arccos(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """The inverse of the cosine, in radians."""
def arccosh(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """The inverse of the hyperbolic cosine."""
def arcsin(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """The inverse of the sine, in radians."""
def arcsinh(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """The inverse of the hyperbolic sine."""
def arctan(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """The inverse of the tangent, in radians."""
def arctan2(a: Any, b: Any, /, *, stream: StreamOrDevice = ...) -> array: """The angle of the point with the second number along and the first one up."""
def arctanh(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """The inverse of the hyperbolic tangent."""
def argmax(a: Any, /, axis: int | Sequence[int] | None = ..., keepdims: bool = ..., *, stream: StreamOrDevice = ...) -> array: """Where the largest is."""
def argmin(a: Any, /, axis: int | Sequence[int] | None = ..., keepdims: bool = ..., *, stream: StreamOrDevice = ...) -> array: """Where the smallest is."""
def array_equal(a: Any, b: Any, equal_nan: bool = ..., *, stream: StreamOrDevice = ...) -> array: """Whether two arrays have one shape and equal numbers."""
def as_strided(a: Any, /, shape: int | Sequence[int] = ..., strides: Any = ..., offset: Any = ..., *, stream: StreamOrDevice = ...) -> array: """The elements that strides and an offset select from the memory of the array made contiguous."""
def asarray(a: Any, dtype: Dtype | None = ..., *, copy: bool | None = ...) -> array: """The object as an array; an array of the type stays itself."""
def asin(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """The inverse of the sine, in radians."""
def asinh(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """The inverse of the hyperbolic sine."""
def astype(a: Any, dtype: Dtype | None, /, *, stream: StreamOrDevice = ...) -> array: """The elements in another type."""
def async_eval(*args: Any) -> None: """Starts to compute the arrays of trees."""
def atan(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """The inverse of the tangent, in radians."""
def atan2(a: Any, b: Any, /, *, stream: StreamOrDevice = ...) -> array: """The angle of the point with the second number along and the first one up."""
def atanh(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """The inverse of the hyperbolic tangent."""
def atleast_1d(*arys: array, stream: StreamOrDevice = ...) -> array | list[array]: """The arrays with at least one axis."""
def atleast_2d(*arys: array, stream: StreamOrDevice = ...) -> array | list[array]: """The arrays with at least two axes."""
def atleast_3d(*arys: array, stream: StreamOrDevice = ...) -> array | list[array]: """The arrays with at least three axes."""
def bartlett(m: int | None, *, stream: StreamOrDevice = ...) -> array: """A window that is a triangle."""
def bitwise_and(a: Any, b: Any, /, *, stream: StreamOrDevice = ...) -> array: """The bits that are set in both."""
def bitwise_invert(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """The number with every bit turned."""
def bitwise_left_shift(a: Any, b: Any, /, *, stream: StreamOrDevice = ...) -> array: """The first number's bits moved up by the second."""
def bitwise_or(a: Any, b: Any, /, *, stream: StreamOrDevice = ...) -> array: """The bits that are set in one or both."""
def bitwise_right_shift(a: Any, b: Any, /, *, stream: StreamOrDevice = ...) -> array: """The first number's bits moved down by the second."""
def bitwise_xor(a: Any, b: Any, /, *, stream: StreamOrDevice = ...) -> array: """The bits that are set in one of them."""
def blackman(m: int | None, *, stream: StreamOrDevice = ...) -> array: """A window of three terms of cosines."""
def broadcast_arrays(*arrays: Any, stream: StreamOrDevice = ...) -> list[array]: """Arrays broadcast to one shape."""
def broadcast_shapes(*shapes: Any) -> tuple[int, ...]: """The shape that shapes broadcast to."""
def broadcast_to(a: Any, /, shape: int | Sequence[int], *, stream: StreamOrDevice = ...) -> array: """The elements repeated to a shape."""
def can_cast(from_: Any, to: Any) -> bool: """Whether promotion leads from one type to another."""
def ceil(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """The smallest whole number that is not below."""
def checkpoint(fun: Callable) -> Callable: """A function whose intermediate results are computed again for its derivatives, and not kept."""
def clear_cache() -> None: """Frees what is kept to be used again."""
def clear_streams() -> None: """Gives the calling thread's streams back, and forgets its random numbers' key."""
def clip(a: Any, /, a_min: Any, a_max: Any, *, stream: StreamOrDevice = ...) -> array: """The number, or the bound that it is beyond."""
def compile(fun: Callable, inputs: Any = ..., outputs: Any = ..., shapeless: bool = ...) -> Callable: """A function that is run once per kind of arguments; where it is shapeless, arrays of other sizes are of the same kind."""
def concat(arrays: Any, axis: int | Sequence[int] | None = ..., *, stream: StreamOrDevice = ...) -> array: """Arrays one after the other along an axis."""
def concatenate(arrays: Any, axis: int | Sequence[int] | None = ..., *, stream: StreamOrDevice = ...) -> array: """Arrays one after the other along an axis."""
def conj(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """The number mirrored at the real axis."""
def conjugate(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """The number mirrored at the real axis."""
def contiguous(a: Any, /, allow_col_major: Any = ..., *, stream: StreamOrDevice = ...) -> array: """The array in memory without gaps."""
def cos(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """The cosine, of radians."""
def cosh(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """The hyperbolic cosine."""
def count_nonzero(a: Any, /, *, axis: int | Sequence[int] | None = ..., keepdims: bool = ..., stream: StreamOrDevice = ...) -> array: """How many differ from zero."""
def default_device() -> Device: """The device that work goes to."""
def default_stream(device: Any) -> Stream: """The calling thread's default stream of a device."""
def degrees(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """The angle in degrees, of radians."""
def depends(inputs: Any, dependencies: Any) -> Any: """The inputs, computed after other arrays."""
def device_count(device_type: Any) -> int: """How many devices of a kind there are."""
def device_info(d: Any = ...) -> dict[str, str | int]: """What is known of a device."""
def diag(a: Any, /, k: int = ..., *, stream: StreamOrDevice = ...) -> array: """A diagonal of a matrix, or a matrix with a diagonal."""
def diagonal(a: Any, offset: Any = ..., axis1: Any = ..., axis2: Any = ..., stream: StreamOrDevice = ...) -> array: """Diagonals along two axes."""
def diff(a: Any, /, n: int = ..., axis: int | Sequence[int] | None = ..., *, stream: StreamOrDevice = ...) -> array: """Differences of neighbours along an axis, taken `n` times."""
def disable_compile() -> None: """Makes compiled functions plain ones."""
def divide(a: Any, b: Any, /, *, stream: StreamOrDevice = ...) -> array: """The quotient; integers become float32 first."""
def divmod(a: Any, b: Any, *, stream: StreamOrDevice = ...) -> list[array]: """Quotient and remainder."""
def empty(shape: int | Sequence[int], dtype: Dtype | None = ..., *, stream: StreamOrDevice = ...) -> array: """Zeros."""
def empty_like(a: Any, /, dtype: Dtype | None = ..., *, stream: StreamOrDevice = ...) -> array: """Zeros in the shape of an array."""
def enable_compile() -> None: """Makes compiled functions compiled ones again."""
def equal(a: Any, b: Any, /, *, stream: StreamOrDevice = ...) -> array: """Whether they are equal; NaN equals nothing."""
def erf(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """The error function."""
def erfinv(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """The inverse of the error function."""
def eval(*args: Any) -> None: """Computes the arrays of trees, and waits until they are there."""
def exp(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """e to the power of the number."""
def expand_dims(a: Any, /, axis: int | Sequence[int] | None, *, stream: StreamOrDevice = ...) -> array: """New axes of one element."""
def expm1(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """e to the power of the number, less 1, without cancellation near 0."""
def eye(n: int, m: int | None = ..., k: int = ..., dtype: Dtype | None = ..., *, stream: StreamOrDevice = ...) -> array: """Ones on a diagonal."""
def flatten(a: Any, /, start_axis: Any = ..., end_axis: Any = ..., *, stream: StreamOrDevice = ...) -> array: """The axes from one to another made one."""
def flip(a: Any, /, axis: int | Sequence[int] | None = ..., *, stream: StreamOrDevice = ...) -> array: """The elements along axes in the opposite order."""
def floor(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """The largest whole number that is not above."""
def floor_divide(a: Any, b: Any, /, *, stream: StreamOrDevice = ...) -> array: """The quotient rounded down."""
def from_dlpack(x: Any, /, *, copy: bool | None = ...) -> array: """The array that another library's object holds, copied."""
def from_fp8(x: Any, dtype: Dtype | None = ..., *, stream: StreamOrDevice = ...) -> array: """The number that eight bits (e4m3) stand for, as a bfloat16 or another type."""
def full(shape: int | Sequence[int], vals: Any, dtype: Dtype | None = ..., *, stream: StreamOrDevice = ...) -> array: """Values broadcast to a shape."""
def full_like(a: Any, vals: Any, dtype: Dtype | None = ..., *, stream: StreamOrDevice = ...) -> array: """Values broadcast to the shape of an array."""
def get_active_memory() -> int: """Bytes that arrays hold."""
def get_cache_memory() -> int: """Bytes that are kept to be used again."""
def get_memory_limit() -> int: """Bytes that evaluation stays under."""
def get_peak_memory() -> int: """The most bytes that arrays have held."""
def get_printoptions() -> PrintOptions: """How arrays are printed."""
def grad(fun: Callable, argnums: Any = ..., argnames: Any = ...) -> Callable: """A function that gives the gradient of a function's scalar result."""
def greater(a: Any, b: Any, /, *, stream: StreamOrDevice = ...) -> array: """Whether the first is greater."""
def greater_equal(a: Any, b: Any, /, *, stream: StreamOrDevice = ...) -> array: """Whether the first is greater or equal."""
def hamming(m: int | None, *, stream: StreamOrDevice = ...) -> array: """A window that is a raised cosine and does not end in zero."""
def hanning(m: int | None, *, stream: StreamOrDevice = ...) -> array: """A window that is a raised cosine."""
def identity(n: int, dtype: Dtype | None = ..., *, stream: StreamOrDevice = ...) -> array: """Ones on the diagonal of a square."""
def imag(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """The imaginary part; zero of real numbers."""
def inner(a: Any, b: Any, /, *, stream: StreamOrDevice = ...) -> array: """Sums of products along the last axes."""
def is_available(device: Any) -> bool: """Whether work can be given to a device."""
def isclose(a: Any, b: Any, /, rtol: float = ..., atol: float = ..., *, equal_nan: bool = ..., stream: StreamOrDevice = ...) -> array: """Whether the numbers are within `atol + rtol * abs(b)` of each other."""
def isdtype(dtype: Dtype | None, kind: Any) -> bool: """Whether a type is of a kind that the array API names."""
def isfinite(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """Whether the number is neither infinite nor NaN."""
def isinf(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """Whether the number is infinite."""
def isnan(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """Whether the number is NaN."""
def isneginf(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """Whether the number is negative infinity."""
def isposinf(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """Whether the number is positive infinity."""
def issubdtype(arg1: Any, arg2: Any) -> bool: """Whether a type or category is another or part of it."""
def jvp(fun: Callable, primals: Any, tangents: Any) -> tuple[list[array], list[array]]: """What a function gives for primals, and the tangents of its outputs for tangents of these."""
def kron(a: Any, b: Any, *, stream: StreamOrDevice = ...) -> array: """The second array times each element of the first."""
def left_shift(a: Any, b: Any, /, *, stream: StreamOrDevice = ...) -> array: """The first number's bits moved up by the second."""
def less(a: Any, b: Any, /, *, stream: StreamOrDevice = ...) -> array: """Whether the first is less."""
def less_equal(a: Any, b: Any, /, *, stream: StreamOrDevice = ...) -> array: """Whether the first is less or equal."""
def linspace(start: Any, stop: Any, num: int | None = ..., endpoint: Any = ..., dtype: Dtype | None = ..., stream: StreamOrDevice = ...) -> array: """Numbers at even distances."""
def log(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """The natural logarithm."""
def log10(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """The logarithm to base 10."""
def log1p(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """The natural logarithm of 1 and the number, without cancellation near 0."""
def log2(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """The logarithm to base 2."""
def logaddexp(a: Any, b: Any, /, *, stream: StreamOrDevice = ...) -> array: """The logarithm of the sum of exponentials."""
def logical_and(a: Any, b: Any, /, *, stream: StreamOrDevice = ...) -> array: """Whether both differ from zero."""
def logical_not(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """Whether the number is zero."""
def logical_or(a: Any, b: Any, /, *, stream: StreamOrDevice = ...) -> array: """Whether one differs from zero."""
def logical_xor(a: Any, b: Any, /, *, stream: StreamOrDevice = ...) -> array: """Whether one of them differs from zero, and the other does not."""
def logsumexp(a: Any, /, axis: int | Sequence[int] | None = ..., keepdims: bool = ..., *, stream: StreamOrDevice = ...) -> array: """The logarithm of the sum of exponentials."""
def matmul(a: Any, b: Any, /, *, stream: StreamOrDevice = ...) -> array: """The product of matrices."""
def matrix_transpose(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """The last two axes in each other's place."""
def max(a: Any, /, axis: int | Sequence[int] | None = ..., keepdims: bool = ..., *, stream: StreamOrDevice = ...) -> array: """The largest; NaN if one is."""
def maximum(a: Any, b: Any, /, *, stream: StreamOrDevice = ...) -> array: """The larger; NaN if either is."""
def mean(a: Any, /, axis: int | Sequence[int] | None = ..., keepdims: bool = ..., *, stream: StreamOrDevice = ...) -> array: """The sum divided by the number of elements."""
def meshgrid(*arrays: Any, sparse: bool | None = ..., indexing: str | None = ..., stream: StreamOrDevice = ...) -> tuple[array, ...]: """Arrays that hold the coordinates of a grid."""
def min(a: Any, /, axis: int | Sequence[int] | None = ..., keepdims: bool = ..., *, stream: StreamOrDevice = ...) -> array: """The smallest; NaN if one is."""
def minimum(a: Any, b: Any, /, *, stream: StreamOrDevice = ...) -> array: """The smaller; NaN if either is."""
def moveaxis(a: Any, /, source: Any, destination: Any, *, stream: StreamOrDevice = ...) -> array: """An axis moved to another place."""
def multiply(a: Any, b: Any, /, *, stream: StreamOrDevice = ...) -> array: """The product."""
def nan_to_num(a: Any, nan: Any = ..., posinf: Any = ..., neginf: Any = ..., *, stream: StreamOrDevice = ...) -> array: """The number, or what stands for it where it is NaN or infinite."""
def negative(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """The number with the other sign."""
def new_stream(device: Any) -> Stream: """A new stream on a device."""
def new_thread_local_stream(device: Any) -> ThreadLocalStream: """A stream of which every thread that uses it has one of its own."""
def new_thread_unsafe_stream(device: Any) -> Stream: """A new stream on a device that all threads may use."""
def not_equal(a: Any, b: Any, /, *, stream: StreamOrDevice = ...) -> array: """Whether they differ."""
def ones(shape: int | Sequence[int], dtype: Dtype | None = ..., *, stream: StreamOrDevice = ...) -> array: """Ones."""
def ones_like(a: Any, /, dtype: Dtype | None = ..., *, stream: StreamOrDevice = ...) -> array: """Ones in the shape of an array."""
def outer(a: Any, b: Any, /, *, stream: StreamOrDevice = ...) -> array: """Every element times every element."""
def permute_dims(a: Any, /, axes: Any = ..., *, stream: StreamOrDevice = ...) -> array: """The axes in another order, or in reverse."""
def positive(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """The array itself."""
def pow(a: Any, b: Any, /, *, stream: StreamOrDevice = ...) -> array: """The first number to the power of the second."""
def power(a: Any, b: Any, /, *, stream: StreamOrDevice = ...) -> array: """The first number to the power of the second."""
def printoptions(precision: int = ...) -> Any: """Options that hold inside a `with`."""
def prod(a: Any, /, axis: int | Sequence[int] | None = ..., keepdims: bool = ..., *, stream: StreamOrDevice = ...) -> array: """The product."""
def put_along_axis(a: Any, /, indices: Any, values: Any, axis: int | Sequence[int] | None = ..., *, stream: StreamOrDevice = ...) -> array: """The array with values at indices along an axis, for each place of the others."""
def radians(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """The angle in radians, of degrees."""
def real(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """The real part."""
def reciprocal(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """One over the number."""
def remainder(a: Any, b: Any, /, *, stream: StreamOrDevice = ...) -> array: """What floor division leaves, with the sign of the divisor."""
def repeat(array: Any, repeats: Any, axis: int | Sequence[int] | None = ..., *, stream: StreamOrDevice = ...) -> array: """Every element so many times, one after the other."""
def reset_peak_memory() -> None: """Starts to look for the peak anew."""
def reshape(a: Any, /, shape: int | Sequence[int], *, stream: StreamOrDevice = ...) -> array: """The elements in order, in another shape."""
def result_type(*arrays_and_dtypes: Any) -> Dtype: """The type that an operation on all computes in."""
def right_shift(a: Any, b: Any, /, *, stream: StreamOrDevice = ...) -> array: """The first number's bits moved down by the second."""
def roll(a: Any, shift: Any, axis: int | Sequence[int] | None = ..., /, *, stream: StreamOrDevice = ...) -> array: """The elements moved along axes; those that leave come back at the other end."""
def round(a: Any, /, decimals: int = ..., *, stream: StreamOrDevice = ...) -> array: """The number rounded to so many decimals, ties to even."""
def rsqrt(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """One over the square root."""
def set_cache_limit(limit: int) -> int: """Sets how many bytes may be kept, and gives what it was."""
def set_default_device(device: Any) -> None: """Sends work to another device from now on."""
def set_default_stream(stream: StreamOrDevice) -> None: """Makes a stream the default of its device, in the calling thread."""
def set_memory_limit(limit: int) -> int: """Sets how many bytes evaluation stays under, and gives what it was."""
def set_printoptions(precision: int = ...) -> None: """Fixes the digits after the point, for the whole process; -1 frees them."""
def set_wired_limit(limit: int) -> int: """Memory is not wired here: nothing changes."""
def sigmoid(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """One over 1 and e to the power of the negative number."""
def sign(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """-1, 0 or 1: the sign."""
def sin(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """The sine, of radians."""
def sinh(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """The hyperbolic sine."""
def softmax(a: Any, /, axis: int | Sequence[int] | None = ..., *, precise: bool = ..., stream: StreamOrDevice = ...) -> array: """Exponentials divided by their sum."""
def split(a: Any, /, indices_or_sections: Any, axis: int | Sequence[int] | None = ..., *, stream: StreamOrDevice = ...) -> list[array]: """The array in equal parts, or in parts that begin at indices."""
def sqrt(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """The square root."""
def square(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """The number times itself."""
def squeeze(a: Any, /, axis: int | Sequence[int] | None = ..., *, stream: StreamOrDevice = ...) -> array: """Without axes of one element."""
def stack(arrays: Any, axis: int | Sequence[int] | None = ..., *, stream: StreamOrDevice = ...) -> array: """Arrays side by side along a new axis."""
def std(a: Any, /, axis: int | Sequence[int] | None = ..., keepdims: bool = ..., ddof: int = ..., *, correction: int | None = ..., stream: StreamOrDevice = ...) -> array: """The standard deviation."""
def stop_gradient(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """The array itself, for transforms a constant."""
def stream(s: Any) -> StreamContext: """A context manager: new arrays are computed on the stream or device."""
def subtract(a: Any, b: Any, /, *, stream: StreamOrDevice = ...) -> array: """The difference."""
def sum(a: Any, /, axis: int | Sequence[int] | None = ..., keepdims: bool = ..., *, stream: StreamOrDevice = ...) -> array: """The sum."""
def swapaxes(a: Any, /, axis1: Any, axis2: Any, *, stream: StreamOrDevice = ...) -> array: """Two axes in each other's place."""
def synchronize(stream: StreamOrDevice = ...) -> None: """Waits until everything given to a stream is done; without one, to the default device's default stream."""
def take(a: Any, /, indices: Any, axis: int | Sequence[int] | None = ..., *, stream: StreamOrDevice = ...) -> array: """The elements at indices along an axis; without one, of the flattened array."""
def take_along_axis(a: Any, /, indices: Any, axis: int | Sequence[int] | None = ..., *, stream: StreamOrDevice = ...) -> array: """The elements at indices along an axis, for each place of the others."""
def tan(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """The tangent, of radians."""
def tanh(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """The hyperbolic tangent."""
def tensordot(a: Any, b: Any, /, axes: Any = ..., *, stream: StreamOrDevice = ...) -> array: """Sums of products along given axes."""
def tile(a: Any, reps: Any, /, *, stream: StreamOrDevice = ...) -> array: """The array so many times along each axis."""
def to_fp8(x: Any, *, stream: StreamOrDevice = ...) -> array: """The nearest number of eight bits (e4m3), as its bits."""
def trace(a: Any, /, offset: Any = ..., axis1: Any = ..., axis2: Any = ..., dtype: Dtype | None = ..., *, stream: StreamOrDevice = ...) -> array: """The sum along a diagonal."""
def transpose(a: Any, /, axes: Any = ..., *, stream: StreamOrDevice = ...) -> array: """The axes in another order, or in reverse."""
def tri(n: int, m: int | None = ..., k: int = ..., dtype: Dtype | None = ..., *, stream: StreamOrDevice = ...) -> array: """Ones on and below a diagonal."""
def tril(x: Any, k: int = ..., *, stream: StreamOrDevice = ...) -> array: """Zeros above a diagonal."""
def triu(x: Any, k: int = ..., *, stream: StreamOrDevice = ...) -> array: """Zeros below a diagonal."""
def trunc(a: Any, /, *, stream: StreamOrDevice = ...) -> array: """The whole number next to it towards zero."""
def unflatten(a: Any, /, axis: int | Sequence[int] | None, shape: int | Sequence[int], *, stream: StreamOrDevice = ...) -> array: """One axis made several."""
def value_and_grad(fun: Callable, argnums: Any = ..., argnames: Any = ...) -> Callable: """A function that gives a function's value and the gradient of its first, scalar, result."""
def var(a: Any, /, axis: int | Sequence[int] | None = ..., keepdims: bool = ..., ddof: int = ..., *, correction: int | None = ..., stream: StreamOrDevice = ...) -> array: """The variance."""
def vecdot(a: Any, b: Any, /, *, axis: int | Sequence[int] | None = ..., stream: StreamOrDevice = ...) -> array: """Dot products along an axis, the first array conjugated."""
def view(a: Any, dtype: Dtype | None, stream: StreamOrDevice = ...) -> array: """The bits as elements of another type."""
def vjp(fun: Callable, primals: Any, cotangents: Any) -> tuple[list[array], list[array]]: """What a function gives for primals, and the cotangents of these for cotangents of its outputs."""
def vmap(fun: Callable, in_axes: Any = ..., out_axes: Any = ...) -> Callable: """A function over one more axis of its arguments."""
def where(condition: Any, x: Any, y: Any, /, *, stream: StreamOrDevice = ...) -> array: """Numbers of `x` where the condition holds, of `y` elsewhere."""
def zeros(shape: int | Sequence[int], dtype: Dtype | None = ..., *, stream: StreamOrDevice = ...) -> array: """Zeros."""
def zeros_like(a: Any, /, dtype: Dtype | None = ..., *, stream: StreamOrDevice = ...) -> array: """Zeros in the shape of an array."""
