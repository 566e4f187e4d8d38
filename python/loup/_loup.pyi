"""The compiled half of loup; import loup instead."""

import builtins
from collections.abc import Callable, Iterator, Sequence
import os
from typing import Any, NoReturn, overload

import loup.shm


class Error(RuntimeError):
    """Base of all errors that loup raises."""

class ShapeError(Error, builtins.ValueError):
    """Shapes or strides do not fit."""

class DTypeError(Error, TypeError):
    """A dtype is not accepted."""

class IndexError(Error, builtins.IndexError):
    """A dim or an index is out of range."""

class ValueError(Error, builtins.ValueError):
    """Any other bad argument."""

class FormatError(builtins.ValueError, Error):
    """A file does not hold what its format demands."""

class StateError(Error):
    """The right call at the wrong moment."""

class LayoutError(Error, TypeError):
    """Layouts do not fit together."""

class IoError(OSError, Error):
    """A system call failed; has errno and filename."""

    def __str__(self) -> str: ...

class IoNotFoundError(IoError, FileNotFoundError):
    """There is no such file."""

class IoExistsError(IoError, FileExistsError):
    """The name is taken."""

class IoPermissionError(IoError, PermissionError):
    """The system does not allow it."""

class MapError(IoError):
    """Mapping or sharing memory failed."""

class MapNotFoundError(MapError, FileNotFoundError):
    """There is no such file."""

class MapExistsError(MapError, FileExistsError):
    """The name is taken."""

class MapPermissionError(MapError, PermissionError):
    """The system does not allow it."""

class dtype:
    """What the elements of a tensor are."""

    @property
    def name(self) -> str: ...

    @property
    def itemsize(self) -> builtins.int: ...

    @property
    def is_floating_point(self) -> builtins.bool: ...

    def __eq__(self, other: object | None) -> builtins.bool: ...

    def __hash__(self) -> builtins.int: ...

    def __repr__(self) -> str: ...

    def __reduce__(self) -> str: ...

bool: dtype = ...

uint8: dtype = ...

int8: dtype = ...

int16: dtype = ...

int32: dtype = ...

int64: dtype = ...

float16: dtype = ...

bfloat16: dtype = ...

float32: dtype = ...

float64: dtype = ...

class Tensor:
    """An n-dimensional array: a strided view of shared memory."""

    @property
    def shape(self) -> tuple[builtins.int, ...]: ...

    @property
    def strides(self) -> tuple[builtins.int, ...]:
        """In elements."""

    @property
    def dtype(self) -> dtype: ...

    @property
    def ndim(self) -> builtins.int: ...

    @property
    def nbytes(self) -> builtins.int: ...

    def dim(self) -> builtins.int: ...

    def numel(self) -> builtins.int:
        """Number of elements."""

    def size(self, dim: builtins.int | None = None) -> Any:
        """The shape, or the size of one dim."""

    def is_contiguous(self) -> builtins.bool: ...

    @property
    def is_readonly(self) -> builtins.bool: ...

    def __len__(self) -> builtins.int: ...

    def __iter__(self) -> Iterator[Tensor]: ...

    def __repr__(self) -> str: ...

    @property
    def T(self) -> Tensor:
        """The dims in reverse order."""

    @property
    def mT(self) -> Tensor:
        """The last two dims swapped."""

    def __getitem__(self, key: Any) -> Tensor: ...

    def __setitem__(self, key: Any, value: object) -> None: ...

    def clone(self) -> Tensor:
        """A contiguous copy."""

    def contiguous(self) -> Tensor:
        """The tensor itself when contiguous, otherwise a copy."""

    def copy_(self, source: object) -> Tensor:
        """Write the elements of source, broadcast and converted."""

    def fill_(self, value: builtins.float) -> Tensor:
        """Write one value into every element."""

    def __dlpack__(self, *, stream: object = None, max_version: tuple[builtins.int, builtins.int] | None = None, dl_device: tuple[builtins.int, builtins.int] | None = None, copy: builtins.bool | None = None) -> object: ...

    def __dlpack_device__(self) -> tuple[builtins.int, builtins.int]: ...

    def __array__(self, dtype: object = None, copy: builtins.bool | None = None) -> Any: ...

    def numpy(self) -> Any:
        """A NumPy array of the same memory."""

    def item(self) -> builtins.float | builtins.int | builtins.bool:
        """The only element."""

    def tolist(self) -> Any:
        """Nested Python lists."""

    def __float__(self) -> builtins.float: ...

    def __int__(self) -> builtins.int: ...

    def __bool__(self) -> builtins.bool: ...

    def data_ptr(self) -> builtins.int:
        """Address of the first element."""

    @property
    def layout(self) -> str:
        """How elements are stored: 'strided'."""

    @property
    def is_sparse(self) -> builtins.bool:
        """Whether only some of the elements are stored."""

    def is_sparse_coo(self) -> builtins.bool:
        """Whether elements are stored with their indices."""

    def is_sparse_csr(self) -> builtins.bool:
        """Whether elements are stored row by row."""

    def to_dense(self) -> Tensor:
        """The tensor itself: all its elements are stored."""

    def element_size(self) -> builtins.int:
        """Bytes of one element."""

    def to(self, dtype: object) -> Tensor:
        """The elements converted to another dtype, or to that of a tensor."""

    def type(self, dtype: object) -> Tensor:
        """The same as to."""

    def bool(self) -> Tensor: ...

    def int(self) -> Tensor: ...

    def long(self) -> Tensor: ...

    def half(self) -> Tensor: ...

    def bfloat16(self) -> Tensor: ...

    def float(self) -> Tensor: ...

    def double(self) -> Tensor: ...

    @property
    def requires_grad(self) -> builtins.bool:
        """Whether operations on this tensor are recorded for gradients."""

    @requires_grad.setter
    def requires_grad(self, arg: builtins.bool, /) -> None: ...

    def requires_grad_(self, requires_grad: builtins.bool = True) -> Tensor:
        """Make this tensor collect gradients, or cut it off the record."""

    @property
    def is_leaf(self) -> builtins.bool:
        """
        Whether this tensor was made by the user, not computed from recorded ones.
        """

    def detach(self) -> Tensor:
        """The same elements without a gradient record."""

    def detach_(self) -> Tensor:
        """Forget the gradient record."""

    @property
    def grad(self) -> Tensor | None:
        """The gradient collected so far, or None."""

    @grad.setter
    def grad(self, value: Tensor | None, /) -> None: ...

    def backward(self, gradient: object = None, retain_graph: builtins.bool | None = None, create_graph: builtins.bool = False, inputs: Tensor | MaskedTensor | Sequence[Tensor | MaskedTensor] | None = None) -> None:
        """
        Add the gradient of this tensor to every leaf it was computed from, or to inputs.
        """

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> HookHandle:
        """
        Call hook with the gradient of this tensor whenever that is known; what it returns, unless None, replaces the gradient. A hook must not change its argument, and one that refers to its own tensor keeps it alive until it is removed.
        """

    def retain_grad(self) -> None:
        """Keep the gradient of this tensor in grad, though it is no leaf."""

    @property
    def retains_grad(self) -> builtins.bool:
        """Whether retain_grad() was called for this tensor."""

    def new_empty(self, *size: builtins.int | Sequence[builtins.int], dtype: object = None, requires_grad: builtins.bool = False) -> Tensor:
        """A plain tensor of uninitialised elements, of this dtype."""

    def new_zeros(self, *size: builtins.int | Sequence[builtins.int], dtype: object = None, requires_grad: builtins.bool = False) -> Tensor:
        """A plain tensor of zeros, of this dtype."""

    def new_ones(self, *size: builtins.int | Sequence[builtins.int], dtype: object = None, requires_grad: builtins.bool = False) -> Tensor:
        """A plain tensor of ones, of this dtype."""

    def new_full(self, size: builtins.int | Sequence[builtins.int], fill_value: builtins.float, *, dtype: object = None, requires_grad: builtins.bool = False) -> Tensor:
        """A plain tensor of one value, of this dtype."""

    def new_tensor(self, data: object, *, dtype: object = None, requires_grad: builtins.bool = False) -> Tensor:
        """A plain tensor with a copy of data, of this dtype."""

    def abs(self) -> Tensor:
        """Absolute value."""

    def abs_(self) -> Tensor:
        """Absolute value."""

    def absolute(self) -> Tensor:
        """Absolute value."""

    def absolute_(self) -> Tensor:
        """Absolute value."""

    def acos(self) -> Tensor:
        """Inverse cosine."""

    def acos_(self) -> Tensor:
        """Inverse cosine."""

    def arccos(self) -> Tensor:
        """Inverse cosine."""

    def arccos_(self) -> Tensor:
        """Inverse cosine."""

    def acosh(self) -> Tensor:
        """Inverse hyperbolic cosine."""

    def acosh_(self) -> Tensor:
        """Inverse hyperbolic cosine."""

    def arccosh(self) -> Tensor:
        """Inverse hyperbolic cosine."""

    def arccosh_(self) -> Tensor:
        """Inverse hyperbolic cosine."""

    def angle(self) -> Tensor:
        """0 for positive numbers, pi for negative ones."""

    def asin(self) -> Tensor:
        """Inverse sine."""

    def asin_(self) -> Tensor:
        """Inverse sine."""

    def arcsin(self) -> Tensor:
        """Inverse sine."""

    def arcsin_(self) -> Tensor:
        """Inverse sine."""

    def asinh(self) -> Tensor:
        """Inverse hyperbolic sine."""

    def asinh_(self) -> Tensor:
        """Inverse hyperbolic sine."""

    def arcsinh(self) -> Tensor:
        """Inverse hyperbolic sine."""

    def arcsinh_(self) -> Tensor:
        """Inverse hyperbolic sine."""

    def atan(self) -> Tensor:
        """Inverse tangent."""

    def atan_(self) -> Tensor:
        """Inverse tangent."""

    def arctan(self) -> Tensor:
        """Inverse tangent."""

    def arctan_(self) -> Tensor:
        """Inverse tangent."""

    def atanh(self) -> Tensor:
        """Inverse hyperbolic tangent."""

    def atanh_(self) -> Tensor:
        """Inverse hyperbolic tangent."""

    def arctanh(self) -> Tensor:
        """Inverse hyperbolic tangent."""

    def arctanh_(self) -> Tensor:
        """Inverse hyperbolic tangent."""

    def bitwise_not(self) -> Tensor:
        """Every bit turned; of bool, not."""

    def bitwise_not_(self) -> Tensor:
        """Every bit turned; of bool, not."""

    def ceil(self) -> Tensor:
        """The next integer above."""

    def ceil_(self) -> Tensor:
        """The next integer above."""

    def conj_physical(self) -> Tensor:
        """Complex conjugate: of real numbers, the number itself."""

    def conj_physical_(self) -> Tensor:
        """Complex conjugate: of real numbers, the number itself."""

    def cos(self) -> Tensor:
        """Cosine."""

    def cos_(self) -> Tensor:
        """Cosine."""

    def cosh(self) -> Tensor:
        """Hyperbolic cosine."""

    def cosh_(self) -> Tensor:
        """Hyperbolic cosine."""

    def deg2rad(self) -> Tensor:
        """Degrees to radians."""

    def deg2rad_(self) -> Tensor:
        """Degrees to radians."""

    def digamma(self) -> Tensor:
        """Logarithmic derivative of the gamma function."""

    def digamma_(self) -> Tensor:
        """Logarithmic derivative of the gamma function."""

    def erf(self) -> Tensor:
        """Error function."""

    def erf_(self) -> Tensor:
        """Error function."""

    def erfc(self) -> Tensor:
        """1 - erf(x), exact for large x."""

    def erfc_(self) -> Tensor:
        """1 - erf(x), exact for large x."""

    def erfinv(self) -> Tensor:
        """Inverse of the error function."""

    def erfinv_(self) -> Tensor:
        """Inverse of the error function."""

    def exp(self) -> Tensor:
        """Exponential."""

    def exp_(self) -> Tensor:
        """Exponential."""

    def exp2(self) -> Tensor:
        """2 to the power of x."""

    def exp2_(self) -> Tensor:
        """2 to the power of x."""

    def expm1(self) -> Tensor:
        """exp(x) - 1, exact for small x."""

    def expm1_(self) -> Tensor:
        """exp(x) - 1, exact for small x."""

    def floor(self) -> Tensor:
        """The next integer below."""

    def floor_(self) -> Tensor:
        """The next integer below."""

    def frac(self) -> Tensor:
        """The part after the point, with the sign of x."""

    def frac_(self) -> Tensor:
        """The part after the point, with the sign of x."""

    def gelu(self, approximate: str = 'none') -> Tensor:
        """
        x times the probability that a normal number is below x, exactly or approximated by tanh.
        """

    def gelu_(self, approximate: str = 'none') -> Tensor:
        """
        x times the probability that a normal number is below x, exactly or approximated by tanh.
        """

    def i0(self) -> Tensor:
        """Modified Bessel function of the first kind, order 0."""

    def i0_(self) -> Tensor:
        """Modified Bessel function of the first kind, order 0."""

    def i1(self) -> Tensor:
        """Modified Bessel function of the first kind, order 1."""

    def i1_(self) -> Tensor:
        """Modified Bessel function of the first kind, order 1."""

    def isfinite(self) -> Tensor:
        """Neither NaN nor infinite."""

    def isinf(self) -> Tensor:
        """Infinite."""

    def isnan(self) -> Tensor:
        """Not a number."""

    def lgamma(self) -> Tensor:
        """Logarithm of the absolute value of the gamma function."""

    def lgamma_(self) -> Tensor:
        """Logarithm of the absolute value of the gamma function."""

    def log(self) -> Tensor:
        """Natural logarithm."""

    def log_(self) -> Tensor:
        """Natural logarithm."""

    def log10(self) -> Tensor:
        """Logarithm to base 10."""

    def log10_(self) -> Tensor:
        """Logarithm to base 10."""

    def log1p(self) -> Tensor:
        """log(1 + x), exact for small x."""

    def log1p_(self) -> Tensor:
        """log(1 + x), exact for small x."""

    def log2(self) -> Tensor:
        """Logarithm to base 2."""

    def log2_(self) -> Tensor:
        """Logarithm to base 2."""

    def logical_not(self) -> Tensor:
        """True where x is 0."""

    def logical_not_(self) -> Tensor:
        """True where x is 0."""

    def logit(self, eps: builtins.float | None = None) -> Tensor:
        """log(x / (1 - x)); with eps, x is first moved into [eps, 1 - eps]."""

    def logit_(self, eps: builtins.float | None = None) -> Tensor:
        """log(x / (1 - x)); with eps, x is first moved into [eps, 1 - eps]."""

    def nan_to_num(self, nan: builtins.float = 0, posinf: builtins.float | None = None, neginf: builtins.float | None = None) -> Tensor:
        """
        NaN and infinities replaced: by nan, and by posinf and neginf or else the largest numbers of the dtype.
        """

    def nan_to_num_(self, nan: builtins.float = 0, posinf: builtins.float | None = None, neginf: builtins.float | None = None) -> Tensor:
        """
        NaN and infinities replaced: by nan, and by posinf and neginf or else the largest numbers of the dtype.
        """

    def neg(self) -> Tensor:
        """-x."""

    def neg_(self) -> Tensor:
        """-x."""

    def negative(self) -> Tensor:
        """-x."""

    def negative_(self) -> Tensor:
        """-x."""

    def polygamma(self, n: builtins.int = 0) -> Tensor:
        """Derivative n of digamma."""

    def polygamma_(self, n: builtins.int = 0) -> Tensor:
        """Derivative n of digamma."""

    def positive(self) -> Tensor:
        """+x."""

    def rad2deg(self) -> Tensor:
        """Radians to degrees."""

    def rad2deg_(self) -> Tensor:
        """Radians to degrees."""

    def reciprocal(self) -> Tensor:
        """1 / x."""

    def reciprocal_(self) -> Tensor:
        """1 / x."""

    def relu(self) -> Tensor:
        """x where it is positive, 0 elsewhere."""

    def relu_(self) -> Tensor:
        """x where it is positive, 0 elsewhere."""

    def round(self, decimals: builtins.int = 0) -> Tensor:
        """The nearest number with so many decimals; halves go to the even one."""

    def round_(self, decimals: builtins.int = 0) -> Tensor:
        """The nearest number with so many decimals; halves go to the even one."""

    def rsqrt(self) -> Tensor:
        """1 / sqrt(x)."""

    def rsqrt_(self) -> Tensor:
        """1 / sqrt(x)."""

    def sigmoid(self) -> Tensor:
        """1 / (1 + exp(-x))."""

    def sigmoid_(self) -> Tensor:
        """1 / (1 + exp(-x))."""

    def sign(self) -> Tensor:
        """-1, 0 or 1."""

    def sign_(self) -> Tensor:
        """-1, 0 or 1."""

    def sgn(self) -> Tensor:
        """-1, 0 or 1."""

    def sgn_(self) -> Tensor:
        """-1, 0 or 1."""

    def signbit(self) -> Tensor:
        """True where the sign is set, -0 included."""

    def silu(self) -> Tensor:
        """x sigmoid(x)."""

    def silu_(self) -> Tensor:
        """x sigmoid(x)."""

    def sin(self) -> Tensor:
        """Sine."""

    def sin_(self) -> Tensor:
        """Sine."""

    def sinc(self) -> Tensor:
        """sin(pi x) / (pi x), 1 at 0."""

    def sinc_(self) -> Tensor:
        """sin(pi x) / (pi x), 1 at 0."""

    def sinh(self) -> Tensor:
        """Hyperbolic sine."""

    def sinh_(self) -> Tensor:
        """Hyperbolic sine."""

    def softplus(self, beta: builtins.float = 1, threshold: builtins.float = 20) -> Tensor:
        """
        log(1 + exp(beta x)) / beta; x itself where beta x is above the threshold.
        """

    def softplus_(self, beta: builtins.float = 1, threshold: builtins.float = 20) -> Tensor:
        """
        log(1 + exp(beta x)) / beta; x itself where beta x is above the threshold.
        """

    def sqrt(self) -> Tensor:
        """Square root."""

    def sqrt_(self) -> Tensor:
        """Square root."""

    def square(self) -> Tensor:
        """x x."""

    def square_(self) -> Tensor:
        """x x."""

    def tan(self) -> Tensor:
        """Tangent."""

    def tan_(self) -> Tensor:
        """Tangent."""

    def tanh(self) -> Tensor:
        """Hyperbolic tangent."""

    def tanh_(self) -> Tensor:
        """Hyperbolic tangent."""

    def trunc(self) -> Tensor:
        """The next integer towards 0."""

    def trunc_(self) -> Tensor:
        """The next integer towards 0."""

    def fix(self) -> Tensor:
        """The next integer towards 0."""

    def fix_(self) -> Tensor:
        """The next integer towards 0."""

    def add(self, other: object, *, alpha: builtins.float | None = None) -> Tensor:
        """x + y."""

    def add_(self, other: object, *, alpha: builtins.float | None = None) -> Tensor:
        """x + y."""

    def __add__(self, other: Any) -> Tensor: ...

    def __radd__(self, other: Any) -> Tensor: ...

    def __iadd__(self, other: Any) -> Tensor: ...

    def atan2(self, other: object) -> Tensor:
        """The angle of the point (y, x), in all four quadrants."""

    def atan2_(self, other: object) -> Tensor:
        """The angle of the point (y, x), in all four quadrants."""

    def arctan2(self, other: object) -> Tensor:
        """The angle of the point (y, x), in all four quadrants."""

    def arctan2_(self, other: object) -> Tensor:
        """The angle of the point (y, x), in all four quadrants."""

    def bitwise_and(self, other: object) -> Tensor:
        """Bits set in both."""

    def bitwise_and_(self, other: object) -> Tensor:
        """Bits set in both."""

    def __and__(self, other: Any) -> Tensor: ...

    def __rand__(self, other: Any) -> Tensor: ...

    def __iand__(self, other: Any) -> Tensor: ...

    def bitwise_left_shift(self, other: object) -> Tensor:
        """Bits of x moved up by y places."""

    def bitwise_left_shift_(self, other: object) -> Tensor:
        """Bits of x moved up by y places."""

    def __lshift__(self, other: Any) -> Tensor: ...

    def __rlshift__(self, other: Any) -> Tensor: ...

    def __ilshift__(self, other: Any) -> Tensor: ...

    def bitwise_or(self, other: object) -> Tensor:
        """Bits set in one or both."""

    def bitwise_or_(self, other: object) -> Tensor:
        """Bits set in one or both."""

    def __or__(self, other: Any) -> Tensor: ...

    def __ror__(self, other: Any) -> Tensor: ...

    def __ior__(self, other: Any) -> Tensor: ...

    def bitwise_right_shift(self, other: object) -> Tensor:
        """Bits of x moved down by y places, the sign kept."""

    def bitwise_right_shift_(self, other: object) -> Tensor:
        """Bits of x moved down by y places, the sign kept."""

    def __rshift__(self, other: Any) -> Tensor: ...

    def __rrshift__(self, other: Any) -> Tensor: ...

    def __irshift__(self, other: Any) -> Tensor: ...

    def bitwise_xor(self, other: object) -> Tensor:
        """Bits set in one of both."""

    def bitwise_xor_(self, other: object) -> Tensor:
        """Bits set in one of both."""

    def __xor__(self, other: Any) -> Tensor: ...

    def __rxor__(self, other: Any) -> Tensor: ...

    def __ixor__(self, other: Any) -> Tensor: ...

    def div(self, other: object, *, rounding_mode: str | None = None) -> Tensor:
        """x / y."""

    def div_(self, other: object, *, rounding_mode: str | None = None) -> Tensor:
        """x / y."""

    def divide(self, other: object, *, rounding_mode: str | None = None) -> Tensor:
        """x / y."""

    def divide_(self, other: object, *, rounding_mode: str | None = None) -> Tensor:
        """x / y."""

    def true_divide(self, other: object, *, rounding_mode: str | None = None) -> Tensor:
        """x / y."""

    def true_divide_(self, other: object, *, rounding_mode: str | None = None) -> Tensor:
        """x / y."""

    def __truediv__(self, other: Any) -> Tensor: ...

    def __rtruediv__(self, other: Any) -> Tensor: ...

    def __itruediv__(self, other: Any) -> Tensor: ...

    def eq(self, other: object) -> Tensor:
        """x == y."""

    def eq_(self, other: object) -> Tensor:
        """x == y."""

    def equal_to(self, other: object) -> Tensor:
        """x == y."""

    def equal_to_(self, other: object) -> Tensor:
        """x == y."""

    def __eq__(self, other: Any) -> Any: ...

    def floor_divide(self, other: object) -> Tensor:
        """The integer below x / y."""

    def floor_divide_(self, other: object) -> Tensor:
        """The integer below x / y."""

    def __floordiv__(self, other: Any) -> Tensor: ...

    def __rfloordiv__(self, other: Any) -> Tensor: ...

    def __ifloordiv__(self, other: Any) -> Tensor: ...

    def fmax(self, other: object) -> Tensor:
        """The larger number; NaN only where both are."""

    def fmin(self, other: object) -> Tensor:
        """The smaller number; NaN only where both are."""

    def fmod(self, other: object) -> Tensor:
        """The rest of x / y, with the sign of x."""

    def fmod_(self, other: object) -> Tensor:
        """The rest of x / y, with the sign of x."""

    def ge(self, other: object) -> Tensor:
        """x >= y."""

    def ge_(self, other: object) -> Tensor:
        """x >= y."""

    def greater_equal(self, other: object) -> Tensor:
        """x >= y."""

    def greater_equal_(self, other: object) -> Tensor:
        """x >= y."""

    def __ge__(self, other: Any) -> Any: ...

    def gt(self, other: object) -> Tensor:
        """x > y."""

    def gt_(self, other: object) -> Tensor:
        """x > y."""

    def greater(self, other: object) -> Tensor:
        """x > y."""

    def greater_(self, other: object) -> Tensor:
        """x > y."""

    def __gt__(self, other: Any) -> Any: ...

    def le(self, other: object) -> Tensor:
        """x <= y."""

    def le_(self, other: object) -> Tensor:
        """x <= y."""

    def less_equal(self, other: object) -> Tensor:
        """x <= y."""

    def less_equal_(self, other: object) -> Tensor:
        """x <= y."""

    def __le__(self, other: Any) -> Any: ...

    def logaddexp(self, other: object) -> Tensor:
        """log(exp(x) + exp(y))."""

    def logaddexp2(self, other: object) -> Tensor:
        """log2(2^x + 2^y)."""

    def logical_and(self, other: object) -> Tensor:
        """True where both are other than 0."""

    def logical_and_(self, other: object) -> Tensor:
        """True where both are other than 0."""

    def logical_or(self, other: object) -> Tensor:
        """True where one is other than 0."""

    def logical_or_(self, other: object) -> Tensor:
        """True where one is other than 0."""

    def logical_xor(self, other: object) -> Tensor:
        """True where exactly one is other than 0."""

    def logical_xor_(self, other: object) -> Tensor:
        """True where exactly one is other than 0."""

    def lt(self, other: object) -> Tensor:
        """x < y."""

    def lt_(self, other: object) -> Tensor:
        """x < y."""

    def less(self, other: object) -> Tensor:
        """x < y."""

    def less_(self, other: object) -> Tensor:
        """x < y."""

    def __lt__(self, other: Any) -> Any: ...

    def maximum(self, other: object) -> Tensor:
        """The larger number; NaN where one is."""

    def minimum(self, other: object) -> Tensor:
        """The smaller number; NaN where one is."""

    def mul(self, other: object) -> Tensor:
        """x y."""

    def mul_(self, other: object) -> Tensor:
        """x y."""

    def multiply(self, other: object) -> Tensor:
        """x y."""

    def multiply_(self, other: object) -> Tensor:
        """x y."""

    def __mul__(self, other: Any) -> Tensor: ...

    def __rmul__(self, other: Any) -> Tensor: ...

    def __imul__(self, other: Any) -> Tensor: ...

    def ne(self, other: object) -> Tensor:
        """x != y."""

    def ne_(self, other: object) -> Tensor:
        """x != y."""

    def not_equal(self, other: object) -> Tensor:
        """x != y."""

    def not_equal_(self, other: object) -> Tensor:
        """x != y."""

    def __ne__(self, other: Any) -> Any: ...

    def nextafter(self, other: object) -> Tensor:
        """The next number after x, towards y."""

    def nextafter_(self, other: object) -> Tensor:
        """The next number after x, towards y."""

    def pow(self, other: object) -> Tensor:
        """x to the power of y."""

    def pow_(self, other: object) -> Tensor:
        """x to the power of y."""

    def __pow__(self, other: Any) -> Tensor: ...

    def __rpow__(self, other: Any) -> Tensor: ...

    def __ipow__(self, other: Any) -> Tensor: ...

    def remainder(self, other: object) -> Tensor:
        """The rest of x / y, with the sign of y."""

    def remainder_(self, other: object) -> Tensor:
        """The rest of x / y, with the sign of y."""

    def __mod__(self, other: Any) -> Tensor: ...

    def __rmod__(self, other: Any) -> Tensor: ...

    def __imod__(self, other: Any) -> Tensor: ...

    def sub(self, other: object, *, alpha: builtins.float | None = None) -> Tensor:
        """x - y."""

    def sub_(self, other: object, *, alpha: builtins.float | None = None) -> Tensor:
        """x - y."""

    def subtract(self, other: object, *, alpha: builtins.float | None = None) -> Tensor:
        """x - y."""

    def subtract_(self, other: object, *, alpha: builtins.float | None = None) -> Tensor:
        """x - y."""

    def __sub__(self, other: Any) -> Tensor: ...

    def __rsub__(self, other: Any) -> Tensor: ...

    def __isub__(self, other: Any) -> Tensor: ...

    def trunc_divide(self, other: object) -> Tensor:
        """The integer next to x / y, towards 0."""

    def trunc_divide_(self, other: object) -> Tensor:
        """The integer next to x / y, towards 0."""

    def __neg__(self) -> Tensor: ...

    def __pos__(self) -> Tensor: ...

    def __abs__(self) -> Tensor: ...

    def __invert__(self) -> Tensor: ...

    def __hash__(self) -> builtins.int: ...

    __array_priority__: builtins.int = 1000

    def where(self, condition: object, other: object) -> Tensor:
        """This tensor where the condition is true, other elsewhere."""

    def clamp(self, min: object = None, max: object = None) -> Tensor:
        """Move the elements into [min, max]; NaN stays."""

    def clamp_(self, min: object = None, max: object = None) -> Tensor:
        """Move the elements into [min, max]; NaN stays."""

    def clip(self, min: object = None, max: object = None) -> Tensor:
        """The same as clamp."""

    def clip_(self, min: object = None, max: object = None) -> Tensor:
        """The same as clamp."""

    def lerp(self, end: object, weight: object) -> Tensor:
        """input + weight (end - input), exact at both ends."""

    def lerp_(self, end: object, weight: object) -> Tensor:
        """input + weight (end - input), exact at both ends."""

    def equal(self, other: object) -> builtins.bool:
        """Whether both have one shape and equal elements."""

    def isclose(self, other: object, rtol: builtins.float = 1e-05, atol: builtins.float = 1e-08, equal_nan: builtins.bool = False) -> Tensor:
        """True where the elements differ by at most atol + rtol abs(other)."""

    def allclose(self, other: object, rtol: builtins.float = 1e-05, atol: builtins.float = 1e-08, equal_nan: builtins.bool = False) -> builtins.bool:
        """Whether all elements differ by at most atol + rtol abs(other)."""

    def matmul(self, other: object) -> Tensor:
        """
        The product of matrices or vectors; leading dims are a batch and broadcast.
        """

    def mm(self, mat2: object) -> Tensor:
        """The product of two matrices."""

    def bmm(self, mat2: object) -> Tensor:
        """The products of two batches of matrices."""

    def mv(self, vec: object) -> Tensor:
        """The product of a matrix and a vector."""

    def dot(self, tensor: object) -> Tensor:
        """The sum of the products of two vectors' elements."""

    def outer(self, vec2: object) -> Tensor:
        """The matrix of all products of two vectors' elements."""

    def linear(self, weight: object, bias: object = None) -> Tensor:
        """
        The last dim multiplied by the transpose of a weight matrix, plus a bias.
        """

    def __matmul__(self, other: Any) -> Tensor: ...

    def __rmatmul__(self, other: Any) -> Tensor: ...

    def index_select(self, dim: builtins.int, index: object) -> Tensor:
        """The slices of one dim that a vector of indices names."""

    def gather(self, dim: builtins.int, index: object) -> Tensor:
        """Elements whose place along one dim is given for each."""

    def take_along_dim(self, indices: object, dim: builtins.int | None = None, *, axis: builtins.int | None = None) -> Tensor:
        """The same as gather, with broadcasting."""

    def scatter(self, dim: builtins.int, index: object, src: object) -> Tensor:
        """Write elements to places along one dim that are given for each."""

    def scatter_(self, dim: builtins.int, index: object, src: object) -> Tensor:
        """Write elements to places along one dim that are given for each."""

    def scatter_add(self, dim: builtins.int, index: object, src: object) -> Tensor:
        """Add elements to places along one dim that are given for each."""

    def scatter_add_(self, dim: builtins.int, index: object, src: object) -> Tensor:
        """Add elements to places along one dim that are given for each."""

    def index_add(self, dim: builtins.int, index: object, source: object, *, alpha: builtins.float = 1) -> Tensor:
        """Add slices to those that a vector of indices names."""

    def index_add_(self, dim: builtins.int, index: object, source: object, *, alpha: builtins.float = 1) -> Tensor:
        """Add slices to those that a vector of indices names."""

    def index_copy(self, dim: builtins.int, index: object, source: object) -> Tensor:
        """Write slices in place of those that a vector of indices names."""

    def index_copy_(self, dim: builtins.int, index: object, source: object) -> Tensor:
        """Write slices in place of those that a vector of indices names."""

    def index_fill(self, dim: builtins.int, index: object, value: builtins.float) -> Tensor:
        """Write one value into the slices that a vector of indices names."""

    def index_fill_(self, dim: builtins.int, index: object, value: builtins.float) -> Tensor:
        """Write one value into the slices that a vector of indices names."""

    def masked_select(self, mask: object) -> Tensor:
        """The elements where a mask is true, as a vector."""

    def masked_fill(self, mask: object, value: object) -> Tensor:
        """Write one value where a mask is true."""

    def masked_fill_(self, mask: object, value: object) -> Tensor:
        """Write one value where a mask is true."""

    def nonzero(self, *, as_tuple: builtins.bool = False) -> Any:
        """
        The indices of the elements that are not 0, as rows or as a vector for each dim.
        """

    def sort(self, dim: builtins.int = -1, descending: builtins.bool = False, stable: builtins.bool = True, *, axis: builtins.int | None = None) -> tuple[Tensor, Tensor]:
        """
        The elements of one dim in order, and where they stood; equal ones keep their order, NaN is the greatest.
        """

    def argsort(self, dim: builtins.int = -1, descending: builtins.bool = False, stable: builtins.bool = True, *, axis: builtins.int | None = None) -> Tensor:
        """
        The indices that sort one dim; equal elements keep their order, NaN is the greatest.
        """

    def topk(self, k: builtins.int, dim: builtins.int = -1, largest: builtins.bool = True, sorted: builtins.bool = True) -> tuple[Tensor, Tensor]:
        """
        The largest or smallest elements of one dim in order, and where they stood.
        """

    def unique(self, sorted: builtins.bool = True, return_inverse: builtins.bool = False, return_counts: builtins.bool = False, dim: builtins.int | None = None, *, axis: builtins.int | None = None) -> Any:
        """
        The different elements, or slices of one dim, in order; which of them each one is, and how many there are of each.
        """

    def bucketize(self, boundaries: object, *, right: builtins.bool = False, out_int32: builtins.bool = False) -> Tensor:
        """Between which of the sorted boundaries each element lies."""

    def split(self, split_size_or_sections: builtins.int | Sequence[builtins.int], dim: builtins.int = 0) -> tuple[Tensor, ...]:
        """Views of parts of one size, or of a list of sizes, of one dim."""

    def chunk(self, chunks: builtins.int, dim: builtins.int = 0) -> tuple[Tensor, ...]:
        """Views of at most so many parts of one dim."""

    def unbind(self, dim: builtins.int = 0) -> tuple[Tensor, ...]:
        """Views of the elements of one dim, which disappears."""

    def movedim(self, source: builtins.int | Sequence[builtins.int], destination: builtins.int | Sequence[builtins.int]) -> Tensor:
        """A view with dims moved to other places."""

    def swapaxes(self, axis0: builtins.int, axis1: builtins.int) -> Tensor:
        """A view with two dims swapped."""

    def unflatten(self, dim: builtins.int, sizes: Sequence[builtins.int]) -> Tensor:
        """Cut a dim into several."""

    def diagonal(self, offset: builtins.int = 0, dim1: builtins.int = 0, dim2: builtins.int = 1) -> Tensor:
        """A view of the diagonal of two dims, as the last dim."""

    def flip(self, dims: builtins.int | Sequence[builtins.int] | None = None, *, axis: builtins.int | Sequence[builtins.int] | None = None) -> Tensor:
        """Reverse the order of the elements along dims."""

    def roll(self, shifts: builtins.int | Sequence[builtins.int], dims: builtins.int | Sequence[builtins.int] | None = None, *, axis: builtins.int | Sequence[builtins.int] | None = None) -> Tensor:
        """
        Move the elements along dims; what leaves at one end enters at the other.
        """

    def repeat(self, *repeats: builtins.int | Sequence[builtins.int]) -> Tensor:
        """Put copies of a tensor side by side."""

    def tile(self, *dims: builtins.int | Sequence[builtins.int]) -> Tensor:
        """Put copies of a tensor side by side; missing repeats are 1."""

    def repeat_interleave(self, repeats: builtins.int, dim: builtins.int | None = None, *, axis: builtins.int | None = None) -> Tensor:
        """Repeat every element, in a row."""

    def tril(self, diagonal: builtins.int = 0) -> Tensor:
        """The lower triangle of the last two dims; zeros above."""

    def triu(self, diagonal: builtins.int = 0) -> Tensor:
        """The upper triangle of the last two dims; zeros below."""

    def permute(self, *dims: builtins.int | Sequence[builtins.int]) -> Tensor:
        """A view with the dims in another order."""

    def reshape(self, *shape: builtins.int | Sequence[builtins.int]) -> Tensor:
        """Another shape over the same elements, a view where possible."""

    def view(self, *shape: builtins.int | Sequence[builtins.int]) -> Tensor:
        """Another shape over the same elements, never a copy."""

    def expand(self, *shape: builtins.int | Sequence[builtins.int]) -> Tensor:
        """A view that repeats dims of size 1; -1 keeps a size."""

    def transpose(self, dim0: builtins.int, dim1: builtins.int) -> Tensor:
        """A view with two dims swapped."""

    def t(self) -> Tensor:
        """A view of a matrix with its dims swapped."""

    def ravel(self) -> Tensor:
        """Make all dims one, as a view where possible."""

    def flatten(self, start_dim: builtins.int = 0, end_dim: builtins.int = -1) -> Tensor:
        """Make dims one, as a view where possible."""

    def squeeze(self, dim: builtins.int | Sequence[builtins.int] | None = None) -> Tensor:
        """A view without dims of size 1."""

    def unsqueeze(self, dim: builtins.int) -> Tensor:
        """A view with one more dim, of size 1."""

    def broadcast_to(self, shape: builtins.int | Sequence[builtins.int]) -> Tensor:
        """A view repeated to a shape."""

    def narrow(self, dim: builtins.int, start: builtins.int, length: builtins.int) -> Tensor:
        """A view of a range of one dim."""

    def select(self, dim: builtins.int, index: builtins.int) -> Tensor:
        """A view of one element of one dim, which disappears."""

    def unfold(self, dim: builtins.int, size: builtins.int, step: builtins.int) -> Tensor:
        """
        A view of windows that slide along one dim, with their elements as the last dim.
        """

    def im2col(self, kernel_size: builtins.int | Sequence[builtins.int], dilation: builtins.int | Sequence[builtins.int] = 1, padding: builtins.int | Sequence[builtins.int] = 0, stride: builtins.int | Sequence[builtins.int] = 1) -> Tensor:
        """
        The windows of images as columns of matrices: torch.nn.functional.unfold.
        """

    def col2im(self, output_size: builtins.int | Sequence[builtins.int], kernel_size: builtins.int | Sequence[builtins.int], dilation: builtins.int | Sequence[builtins.int] = 1, padding: builtins.int | Sequence[builtins.int] = 0, stride: builtins.int | Sequence[builtins.int] = 1) -> Tensor:
        """Images from columns, overlaps added up: torch.nn.functional.fold."""

    def rand_like(self, *, dtype: object = None, requires_grad: builtins.bool = False, generator: Generator | None = None) -> Tensor:
        """Numbers uniform in [0, 1) with the shape of input."""

    def randn_like(self, *, dtype: object = None, requires_grad: builtins.bool = False, generator: Generator | None = None) -> Tensor:
        """Standard normal numbers with the shape of input."""

    def randint_like(self, low: builtins.int, high: builtins.int | None = None, *, dtype: object = None, generator: Generator | None = None) -> Tensor:
        """Integers in [low, high) with the shape of input."""

    def bernoulli(self, p: builtins.float | None = None, *, dtype: object = None, generator: Generator | None = None) -> Tensor:
        """1 with the probabilities in input, or with probability p; otherwise 0."""

    def multinomial(self, num_samples: builtins.int, replacement: builtins.bool = False, *, generator: Generator | None = None) -> Tensor:
        """Draw indices with probabilities proportional to the weights in input."""

    def dropout(self, p: builtins.float = 0.5, training: builtins.bool = True, *, generator: Generator | None = None) -> Tensor:
        """
        Set elements to 0 with probability p and scale the others by 1 / (1 - p).
        """

    def uniform_(self, low: builtins.float = 0.0, high: builtins.float = 1.0, *, generator: Generator | None = None) -> Tensor:
        """Write numbers uniform in [low, high) into the tensor."""

    def normal_(self, mean: builtins.float = 0.0, std: builtins.float = 1.0, *, generator: Generator | None = None) -> Tensor:
        """Write normal numbers into the tensor."""

    def bernoulli_(self, p: object = 0.5, *, generator: Generator | None = None) -> Tensor:
        """Write 1 with probability p and 0 otherwise into the tensor."""

    def layer_norm(self, normalized_shape: builtins.int | Sequence[builtins.int], weight: object = None, bias: object = None, eps: builtins.float = 1e-05) -> Tensor:
        """
        The last dims less their mean and divided by their deviation, times weight plus bias.
        """

    def mse_loss(self, target: object, reduction: str = 'mean') -> Tensor:
        """The squares of the differences: their mean or sum, or each of them."""

    def l1_loss(self, target: object, reduction: str = 'mean') -> Tensor:
        """The sizes of the differences: their mean or sum, or each of them."""

    def cross_entropy(self, target: object, weight: object = None, ignore_index: builtins.int = -100, reduction: str = 'mean', label_smoothing: builtins.float = 0.0) -> Tensor:
        """
        The negative logarithm of the softmax of the classes that positions should have.
        """

    def sum(self, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> Tensor:
        """Add the elements that count."""

    def prod(self, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> Tensor:
        """Multiply the elements that count."""

    def mean(self, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> Tensor:
        """Average the elements that count."""

    def amax(self, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> Tensor:
        """The largest of the elements that count."""

    def amin(self, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> Tensor:
        """The least of the elements that count."""

    def argmax(self, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> Tensor:
        """Where the first of the largest elements is."""

    def argmin(self, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> Tensor:
        """Where the first of the least elements is."""

    def logsumexp(self, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> Tensor:
        """The logarithm of the sum of exponentials."""

    def any(self, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> Tensor:
        """Whether an element that counts is not zero."""

    def all(self, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> Tensor:
        """Whether no element that counts is zero."""

    def count(self, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> Tensor:
        """How many elements count."""

    def var(self, dim: builtins.int | Sequence[builtins.int] | None = None, unbiased: builtins.bool | None = None, *, correction: builtins.float | None = None, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> Tensor:
        """The mean square of the distance from the mean, corrected."""

    def std(self, dim: builtins.int | Sequence[builtins.int] | None = None, unbiased: builtins.bool | None = None, *, correction: builtins.float | None = None, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> Tensor:
        """The root of the variance."""

    def norm(self, ord: builtins.float = 2.0, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> Tensor:
        """The length of the elements that count, as a vector."""

    def max(self, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> Any:
        """The largest element that counts, and along a dim its index."""

    def min(self, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> Any:
        """The least element that counts, and along a dim its index."""

    def minmax(self, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> tuple[Tensor, Tensor]:
        """The least and the largest element that count."""

    def softmax(self, dim: builtins.int | None = None, *, dtype: object = None, mask: object = None, axis: builtins.int | None = None) -> Tensor:
        """Exponentials of the elements that count, divided by their sum."""

    def log_softmax(self, dim: builtins.int | None = None, *, dtype: object = None, mask: object = None, axis: builtins.int | None = None) -> Tensor:
        """Logarithms of softmax, exact where that is tiny."""

    def softmin(self, dim: builtins.int | None = None, *, dtype: object = None, mask: object = None, axis: builtins.int | None = None) -> Tensor:
        """Softmax of -x."""

    def normalize(self, ord: builtins.float, dim: builtins.int | Sequence[builtins.int] | None = None, *, eps: builtins.float = 1e-12, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None) -> Tensor:
        """Divide the elements that count by their norm, or by eps."""

    def cumsum(self, dim: builtins.int | None = None, *, dtype: object = None, mask: object = None, axis: builtins.int | None = None) -> Tensor:
        """Running sums of the elements that count."""

    def cumprod(self, dim: builtins.int | None = None, *, dtype: object = None, mask: object = None, axis: builtins.int | None = None) -> Tensor:
        """Running products of the elements that count."""

    def median(self, dim: builtins.int = -1, *, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int = -1, keepdims: builtins.bool = False) -> Tensor:
        """The lower middle of the elements that count, when they are sorted."""

    def quantile(self, q: object, dim: builtins.int | None = None, *, keepdim: builtins.bool = False, interpolation: str = 'linear', dtype: object = None, mask: object = None, axis: builtins.int | None = None, keepdims: builtins.bool = False) -> Tensor:
        """What stands at places of the sorted elements that count, from 0 to 1."""

    def histogram(self, bins: object = 10, *, range: tuple[builtins.float, builtins.float] | None = None, density: builtins.bool = False, weight: object = None, mask: object = None) -> tuple[Any, Any]:
        """How many of the elements that count lie in each bin."""

    def cov(self, *, correction: builtins.float = 1, fweights: object = None, aweights: object = None, mask: object = None) -> Tensor:
        """Covariances of rows, over the observations that count in both."""

    def corrcoef(self, *, mask: object = None) -> Tensor:
        """Correlations of rows, over the observations that count in both."""

    def weighted_mean(self, weight: object, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> Tensor:
        """The mean of the elements that count, each as often as its weight says."""

    def mapping(self) -> Mapping | None:
        """
        What the memory is mapped from; None for ordinary memory. Views keep it.
        """

    def __reduce__(self) -> tuple[Any, ...]: ...

class MaskedTensor:
    """Data and a mask that tells which elements count (True = counts)."""

    def __init__(self, data: object, mask: object, requires_grad: builtins.bool = False) -> None: ...

    def get_data(self) -> Tensor:
        """The data, masked elements included."""

    def get_mask(self) -> Tensor:
        """The mask: True where an element counts."""

    def to_tensor(self, value: builtins.float) -> Tensor:
        """The data with value where the mask is False."""

    @property
    def shape(self) -> tuple[builtins.int, ...]: ...

    def size(self, dim: builtins.int | None = None) -> Any:
        """The shape, or the size of one dim."""

    @property
    def dtype(self) -> dtype: ...

    @property
    def ndim(self) -> builtins.int: ...

    def dim(self) -> builtins.int: ...

    def numel(self) -> builtins.int:
        """Number of elements, masked ones included."""

    @property
    def nbytes(self) -> builtins.int:
        """Bytes of data and mask."""

    @property
    def is_readonly(self) -> builtins.bool:
        """Whether data or mask cannot be written."""

    def is_contiguous(self) -> builtins.bool:
        """Whether data and mask are contiguous."""

    def __len__(self) -> builtins.int: ...

    def __repr__(self) -> str: ...

    def __iter__(self) -> Iterator[MaskedTensor]: ...

    def __getitem__(self, key: Any) -> MaskedTensor:
        """A view or copy of data and mask, by the rules of tensors."""

    def __setitem__(self, key: Any, value: object) -> None:
        """
        Write elements; they count then, unless value is a MaskedTensor that says otherwise.
        """

    @property
    def T(self) -> MaskedTensor:
        """The dims in reverse order."""

    @property
    def mT(self) -> MaskedTensor:
        """The last two dims swapped."""

    def item(self) -> builtins.float | builtins.int | builtins.bool:
        """The only element, if it counts."""

    def tolist(self) -> Any:
        """Nested Python lists, with None where the mask is False."""

    def __float__(self) -> builtins.float: ...

    def __int__(self) -> builtins.int: ...

    def __bool__(self) -> builtins.bool: ...

    def clone(self) -> MaskedTensor:
        """Contiguous copies of data and mask."""

    def contiguous(self) -> MaskedTensor:
        """The tensor itself when contiguous, otherwise a copy."""

    def copy_(self, source: object) -> MaskedTensor:
        """
        Write the elements of source, broadcast and converted; they count where it does.
        """

    def fill_(self, value: builtins.float) -> MaskedTensor:
        """Write one value into every element; all of them count."""

    def __copy__(self) -> MaskedTensor:
        """Another handle of the same elements."""

    def __deepcopy__(self, memo: object) -> MaskedTensor: ...

    @property
    def requires_grad(self) -> builtins.bool:
        """Whether operations on this tensor are recorded for gradients."""

    @requires_grad.setter
    def requires_grad(self, arg: builtins.bool, /) -> None: ...

    def requires_grad_(self, requires_grad: builtins.bool = True) -> MaskedTensor:
        """Make this tensor collect gradients, or cut it off the record."""

    @property
    def is_leaf(self) -> builtins.bool:
        """
        Whether this tensor was made by the user, not computed from recorded ones.
        """

    def detach(self) -> MaskedTensor:
        """The same elements without a gradient record."""

    def detach_(self) -> MaskedTensor:
        """Forget the gradient record."""

    @property
    def grad(self) -> MaskedTensor | None:
        """The gradient collected so far, or None."""

    @grad.setter
    def grad(self, value: MaskedTensor | Tensor | None, /) -> None: ...

    def backward(self, gradient: object = None, retain_graph: builtins.bool | None = None, create_graph: builtins.bool = False, inputs: Tensor | MaskedTensor | Sequence[Tensor | MaskedTensor] | None = None) -> None:
        """
        Add the gradient of what counts in this tensor to every leaf it was computed from, or to inputs.
        """

    def register_hook(self, hook: Callable[[MaskedTensor], MaskedTensor | Tensor | None]) -> HookHandle:
        """
        Call hook with the gradient of this tensor, which has its mask, whenever that is known; what it returns, unless None, replaces the gradient.
        """

    def retain_grad(self) -> None:
        """Keep the gradient of this tensor in grad, though it is no leaf."""

    @property
    def retains_grad(self) -> builtins.bool:
        """Whether retain_grad() was called for this tensor."""

    def __dlpack__(self, **kwargs: object) -> NoReturn: ...

    def __dlpack_device__(self) -> NoReturn: ...

    def __array__(self, *args: object, **kwargs: object) -> NoReturn: ...

    def numpy(self) -> NoReturn:
        """
        Refused, because the mask would be lost; use to_tensor(fill) or get_data().
        """

    __array_ufunc__: None = None

    @property
    def layout(self) -> str:
        """How elements are stored: 'strided'."""

    @property
    def is_sparse(self) -> builtins.bool:
        """Whether only some of the elements are stored."""

    def is_sparse_coo(self) -> builtins.bool:
        """Whether elements are stored with their indices."""

    def is_sparse_csr(self) -> builtins.bool:
        """Whether elements are stored row by row."""

    def to_dense(self) -> MaskedTensor:
        """The tensor itself: all its elements are stored."""

    def element_size(self) -> builtins.int:
        """Bytes of one element."""

    def to(self, dtype: object) -> MaskedTensor:
        """The elements converted to another dtype, or to that of a tensor."""

    def type(self, dtype: object) -> MaskedTensor:
        """The same as to."""

    def bool(self) -> MaskedTensor: ...

    def int(self) -> MaskedTensor: ...

    def long(self) -> MaskedTensor: ...

    def half(self) -> MaskedTensor: ...

    def bfloat16(self) -> MaskedTensor: ...

    def float(self) -> MaskedTensor: ...

    def double(self) -> MaskedTensor: ...

    def new_empty(self, *size: builtins.int | Sequence[builtins.int], dtype: object = None, requires_grad: builtins.bool = False) -> Tensor:
        """A plain tensor of uninitialised elements, of this dtype."""

    def new_zeros(self, *size: builtins.int | Sequence[builtins.int], dtype: object = None, requires_grad: builtins.bool = False) -> Tensor:
        """A plain tensor of zeros, of this dtype."""

    def new_ones(self, *size: builtins.int | Sequence[builtins.int], dtype: object = None, requires_grad: builtins.bool = False) -> Tensor:
        """A plain tensor of ones, of this dtype."""

    def new_full(self, size: builtins.int | Sequence[builtins.int], fill_value: builtins.float, *, dtype: object = None, requires_grad: builtins.bool = False) -> Tensor:
        """A plain tensor of one value, of this dtype."""

    def new_tensor(self, data: object, *, dtype: object = None, requires_grad: builtins.bool = False) -> Tensor:
        """A plain tensor with a copy of data, of this dtype."""

    def abs(self) -> MaskedTensor:
        """Absolute value."""

    def abs_(self) -> MaskedTensor:
        """Absolute value."""

    def absolute(self) -> MaskedTensor:
        """Absolute value."""

    def absolute_(self) -> MaskedTensor:
        """Absolute value."""

    def acos(self) -> MaskedTensor:
        """Inverse cosine."""

    def acos_(self) -> MaskedTensor:
        """Inverse cosine."""

    def arccos(self) -> MaskedTensor:
        """Inverse cosine."""

    def arccos_(self) -> MaskedTensor:
        """Inverse cosine."""

    def acosh(self) -> MaskedTensor:
        """Inverse hyperbolic cosine."""

    def acosh_(self) -> MaskedTensor:
        """Inverse hyperbolic cosine."""

    def arccosh(self) -> MaskedTensor:
        """Inverse hyperbolic cosine."""

    def arccosh_(self) -> MaskedTensor:
        """Inverse hyperbolic cosine."""

    def angle(self) -> MaskedTensor:
        """0 for positive numbers, pi for negative ones."""

    def asin(self) -> MaskedTensor:
        """Inverse sine."""

    def asin_(self) -> MaskedTensor:
        """Inverse sine."""

    def arcsin(self) -> MaskedTensor:
        """Inverse sine."""

    def arcsin_(self) -> MaskedTensor:
        """Inverse sine."""

    def asinh(self) -> MaskedTensor:
        """Inverse hyperbolic sine."""

    def asinh_(self) -> MaskedTensor:
        """Inverse hyperbolic sine."""

    def arcsinh(self) -> MaskedTensor:
        """Inverse hyperbolic sine."""

    def arcsinh_(self) -> MaskedTensor:
        """Inverse hyperbolic sine."""

    def atan(self) -> MaskedTensor:
        """Inverse tangent."""

    def atan_(self) -> MaskedTensor:
        """Inverse tangent."""

    def arctan(self) -> MaskedTensor:
        """Inverse tangent."""

    def arctan_(self) -> MaskedTensor:
        """Inverse tangent."""

    def atanh(self) -> MaskedTensor:
        """Inverse hyperbolic tangent."""

    def atanh_(self) -> MaskedTensor:
        """Inverse hyperbolic tangent."""

    def arctanh(self) -> MaskedTensor:
        """Inverse hyperbolic tangent."""

    def arctanh_(self) -> MaskedTensor:
        """Inverse hyperbolic tangent."""

    def bitwise_not(self) -> MaskedTensor:
        """Every bit turned; of bool, not."""

    def bitwise_not_(self) -> MaskedTensor:
        """Every bit turned; of bool, not."""

    def ceil(self) -> MaskedTensor:
        """The next integer above."""

    def ceil_(self) -> MaskedTensor:
        """The next integer above."""

    def conj_physical(self) -> MaskedTensor:
        """Complex conjugate: of real numbers, the number itself."""

    def conj_physical_(self) -> MaskedTensor:
        """Complex conjugate: of real numbers, the number itself."""

    def cos(self) -> MaskedTensor:
        """Cosine."""

    def cos_(self) -> MaskedTensor:
        """Cosine."""

    def cosh(self) -> MaskedTensor:
        """Hyperbolic cosine."""

    def cosh_(self) -> MaskedTensor:
        """Hyperbolic cosine."""

    def deg2rad(self) -> MaskedTensor:
        """Degrees to radians."""

    def deg2rad_(self) -> MaskedTensor:
        """Degrees to radians."""

    def digamma(self) -> MaskedTensor:
        """Logarithmic derivative of the gamma function."""

    def digamma_(self) -> MaskedTensor:
        """Logarithmic derivative of the gamma function."""

    def erf(self) -> MaskedTensor:
        """Error function."""

    def erf_(self) -> MaskedTensor:
        """Error function."""

    def erfc(self) -> MaskedTensor:
        """1 - erf(x), exact for large x."""

    def erfc_(self) -> MaskedTensor:
        """1 - erf(x), exact for large x."""

    def erfinv(self) -> MaskedTensor:
        """Inverse of the error function."""

    def erfinv_(self) -> MaskedTensor:
        """Inverse of the error function."""

    def exp(self) -> MaskedTensor:
        """Exponential."""

    def exp_(self) -> MaskedTensor:
        """Exponential."""

    def exp2(self) -> MaskedTensor:
        """2 to the power of x."""

    def exp2_(self) -> MaskedTensor:
        """2 to the power of x."""

    def expm1(self) -> MaskedTensor:
        """exp(x) - 1, exact for small x."""

    def expm1_(self) -> MaskedTensor:
        """exp(x) - 1, exact for small x."""

    def floor(self) -> MaskedTensor:
        """The next integer below."""

    def floor_(self) -> MaskedTensor:
        """The next integer below."""

    def frac(self) -> MaskedTensor:
        """The part after the point, with the sign of x."""

    def frac_(self) -> MaskedTensor:
        """The part after the point, with the sign of x."""

    def gelu(self, approximate: str = 'none') -> MaskedTensor:
        """
        x times the probability that a normal number is below x, exactly or approximated by tanh.
        """

    def gelu_(self, approximate: str = 'none') -> MaskedTensor:
        """
        x times the probability that a normal number is below x, exactly or approximated by tanh.
        """

    def i0(self) -> MaskedTensor:
        """Modified Bessel function of the first kind, order 0."""

    def i0_(self) -> MaskedTensor:
        """Modified Bessel function of the first kind, order 0."""

    def i1(self) -> MaskedTensor:
        """Modified Bessel function of the first kind, order 1."""

    def i1_(self) -> MaskedTensor:
        """Modified Bessel function of the first kind, order 1."""

    def isfinite(self) -> MaskedTensor:
        """Neither NaN nor infinite."""

    def isinf(self) -> MaskedTensor:
        """Infinite."""

    def isnan(self) -> MaskedTensor:
        """Not a number."""

    def lgamma(self) -> MaskedTensor:
        """Logarithm of the absolute value of the gamma function."""

    def lgamma_(self) -> MaskedTensor:
        """Logarithm of the absolute value of the gamma function."""

    def log(self) -> MaskedTensor:
        """Natural logarithm."""

    def log_(self) -> MaskedTensor:
        """Natural logarithm."""

    def log10(self) -> MaskedTensor:
        """Logarithm to base 10."""

    def log10_(self) -> MaskedTensor:
        """Logarithm to base 10."""

    def log1p(self) -> MaskedTensor:
        """log(1 + x), exact for small x."""

    def log1p_(self) -> MaskedTensor:
        """log(1 + x), exact for small x."""

    def log2(self) -> MaskedTensor:
        """Logarithm to base 2."""

    def log2_(self) -> MaskedTensor:
        """Logarithm to base 2."""

    def logical_not(self) -> MaskedTensor:
        """True where x is 0."""

    def logical_not_(self) -> MaskedTensor:
        """True where x is 0."""

    def logit(self, eps: builtins.float | None = None) -> MaskedTensor:
        """log(x / (1 - x)); with eps, x is first moved into [eps, 1 - eps]."""

    def logit_(self, eps: builtins.float | None = None) -> MaskedTensor:
        """log(x / (1 - x)); with eps, x is first moved into [eps, 1 - eps]."""

    def nan_to_num(self, nan: builtins.float = 0, posinf: builtins.float | None = None, neginf: builtins.float | None = None) -> MaskedTensor:
        """
        NaN and infinities replaced: by nan, and by posinf and neginf or else the largest numbers of the dtype.
        """

    def nan_to_num_(self, nan: builtins.float = 0, posinf: builtins.float | None = None, neginf: builtins.float | None = None) -> MaskedTensor:
        """
        NaN and infinities replaced: by nan, and by posinf and neginf or else the largest numbers of the dtype.
        """

    def neg(self) -> MaskedTensor:
        """-x."""

    def neg_(self) -> MaskedTensor:
        """-x."""

    def negative(self) -> MaskedTensor:
        """-x."""

    def negative_(self) -> MaskedTensor:
        """-x."""

    def polygamma(self, n: builtins.int = 0) -> MaskedTensor:
        """Derivative n of digamma."""

    def polygamma_(self, n: builtins.int = 0) -> MaskedTensor:
        """Derivative n of digamma."""

    def positive(self) -> MaskedTensor:
        """+x."""

    def rad2deg(self) -> MaskedTensor:
        """Radians to degrees."""

    def rad2deg_(self) -> MaskedTensor:
        """Radians to degrees."""

    def reciprocal(self) -> MaskedTensor:
        """1 / x."""

    def reciprocal_(self) -> MaskedTensor:
        """1 / x."""

    def relu(self) -> MaskedTensor:
        """x where it is positive, 0 elsewhere."""

    def relu_(self) -> MaskedTensor:
        """x where it is positive, 0 elsewhere."""

    def round(self, decimals: builtins.int = 0) -> MaskedTensor:
        """The nearest number with so many decimals; halves go to the even one."""

    def round_(self, decimals: builtins.int = 0) -> MaskedTensor:
        """The nearest number with so many decimals; halves go to the even one."""

    def rsqrt(self) -> MaskedTensor:
        """1 / sqrt(x)."""

    def rsqrt_(self) -> MaskedTensor:
        """1 / sqrt(x)."""

    def sigmoid(self) -> MaskedTensor:
        """1 / (1 + exp(-x))."""

    def sigmoid_(self) -> MaskedTensor:
        """1 / (1 + exp(-x))."""

    def sign(self) -> MaskedTensor:
        """-1, 0 or 1."""

    def sign_(self) -> MaskedTensor:
        """-1, 0 or 1."""

    def sgn(self) -> MaskedTensor:
        """-1, 0 or 1."""

    def sgn_(self) -> MaskedTensor:
        """-1, 0 or 1."""

    def signbit(self) -> MaskedTensor:
        """True where the sign is set, -0 included."""

    def silu(self) -> MaskedTensor:
        """x sigmoid(x)."""

    def silu_(self) -> MaskedTensor:
        """x sigmoid(x)."""

    def sin(self) -> MaskedTensor:
        """Sine."""

    def sin_(self) -> MaskedTensor:
        """Sine."""

    def sinc(self) -> MaskedTensor:
        """sin(pi x) / (pi x), 1 at 0."""

    def sinc_(self) -> MaskedTensor:
        """sin(pi x) / (pi x), 1 at 0."""

    def sinh(self) -> MaskedTensor:
        """Hyperbolic sine."""

    def sinh_(self) -> MaskedTensor:
        """Hyperbolic sine."""

    def softplus(self, beta: builtins.float = 1, threshold: builtins.float = 20) -> MaskedTensor:
        """
        log(1 + exp(beta x)) / beta; x itself where beta x is above the threshold.
        """

    def softplus_(self, beta: builtins.float = 1, threshold: builtins.float = 20) -> MaskedTensor:
        """
        log(1 + exp(beta x)) / beta; x itself where beta x is above the threshold.
        """

    def sqrt(self) -> MaskedTensor:
        """Square root."""

    def sqrt_(self) -> MaskedTensor:
        """Square root."""

    def square(self) -> MaskedTensor:
        """x x."""

    def square_(self) -> MaskedTensor:
        """x x."""

    def tan(self) -> MaskedTensor:
        """Tangent."""

    def tan_(self) -> MaskedTensor:
        """Tangent."""

    def tanh(self) -> MaskedTensor:
        """Hyperbolic tangent."""

    def tanh_(self) -> MaskedTensor:
        """Hyperbolic tangent."""

    def trunc(self) -> MaskedTensor:
        """The next integer towards 0."""

    def trunc_(self) -> MaskedTensor:
        """The next integer towards 0."""

    def fix(self) -> MaskedTensor:
        """The next integer towards 0."""

    def fix_(self) -> MaskedTensor:
        """The next integer towards 0."""

    def add(self, other: object, *, alpha: builtins.float | None = None) -> MaskedTensor:
        """x + y."""

    def add_(self, other: object, *, alpha: builtins.float | None = None) -> MaskedTensor:
        """x + y."""

    def __add__(self, other: Any) -> MaskedTensor: ...

    def __radd__(self, other: Any) -> MaskedTensor: ...

    def __iadd__(self, other: Any) -> MaskedTensor: ...

    def atan2(self, other: object) -> MaskedTensor:
        """The angle of the point (y, x), in all four quadrants."""

    def atan2_(self, other: object) -> MaskedTensor:
        """The angle of the point (y, x), in all four quadrants."""

    def arctan2(self, other: object) -> MaskedTensor:
        """The angle of the point (y, x), in all four quadrants."""

    def arctan2_(self, other: object) -> MaskedTensor:
        """The angle of the point (y, x), in all four quadrants."""

    def bitwise_and(self, other: object) -> MaskedTensor:
        """Bits set in both."""

    def bitwise_and_(self, other: object) -> MaskedTensor:
        """Bits set in both."""

    def __and__(self, other: Any) -> MaskedTensor: ...

    def __rand__(self, other: Any) -> MaskedTensor: ...

    def __iand__(self, other: Any) -> MaskedTensor: ...

    def bitwise_left_shift(self, other: object) -> MaskedTensor:
        """Bits of x moved up by y places."""

    def bitwise_left_shift_(self, other: object) -> MaskedTensor:
        """Bits of x moved up by y places."""

    def __lshift__(self, other: Any) -> MaskedTensor: ...

    def __rlshift__(self, other: Any) -> MaskedTensor: ...

    def __ilshift__(self, other: Any) -> MaskedTensor: ...

    def bitwise_or(self, other: object) -> MaskedTensor:
        """Bits set in one or both."""

    def bitwise_or_(self, other: object) -> MaskedTensor:
        """Bits set in one or both."""

    def __or__(self, other: Any) -> MaskedTensor: ...

    def __ror__(self, other: Any) -> MaskedTensor: ...

    def __ior__(self, other: Any) -> MaskedTensor: ...

    def bitwise_right_shift(self, other: object) -> MaskedTensor:
        """Bits of x moved down by y places, the sign kept."""

    def bitwise_right_shift_(self, other: object) -> MaskedTensor:
        """Bits of x moved down by y places, the sign kept."""

    def __rshift__(self, other: Any) -> MaskedTensor: ...

    def __rrshift__(self, other: Any) -> MaskedTensor: ...

    def __irshift__(self, other: Any) -> MaskedTensor: ...

    def bitwise_xor(self, other: object) -> MaskedTensor:
        """Bits set in one of both."""

    def bitwise_xor_(self, other: object) -> MaskedTensor:
        """Bits set in one of both."""

    def __xor__(self, other: Any) -> MaskedTensor: ...

    def __rxor__(self, other: Any) -> MaskedTensor: ...

    def __ixor__(self, other: Any) -> MaskedTensor: ...

    def div(self, other: object, *, rounding_mode: str | None = None) -> MaskedTensor:
        """x / y."""

    def div_(self, other: object, *, rounding_mode: str | None = None) -> MaskedTensor:
        """x / y."""

    def divide(self, other: object, *, rounding_mode: str | None = None) -> MaskedTensor:
        """x / y."""

    def divide_(self, other: object, *, rounding_mode: str | None = None) -> MaskedTensor:
        """x / y."""

    def true_divide(self, other: object, *, rounding_mode: str | None = None) -> MaskedTensor:
        """x / y."""

    def true_divide_(self, other: object, *, rounding_mode: str | None = None) -> MaskedTensor:
        """x / y."""

    def __truediv__(self, other: Any) -> MaskedTensor: ...

    def __rtruediv__(self, other: Any) -> MaskedTensor: ...

    def __itruediv__(self, other: Any) -> MaskedTensor: ...

    def eq(self, other: object) -> MaskedTensor:
        """x == y."""

    def eq_(self, other: object) -> MaskedTensor:
        """x == y."""

    def equal_to(self, other: object) -> MaskedTensor:
        """x == y."""

    def equal_to_(self, other: object) -> MaskedTensor:
        """x == y."""

    def __eq__(self, other: Any) -> Any: ...

    def floor_divide(self, other: object) -> MaskedTensor:
        """The integer below x / y."""

    def floor_divide_(self, other: object) -> MaskedTensor:
        """The integer below x / y."""

    def __floordiv__(self, other: Any) -> MaskedTensor: ...

    def __rfloordiv__(self, other: Any) -> MaskedTensor: ...

    def __ifloordiv__(self, other: Any) -> MaskedTensor: ...

    def fmax(self, other: object) -> MaskedTensor:
        """The larger number; NaN only where both are."""

    def fmin(self, other: object) -> MaskedTensor:
        """The smaller number; NaN only where both are."""

    def fmod(self, other: object) -> MaskedTensor:
        """The rest of x / y, with the sign of x."""

    def fmod_(self, other: object) -> MaskedTensor:
        """The rest of x / y, with the sign of x."""

    def ge(self, other: object) -> MaskedTensor:
        """x >= y."""

    def ge_(self, other: object) -> MaskedTensor:
        """x >= y."""

    def greater_equal(self, other: object) -> MaskedTensor:
        """x >= y."""

    def greater_equal_(self, other: object) -> MaskedTensor:
        """x >= y."""

    def __ge__(self, other: Any) -> Any: ...

    def gt(self, other: object) -> MaskedTensor:
        """x > y."""

    def gt_(self, other: object) -> MaskedTensor:
        """x > y."""

    def greater(self, other: object) -> MaskedTensor:
        """x > y."""

    def greater_(self, other: object) -> MaskedTensor:
        """x > y."""

    def __gt__(self, other: Any) -> Any: ...

    def le(self, other: object) -> MaskedTensor:
        """x <= y."""

    def le_(self, other: object) -> MaskedTensor:
        """x <= y."""

    def less_equal(self, other: object) -> MaskedTensor:
        """x <= y."""

    def less_equal_(self, other: object) -> MaskedTensor:
        """x <= y."""

    def __le__(self, other: Any) -> Any: ...

    def logaddexp(self, other: object) -> MaskedTensor:
        """log(exp(x) + exp(y))."""

    def logaddexp2(self, other: object) -> MaskedTensor:
        """log2(2^x + 2^y)."""

    def logical_and(self, other: object) -> MaskedTensor:
        """True where both are other than 0."""

    def logical_and_(self, other: object) -> MaskedTensor:
        """True where both are other than 0."""

    def logical_or(self, other: object) -> MaskedTensor:
        """True where one is other than 0."""

    def logical_or_(self, other: object) -> MaskedTensor:
        """True where one is other than 0."""

    def logical_xor(self, other: object) -> MaskedTensor:
        """True where exactly one is other than 0."""

    def logical_xor_(self, other: object) -> MaskedTensor:
        """True where exactly one is other than 0."""

    def lt(self, other: object) -> MaskedTensor:
        """x < y."""

    def lt_(self, other: object) -> MaskedTensor:
        """x < y."""

    def less(self, other: object) -> MaskedTensor:
        """x < y."""

    def less_(self, other: object) -> MaskedTensor:
        """x < y."""

    def __lt__(self, other: Any) -> Any: ...

    def maximum(self, other: object) -> MaskedTensor:
        """The larger number; NaN where one is."""

    def minimum(self, other: object) -> MaskedTensor:
        """The smaller number; NaN where one is."""

    def mul(self, other: object) -> MaskedTensor:
        """x y."""

    def mul_(self, other: object) -> MaskedTensor:
        """x y."""

    def multiply(self, other: object) -> MaskedTensor:
        """x y."""

    def multiply_(self, other: object) -> MaskedTensor:
        """x y."""

    def __mul__(self, other: Any) -> MaskedTensor: ...

    def __rmul__(self, other: Any) -> MaskedTensor: ...

    def __imul__(self, other: Any) -> MaskedTensor: ...

    def ne(self, other: object) -> MaskedTensor:
        """x != y."""

    def ne_(self, other: object) -> MaskedTensor:
        """x != y."""

    def not_equal(self, other: object) -> MaskedTensor:
        """x != y."""

    def not_equal_(self, other: object) -> MaskedTensor:
        """x != y."""

    def __ne__(self, other: Any) -> Any: ...

    def nextafter(self, other: object) -> MaskedTensor:
        """The next number after x, towards y."""

    def nextafter_(self, other: object) -> MaskedTensor:
        """The next number after x, towards y."""

    def pow(self, other: object) -> MaskedTensor:
        """x to the power of y."""

    def pow_(self, other: object) -> MaskedTensor:
        """x to the power of y."""

    def __pow__(self, other: Any) -> MaskedTensor: ...

    def __rpow__(self, other: Any) -> MaskedTensor: ...

    def __ipow__(self, other: Any) -> MaskedTensor: ...

    def remainder(self, other: object) -> MaskedTensor:
        """The rest of x / y, with the sign of y."""

    def remainder_(self, other: object) -> MaskedTensor:
        """The rest of x / y, with the sign of y."""

    def __mod__(self, other: Any) -> MaskedTensor: ...

    def __rmod__(self, other: Any) -> MaskedTensor: ...

    def __imod__(self, other: Any) -> MaskedTensor: ...

    def sub(self, other: object, *, alpha: builtins.float | None = None) -> MaskedTensor:
        """x - y."""

    def sub_(self, other: object, *, alpha: builtins.float | None = None) -> MaskedTensor:
        """x - y."""

    def subtract(self, other: object, *, alpha: builtins.float | None = None) -> MaskedTensor:
        """x - y."""

    def subtract_(self, other: object, *, alpha: builtins.float | None = None) -> MaskedTensor:
        """x - y."""

    def __sub__(self, other: Any) -> MaskedTensor: ...

    def __rsub__(self, other: Any) -> MaskedTensor: ...

    def __isub__(self, other: Any) -> MaskedTensor: ...

    def trunc_divide(self, other: object) -> MaskedTensor:
        """The integer next to x / y, towards 0."""

    def trunc_divide_(self, other: object) -> MaskedTensor:
        """The integer next to x / y, towards 0."""

    def __neg__(self) -> MaskedTensor: ...

    def __pos__(self) -> MaskedTensor: ...

    def __abs__(self) -> MaskedTensor: ...

    def __invert__(self) -> MaskedTensor: ...

    def __hash__(self) -> builtins.int: ...

    __array_priority__: builtins.int = 1000

    def where(self, condition: object, other: object) -> MaskedTensor:
        """This tensor where the condition is true, other elsewhere."""

    def clamp(self, min: object = None, max: object = None) -> MaskedTensor:
        """Move the elements into [min, max]; NaN stays."""

    def clamp_(self, min: object = None, max: object = None) -> MaskedTensor:
        """Move the elements into [min, max]; NaN stays."""

    def clip(self, min: object = None, max: object = None) -> MaskedTensor:
        """The same as clamp."""

    def clip_(self, min: object = None, max: object = None) -> MaskedTensor:
        """The same as clamp."""

    def lerp(self, end: object, weight: object) -> MaskedTensor:
        """input + weight (end - input), exact at both ends."""

    def lerp_(self, end: object, weight: object) -> MaskedTensor:
        """input + weight (end - input), exact at both ends."""

    def equal(self, other: object) -> builtins.bool:
        """Whether both have one shape and equal elements."""

    def isclose(self, other: object, rtol: builtins.float = 1e-05, atol: builtins.float = 1e-08, equal_nan: builtins.bool = False) -> MaskedTensor:
        """True where the elements differ by at most atol + rtol abs(other)."""

    def allclose(self, other: object, rtol: builtins.float = 1e-05, atol: builtins.float = 1e-08, equal_nan: builtins.bool = False) -> builtins.bool:
        """Whether all elements differ by at most atol + rtol abs(other)."""

    def matmul(self, other: object) -> MaskedTensor:
        """
        The product of matrices or vectors; leading dims are a batch and broadcast.
        """

    def mm(self, mat2: object) -> MaskedTensor:
        """The product of two matrices."""

    def bmm(self, mat2: object) -> MaskedTensor:
        """The products of two batches of matrices."""

    def mv(self, vec: object) -> MaskedTensor:
        """The product of a matrix and a vector."""

    def dot(self, tensor: object) -> MaskedTensor:
        """The sum of the products of two vectors' elements."""

    def outer(self, vec2: object) -> MaskedTensor:
        """The matrix of all products of two vectors' elements."""

    def linear(self, weight: object, bias: object = None) -> MaskedTensor:
        """
        The last dim multiplied by the transpose of a weight matrix, plus a bias.
        """

    def __matmul__(self, other: Any) -> MaskedTensor: ...

    def __rmatmul__(self, other: Any) -> MaskedTensor: ...

    def index_select(self, dim: builtins.int, index: object) -> MaskedTensor:
        """The slices of one dim that a vector of indices names."""

    def gather(self, dim: builtins.int, index: object) -> MaskedTensor:
        """Elements whose place along one dim is given for each."""

    def take_along_dim(self, indices: object, dim: builtins.int | None = None, *, axis: builtins.int | None = None) -> MaskedTensor:
        """The same as gather, with broadcasting."""

    def scatter(self, dim: builtins.int, index: object, src: object) -> MaskedTensor:
        """Write elements to places along one dim that are given for each."""

    def scatter_(self, dim: builtins.int, index: object, src: object) -> MaskedTensor:
        """Write elements to places along one dim that are given for each."""

    def scatter_add(self, dim: builtins.int, index: object, src: object) -> MaskedTensor:
        """Add elements to places along one dim that are given for each."""

    def scatter_add_(self, dim: builtins.int, index: object, src: object) -> MaskedTensor:
        """Add elements to places along one dim that are given for each."""

    def index_add(self, dim: builtins.int, index: object, source: object, *, alpha: builtins.float = 1) -> MaskedTensor:
        """Add slices to those that a vector of indices names."""

    def index_add_(self, dim: builtins.int, index: object, source: object, *, alpha: builtins.float = 1) -> MaskedTensor:
        """Add slices to those that a vector of indices names."""

    def index_copy(self, dim: builtins.int, index: object, source: object) -> MaskedTensor:
        """Write slices in place of those that a vector of indices names."""

    def index_copy_(self, dim: builtins.int, index: object, source: object) -> MaskedTensor:
        """Write slices in place of those that a vector of indices names."""

    def index_fill(self, dim: builtins.int, index: object, value: builtins.float) -> MaskedTensor:
        """Write one value into the slices that a vector of indices names."""

    def index_fill_(self, dim: builtins.int, index: object, value: builtins.float) -> MaskedTensor:
        """Write one value into the slices that a vector of indices names."""

    def masked_select(self, mask: object) -> MaskedTensor:
        """The elements where a mask is true, as a vector."""

    def masked_fill(self, mask: object, value: object) -> MaskedTensor:
        """Write one value where a mask is true."""

    def masked_fill_(self, mask: object, value: object) -> MaskedTensor:
        """Write one value where a mask is true."""

    def nonzero(self, *, as_tuple: builtins.bool = False) -> Any:
        """
        The indices of the elements that are not 0, as rows or as a vector for each dim.
        """

    def sort(self, dim: builtins.int = -1, descending: builtins.bool = False, stable: builtins.bool = True, *, axis: builtins.int | None = None) -> tuple[MaskedTensor, MaskedTensor]:
        """
        The elements of one dim in order, and where they stood; equal ones keep their order, NaN is the greatest.
        """

    def argsort(self, dim: builtins.int = -1, descending: builtins.bool = False, stable: builtins.bool = True, *, axis: builtins.int | None = None) -> Tensor:
        """
        The indices that sort one dim; equal elements keep their order, NaN is the greatest.
        """

    def topk(self, k: builtins.int, dim: builtins.int = -1, largest: builtins.bool = True, sorted: builtins.bool = True) -> tuple[MaskedTensor, MaskedTensor]:
        """
        The largest or smallest elements of one dim in order, and where they stood.
        """

    def unique(self, sorted: builtins.bool = True, return_inverse: builtins.bool = False, return_counts: builtins.bool = False, dim: builtins.int | None = None, *, axis: builtins.int | None = None) -> Any:
        """
        The different elements, or slices of one dim, in order; which of them each one is, and how many there are of each.
        """

    def bucketize(self, boundaries: object, *, right: builtins.bool = False, out_int32: builtins.bool = False) -> MaskedTensor:
        """Between which of the sorted boundaries each element lies."""

    def split(self, split_size_or_sections: builtins.int | Sequence[builtins.int], dim: builtins.int = 0) -> tuple[MaskedTensor, ...]:
        """Views of parts of one size, or of a list of sizes, of one dim."""

    def chunk(self, chunks: builtins.int, dim: builtins.int = 0) -> tuple[MaskedTensor, ...]:
        """Views of at most so many parts of one dim."""

    def unbind(self, dim: builtins.int = 0) -> tuple[MaskedTensor, ...]:
        """Views of the elements of one dim, which disappears."""

    def movedim(self, source: builtins.int | Sequence[builtins.int], destination: builtins.int | Sequence[builtins.int]) -> MaskedTensor:
        """A view with dims moved to other places."""

    def swapaxes(self, axis0: builtins.int, axis1: builtins.int) -> MaskedTensor:
        """A view with two dims swapped."""

    def unflatten(self, dim: builtins.int, sizes: Sequence[builtins.int]) -> MaskedTensor:
        """Cut a dim into several."""

    def diagonal(self, offset: builtins.int = 0, dim1: builtins.int = 0, dim2: builtins.int = 1) -> MaskedTensor:
        """A view of the diagonal of two dims, as the last dim."""

    def flip(self, dims: builtins.int | Sequence[builtins.int] | None = None, *, axis: builtins.int | Sequence[builtins.int] | None = None) -> MaskedTensor:
        """Reverse the order of the elements along dims."""

    def roll(self, shifts: builtins.int | Sequence[builtins.int], dims: builtins.int | Sequence[builtins.int] | None = None, *, axis: builtins.int | Sequence[builtins.int] | None = None) -> MaskedTensor:
        """
        Move the elements along dims; what leaves at one end enters at the other.
        """

    def repeat(self, *repeats: builtins.int | Sequence[builtins.int]) -> MaskedTensor:
        """Put copies of a tensor side by side."""

    def tile(self, *dims: builtins.int | Sequence[builtins.int]) -> MaskedTensor:
        """Put copies of a tensor side by side; missing repeats are 1."""

    def repeat_interleave(self, repeats: builtins.int, dim: builtins.int | None = None, *, axis: builtins.int | None = None) -> MaskedTensor:
        """Repeat every element, in a row."""

    def tril(self, diagonal: builtins.int = 0) -> MaskedTensor:
        """The lower triangle of the last two dims; zeros above."""

    def triu(self, diagonal: builtins.int = 0) -> MaskedTensor:
        """The upper triangle of the last two dims; zeros below."""

    def permute(self, *dims: builtins.int | Sequence[builtins.int]) -> MaskedTensor:
        """A view with the dims in another order."""

    def reshape(self, *shape: builtins.int | Sequence[builtins.int]) -> MaskedTensor:
        """Another shape over the same elements, a view where possible."""

    def view(self, *shape: builtins.int | Sequence[builtins.int]) -> MaskedTensor:
        """Another shape over the same elements, never a copy."""

    def expand(self, *shape: builtins.int | Sequence[builtins.int]) -> MaskedTensor:
        """A view that repeats dims of size 1; -1 keeps a size."""

    def transpose(self, dim0: builtins.int, dim1: builtins.int) -> MaskedTensor:
        """A view with two dims swapped."""

    def t(self) -> MaskedTensor:
        """A view of a matrix with its dims swapped."""

    def ravel(self) -> MaskedTensor:
        """Make all dims one, as a view where possible."""

    def flatten(self, start_dim: builtins.int = 0, end_dim: builtins.int = -1) -> MaskedTensor:
        """Make dims one, as a view where possible."""

    def squeeze(self, dim: builtins.int | Sequence[builtins.int] | None = None) -> MaskedTensor:
        """A view without dims of size 1."""

    def unsqueeze(self, dim: builtins.int) -> MaskedTensor:
        """A view with one more dim, of size 1."""

    def broadcast_to(self, shape: builtins.int | Sequence[builtins.int]) -> MaskedTensor:
        """A view repeated to a shape."""

    def narrow(self, dim: builtins.int, start: builtins.int, length: builtins.int) -> MaskedTensor:
        """A view of a range of one dim."""

    def select(self, dim: builtins.int, index: builtins.int) -> MaskedTensor:
        """A view of one element of one dim, which disappears."""

    def unfold(self, dim: builtins.int, size: builtins.int, step: builtins.int) -> MaskedTensor:
        """
        A view of windows that slide along one dim, with their elements as the last dim.
        """

    def im2col(self, kernel_size: builtins.int | Sequence[builtins.int], dilation: builtins.int | Sequence[builtins.int] = 1, padding: builtins.int | Sequence[builtins.int] = 0, stride: builtins.int | Sequence[builtins.int] = 1) -> MaskedTensor:
        """
        The windows of images as columns of matrices: torch.nn.functional.unfold.
        """

    def col2im(self, output_size: builtins.int | Sequence[builtins.int], kernel_size: builtins.int | Sequence[builtins.int], dilation: builtins.int | Sequence[builtins.int] = 1, padding: builtins.int | Sequence[builtins.int] = 0, stride: builtins.int | Sequence[builtins.int] = 1) -> MaskedTensor:
        """Images from columns, overlaps added up: torch.nn.functional.fold."""

    def rand_like(self, *, dtype: object = None, requires_grad: builtins.bool = False, generator: Generator | None = None) -> MaskedTensor:
        """Numbers uniform in [0, 1) with the shape of input."""

    def randn_like(self, *, dtype: object = None, requires_grad: builtins.bool = False, generator: Generator | None = None) -> MaskedTensor:
        """Standard normal numbers with the shape of input."""

    def randint_like(self, low: builtins.int, high: builtins.int | None = None, *, dtype: object = None, generator: Generator | None = None) -> MaskedTensor:
        """Integers in [low, high) with the shape of input."""

    def bernoulli(self, p: builtins.float | None = None, *, dtype: object = None, generator: Generator | None = None) -> MaskedTensor:
        """1 with the probabilities in input, or with probability p; otherwise 0."""

    def multinomial(self, num_samples: builtins.int, replacement: builtins.bool = False, *, generator: Generator | None = None) -> Tensor:
        """Draw indices with probabilities proportional to the weights in input."""

    def dropout(self, p: builtins.float = 0.5, training: builtins.bool = True, *, generator: Generator | None = None) -> MaskedTensor:
        """
        Set elements to 0 with probability p and scale the others by 1 / (1 - p).
        """

    def uniform_(self, low: builtins.float = 0.0, high: builtins.float = 1.0, *, generator: Generator | None = None) -> MaskedTensor:
        """Write numbers uniform in [low, high) into the tensor."""

    def normal_(self, mean: builtins.float = 0.0, std: builtins.float = 1.0, *, generator: Generator | None = None) -> MaskedTensor:
        """Write normal numbers into the tensor."""

    def bernoulli_(self, p: object = 0.5, *, generator: Generator | None = None) -> MaskedTensor:
        """Write 1 with probability p and 0 otherwise into the tensor."""

    def layer_norm(self, normalized_shape: builtins.int | Sequence[builtins.int], weight: object = None, bias: object = None, eps: builtins.float = 1e-05) -> MaskedTensor:
        """
        The last dims less their mean and divided by their deviation, times weight plus bias.
        """

    def mse_loss(self, target: object, reduction: str = 'mean') -> MaskedTensor:
        """The squares of the differences: their mean or sum, or each of them."""

    def l1_loss(self, target: object, reduction: str = 'mean') -> MaskedTensor:
        """The sizes of the differences: their mean or sum, or each of them."""

    def cross_entropy(self, target: object, weight: object = None, ignore_index: builtins.int = -100, reduction: str = 'mean', label_smoothing: builtins.float = 0.0) -> MaskedTensor:
        """
        The negative logarithm of the softmax of the classes that positions should have.
        """

    def sum(self, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> MaskedTensor:
        """Add the elements that count."""

    def prod(self, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> MaskedTensor:
        """Multiply the elements that count."""

    def mean(self, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> MaskedTensor:
        """Average the elements that count."""

    def amax(self, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> MaskedTensor:
        """The largest of the elements that count."""

    def amin(self, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> MaskedTensor:
        """The least of the elements that count."""

    def argmax(self, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> MaskedTensor:
        """Where the first of the largest elements is."""

    def argmin(self, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> MaskedTensor:
        """Where the first of the least elements is."""

    def logsumexp(self, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> MaskedTensor:
        """The logarithm of the sum of exponentials."""

    def any(self, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> MaskedTensor:
        """Whether an element that counts is not zero."""

    def all(self, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> MaskedTensor:
        """Whether no element that counts is zero."""

    def count(self, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> MaskedTensor:
        """How many elements count."""

    def var(self, dim: builtins.int | Sequence[builtins.int] | None = None, unbiased: builtins.bool | None = None, *, correction: builtins.float | None = None, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> MaskedTensor:
        """The mean square of the distance from the mean, corrected."""

    def std(self, dim: builtins.int | Sequence[builtins.int] | None = None, unbiased: builtins.bool | None = None, *, correction: builtins.float | None = None, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> MaskedTensor:
        """The root of the variance."""

    def norm(self, ord: builtins.float = 2.0, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> MaskedTensor:
        """The length of the elements that count, as a vector."""

    def max(self, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> Any:
        """The largest element that counts, and along a dim its index."""

    def min(self, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> Any:
        """The least element that counts, and along a dim its index."""

    def minmax(self, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> tuple[MaskedTensor, MaskedTensor]:
        """The least and the largest element that count."""

    def softmax(self, dim: builtins.int | None = None, *, dtype: object = None, mask: object = None, axis: builtins.int | None = None) -> MaskedTensor:
        """Exponentials of the elements that count, divided by their sum."""

    def log_softmax(self, dim: builtins.int | None = None, *, dtype: object = None, mask: object = None, axis: builtins.int | None = None) -> MaskedTensor:
        """Logarithms of softmax, exact where that is tiny."""

    def softmin(self, dim: builtins.int | None = None, *, dtype: object = None, mask: object = None, axis: builtins.int | None = None) -> MaskedTensor:
        """Softmax of -x."""

    def normalize(self, ord: builtins.float, dim: builtins.int | Sequence[builtins.int] | None = None, *, eps: builtins.float = 1e-12, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None) -> MaskedTensor:
        """Divide the elements that count by their norm, or by eps."""

    def cumsum(self, dim: builtins.int | None = None, *, dtype: object = None, mask: object = None, axis: builtins.int | None = None) -> MaskedTensor:
        """Running sums of the elements that count."""

    def cumprod(self, dim: builtins.int | None = None, *, dtype: object = None, mask: object = None, axis: builtins.int | None = None) -> MaskedTensor:
        """Running products of the elements that count."""

    def median(self, dim: builtins.int = -1, *, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int = -1, keepdims: builtins.bool = False) -> MaskedTensor:
        """The lower middle of the elements that count, when they are sorted."""

    def quantile(self, q: object, dim: builtins.int | None = None, *, keepdim: builtins.bool = False, interpolation: str = 'linear', dtype: object = None, mask: object = None, axis: builtins.int | None = None, keepdims: builtins.bool = False) -> MaskedTensor:
        """What stands at places of the sorted elements that count, from 0 to 1."""

    def histogram(self, bins: object = 10, *, range: tuple[builtins.float, builtins.float] | None = None, density: builtins.bool = False, weight: object = None, mask: object = None) -> tuple[Any, Any]:
        """How many of the elements that count lie in each bin."""

    def cov(self, *, correction: builtins.float = 1, fweights: object = None, aweights: object = None, mask: object = None) -> MaskedTensor:
        """Covariances of rows, over the observations that count in both."""

    def corrcoef(self, *, mask: object = None) -> MaskedTensor:
        """Correlations of rows, over the observations that count in both."""

    def weighted_mean(self, weight: object, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> MaskedTensor:
        """The mean of the elements that count, each as often as its weight says."""

    def __reduce__(self) -> tuple[Any, ...]: ...

    def _repr_html_(self: MaskedTensor) -> str:
        """An HTML table; masked cells hold -- and never what is under the mask."""

    def to_numpy_ma(self: MaskedTensor, copy: builtins.bool = False, fill_value: Any = None, hard_mask: builtins.bool = False) -> Any:
        """
        A numpy.ma.MaskedArray of the same memory, with a new mask: True where nothing counts.

            What is masked keeps its data, as numpy.ma does. With copy the data are copied.
        """

def as_masked_tensor(data: object, mask: object) -> MaskedTensor:
    """
    A MaskedTensor that shares the memory of both and keeps the gradient record of data.
    """

def from_nan(input: object) -> MaskedTensor:
    """A MaskedTensor in which NaN does not count."""

def masked_invalid(input: object) -> MaskedTensor:
    """A MaskedTensor in which neither NaN nor infinities count."""

def masked_inside(input: object, v1: builtins.float, v2: builtins.float) -> MaskedTensor:
    """A MaskedTensor in which what lies from v1 to v2 does not count."""

def masked_outside(input: object, v1: builtins.float, v2: builtins.float) -> MaskedTensor:
    """A MaskedTensor in which what lies below v1 or above v2 does not count."""

def masked_where(condition: object, input: object) -> MaskedTensor:
    """A MaskedTensor in which what the condition is true for does not count."""

def masked_equal(input: object, value: builtins.float) -> MaskedTensor:
    """A MaskedTensor in which elements equal to value do not count."""

def lengths_to_mask(lengths: object, max_len: builtins.int | None = None) -> Tensor:
    """
    A mask with one more dim that is True at the first places of it, as many as lengths say.
    """

def switch_strict_masks(is_strict: builtins.bool) -> builtins.bool:
    """
    Whether operators of this thread want equal masks from now on; returns what it was.
    """

class Poison:
    """While one exists, operators read garbage where a mask is False."""

    def __init__(self) -> None: ...

class HookHandle:
    """What register_hook returns."""

    def remove(self) -> None:
        """Take the hook away."""

    def __enter__(self) -> HookHandle: ...

    def __exit__(self, *args: object) -> None: ...

def is_grad_enabled() -> builtins.bool:
    """Whether operations are recorded for gradients now."""

def autograd_record(records: builtins.bool) -> builtins.bool:
    """Switch recording on or off; returns what it was."""

def autograd_backward(tensors: object, grad_tensors: object, retain_graph: builtins.bool | None, create_graph: builtins.bool, inputs: object) -> None: ...

def autograd_grad(outputs: object, inputs: object, grad_outputs: object, retain_graph: builtins.bool | None, create_graph: builtins.bool, allow_unused: builtins.bool) -> tuple[Tensor | MaskedTensor | None, ...]: ...

def tensor(data: object, dtype: object = None, requires_grad: builtins.bool = False) -> Tensor:
    """A tensor with a copy of data: an array, a number or nested lists."""

def asarray(obj: object, dtype: object = None) -> Tensor:
    """A tensor that shares the memory of obj where that is possible."""

def from_dlpack(obj: object) -> Tensor:
    """A tensor that shares the memory of an object with __dlpack__."""

def empty(shape: builtins.int | Sequence[builtins.int], dtype: object = None, requires_grad: builtins.bool = False) -> Tensor:
    """Uninitialised elements."""

def full(shape: builtins.int | Sequence[builtins.int], fill_value: builtins.float, dtype: object = None, requires_grad: builtins.bool = False) -> Tensor:
    """One value everywhere."""

@overload
def full_like(input: MaskedTensor, fill_value: builtins.float, dtype: object = None, requires_grad: builtins.bool = False) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def full_like(input: object, fill_value: builtins.float, dtype: object = None, requires_grad: builtins.bool = False) -> Tensor:
    """
    One value everywhere, with the shape of input, and its dtype unless another is given.
    """

@overload
def empty_like(input: MaskedTensor, dtype: object = None, requires_grad: builtins.bool = False) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def empty_like(input: object, dtype: object = None, requires_grad: builtins.bool = False) -> Tensor:
    """
    Uninitialised elements, with the shape of input, and its dtype unless another is given.
    """

def arange(start: builtins.float, stop: builtins.float | None = None, step: builtins.float = 1, dtype: object = None) -> Tensor:
    """Evenly spaced values: arange(stop) or arange(start, stop, step)."""

@overload
def abs(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def abs(input: object) -> Tensor:
    """Absolute value."""

@overload
def absolute(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def absolute(input: object) -> Tensor:
    """Absolute value."""

@overload
def acos(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def acos(input: object) -> Tensor:
    """Inverse cosine."""

@overload
def arccos(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def arccos(input: object) -> Tensor:
    """Inverse cosine."""

@overload
def acosh(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def acosh(input: object) -> Tensor:
    """Inverse hyperbolic cosine."""

@overload
def arccosh(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def arccosh(input: object) -> Tensor:
    """Inverse hyperbolic cosine."""

@overload
def angle(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def angle(input: object) -> Tensor:
    """0 for positive numbers, pi for negative ones."""

@overload
def asin(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def asin(input: object) -> Tensor:
    """Inverse sine."""

@overload
def arcsin(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def arcsin(input: object) -> Tensor:
    """Inverse sine."""

@overload
def asinh(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def asinh(input: object) -> Tensor:
    """Inverse hyperbolic sine."""

@overload
def arcsinh(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def arcsinh(input: object) -> Tensor:
    """Inverse hyperbolic sine."""

@overload
def atan(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def atan(input: object) -> Tensor:
    """Inverse tangent."""

@overload
def arctan(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def arctan(input: object) -> Tensor:
    """Inverse tangent."""

@overload
def atanh(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def atanh(input: object) -> Tensor:
    """Inverse hyperbolic tangent."""

@overload
def arctanh(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def arctanh(input: object) -> Tensor:
    """Inverse hyperbolic tangent."""

@overload
def bitwise_not(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def bitwise_not(input: object) -> Tensor:
    """Every bit turned; of bool, not."""

@overload
def ceil(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def ceil(input: object) -> Tensor:
    """The next integer above."""

@overload
def conj_physical(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def conj_physical(input: object) -> Tensor:
    """Complex conjugate: of real numbers, the number itself."""

@overload
def cos(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def cos(input: object) -> Tensor:
    """Cosine."""

@overload
def cosh(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def cosh(input: object) -> Tensor:
    """Hyperbolic cosine."""

@overload
def deg2rad(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def deg2rad(input: object) -> Tensor:
    """Degrees to radians."""

@overload
def digamma(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def digamma(input: object) -> Tensor:
    """Logarithmic derivative of the gamma function."""

@overload
def erf(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def erf(input: object) -> Tensor:
    """Error function."""

@overload
def erfc(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def erfc(input: object) -> Tensor:
    """1 - erf(x), exact for large x."""

@overload
def erfinv(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def erfinv(input: object) -> Tensor:
    """Inverse of the error function."""

@overload
def exp(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def exp(input: object) -> Tensor:
    """Exponential."""

@overload
def exp2(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def exp2(input: object) -> Tensor:
    """2 to the power of x."""

@overload
def expm1(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def expm1(input: object) -> Tensor:
    """exp(x) - 1, exact for small x."""

@overload
def floor(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def floor(input: object) -> Tensor:
    """The next integer below."""

@overload
def frac(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def frac(input: object) -> Tensor:
    """The part after the point, with the sign of x."""

@overload
def gelu(input: MaskedTensor, approximate: str = 'none') -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def gelu(input: object, approximate: str = 'none') -> Tensor:
    """
    x times the probability that a normal number is below x, exactly or approximated by tanh.
    """

@overload
def i0(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def i0(input: object) -> Tensor:
    """Modified Bessel function of the first kind, order 0."""

@overload
def i1(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def i1(input: object) -> Tensor:
    """Modified Bessel function of the first kind, order 1."""

@overload
def isfinite(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def isfinite(input: object) -> Tensor:
    """Neither NaN nor infinite."""

@overload
def isinf(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def isinf(input: object) -> Tensor:
    """Infinite."""

@overload
def isnan(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def isnan(input: object) -> Tensor:
    """Not a number."""

@overload
def lgamma(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def lgamma(input: object) -> Tensor:
    """Logarithm of the absolute value of the gamma function."""

@overload
def log(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def log(input: object) -> Tensor:
    """Natural logarithm."""

@overload
def log10(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def log10(input: object) -> Tensor:
    """Logarithm to base 10."""

@overload
def log1p(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def log1p(input: object) -> Tensor:
    """log(1 + x), exact for small x."""

@overload
def log2(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def log2(input: object) -> Tensor:
    """Logarithm to base 2."""

@overload
def logical_not(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def logical_not(input: object) -> Tensor:
    """True where x is 0."""

@overload
def logit(input: MaskedTensor, eps: builtins.float | None = None) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def logit(input: object, eps: builtins.float | None = None) -> Tensor:
    """log(x / (1 - x)); with eps, x is first moved into [eps, 1 - eps]."""

@overload
def nan_to_num(input: MaskedTensor, nan: builtins.float = 0, posinf: builtins.float | None = None, neginf: builtins.float | None = None) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def nan_to_num(input: object, nan: builtins.float = 0, posinf: builtins.float | None = None, neginf: builtins.float | None = None) -> Tensor:
    """
    NaN and infinities replaced: by nan, and by posinf and neginf or else the largest numbers of the dtype.
    """

@overload
def neg(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def neg(input: object) -> Tensor:
    """-x."""

@overload
def negative(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def negative(input: object) -> Tensor:
    """-x."""

@overload
def polygamma(input: MaskedTensor, n: builtins.int = 0) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def polygamma(input: object, n: builtins.int = 0) -> Tensor:
    """Derivative n of digamma."""

@overload
def positive(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def positive(input: object) -> Tensor:
    """+x."""

@overload
def rad2deg(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def rad2deg(input: object) -> Tensor:
    """Radians to degrees."""

@overload
def reciprocal(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def reciprocal(input: object) -> Tensor:
    """1 / x."""

@overload
def relu(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def relu(input: object) -> Tensor:
    """x where it is positive, 0 elsewhere."""

@overload
def round(input: MaskedTensor, decimals: builtins.int = 0) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def round(input: object, decimals: builtins.int = 0) -> Tensor:
    """The nearest number with so many decimals; halves go to the even one."""

@overload
def rsqrt(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def rsqrt(input: object) -> Tensor:
    """1 / sqrt(x)."""

@overload
def sigmoid(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def sigmoid(input: object) -> Tensor:
    """1 / (1 + exp(-x))."""

@overload
def sign(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def sign(input: object) -> Tensor:
    """-1, 0 or 1."""

@overload
def sgn(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def sgn(input: object) -> Tensor:
    """-1, 0 or 1."""

@overload
def signbit(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def signbit(input: object) -> Tensor:
    """True where the sign is set, -0 included."""

@overload
def silu(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def silu(input: object) -> Tensor:
    """x sigmoid(x)."""

@overload
def sin(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def sin(input: object) -> Tensor:
    """Sine."""

@overload
def sinc(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def sinc(input: object) -> Tensor:
    """sin(pi x) / (pi x), 1 at 0."""

@overload
def sinh(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def sinh(input: object) -> Tensor:
    """Hyperbolic sine."""

@overload
def softplus(input: MaskedTensor, beta: builtins.float = 1, threshold: builtins.float = 20) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def softplus(input: object, beta: builtins.float = 1, threshold: builtins.float = 20) -> Tensor:
    """
    log(1 + exp(beta x)) / beta; x itself where beta x is above the threshold.
    """

@overload
def sqrt(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def sqrt(input: object) -> Tensor:
    """Square root."""

@overload
def square(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def square(input: object) -> Tensor:
    """x x."""

@overload
def tan(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def tan(input: object) -> Tensor:
    """Tangent."""

@overload
def tanh(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def tanh(input: object) -> Tensor:
    """Hyperbolic tangent."""

@overload
def trunc(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def trunc(input: object) -> Tensor:
    """The next integer towards 0."""

@overload
def fix(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def fix(input: object) -> Tensor:
    """The next integer towards 0."""

@overload
def add(input: MaskedTensor, other: object, *, alpha: builtins.float | None = None) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def add(input: object, other: MaskedTensor, *, alpha: builtins.float | None = None) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def add(input: object, other: object, *, alpha: builtins.float | None = None) -> Tensor:
    """x + y."""

@overload
def atan2(input: MaskedTensor, other: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def atan2(input: object, other: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def atan2(input: object, other: object) -> Tensor:
    """The angle of the point (y, x), in all four quadrants."""

@overload
def arctan2(input: MaskedTensor, other: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def arctan2(input: object, other: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def arctan2(input: object, other: object) -> Tensor:
    """The angle of the point (y, x), in all four quadrants."""

@overload
def bitwise_and(input: MaskedTensor, other: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def bitwise_and(input: object, other: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def bitwise_and(input: object, other: object) -> Tensor:
    """Bits set in both."""

@overload
def bitwise_left_shift(input: MaskedTensor, other: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def bitwise_left_shift(input: object, other: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def bitwise_left_shift(input: object, other: object) -> Tensor:
    """Bits of x moved up by y places."""

@overload
def bitwise_or(input: MaskedTensor, other: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def bitwise_or(input: object, other: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def bitwise_or(input: object, other: object) -> Tensor:
    """Bits set in one or both."""

@overload
def bitwise_right_shift(input: MaskedTensor, other: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def bitwise_right_shift(input: object, other: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def bitwise_right_shift(input: object, other: object) -> Tensor:
    """Bits of x moved down by y places, the sign kept."""

@overload
def bitwise_xor(input: MaskedTensor, other: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def bitwise_xor(input: object, other: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def bitwise_xor(input: object, other: object) -> Tensor:
    """Bits set in one of both."""

@overload
def div(input: MaskedTensor, other: object, *, rounding_mode: str | None = None) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def div(input: object, other: MaskedTensor, *, rounding_mode: str | None = None) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def div(input: object, other: object, *, rounding_mode: str | None = None) -> Tensor:
    """x / y."""

@overload
def divide(input: MaskedTensor, other: object, *, rounding_mode: str | None = None) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def divide(input: object, other: MaskedTensor, *, rounding_mode: str | None = None) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def divide(input: object, other: object, *, rounding_mode: str | None = None) -> Tensor:
    """x / y."""

@overload
def true_divide(input: MaskedTensor, other: object, *, rounding_mode: str | None = None) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def true_divide(input: object, other: MaskedTensor, *, rounding_mode: str | None = None) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def true_divide(input: object, other: object, *, rounding_mode: str | None = None) -> Tensor:
    """x / y."""

@overload
def eq(input: MaskedTensor, other: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def eq(input: object, other: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def eq(input: object, other: object) -> Tensor:
    """x == y."""

@overload
def equal_to(input: MaskedTensor, other: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def equal_to(input: object, other: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def equal_to(input: object, other: object) -> Tensor:
    """x == y."""

@overload
def floor_divide(input: MaskedTensor, other: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def floor_divide(input: object, other: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def floor_divide(input: object, other: object) -> Tensor:
    """The integer below x / y."""

@overload
def fmax(input: MaskedTensor, other: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def fmax(input: object, other: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def fmax(input: object, other: object) -> Tensor:
    """The larger number; NaN only where both are."""

@overload
def fmin(input: MaskedTensor, other: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def fmin(input: object, other: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def fmin(input: object, other: object) -> Tensor:
    """The smaller number; NaN only where both are."""

@overload
def fmod(input: MaskedTensor, other: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def fmod(input: object, other: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def fmod(input: object, other: object) -> Tensor:
    """The rest of x / y, with the sign of x."""

@overload
def ge(input: MaskedTensor, other: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def ge(input: object, other: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def ge(input: object, other: object) -> Tensor:
    """x >= y."""

@overload
def greater_equal(input: MaskedTensor, other: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def greater_equal(input: object, other: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def greater_equal(input: object, other: object) -> Tensor:
    """x >= y."""

@overload
def gt(input: MaskedTensor, other: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def gt(input: object, other: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def gt(input: object, other: object) -> Tensor:
    """x > y."""

@overload
def greater(input: MaskedTensor, other: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def greater(input: object, other: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def greater(input: object, other: object) -> Tensor:
    """x > y."""

@overload
def le(input: MaskedTensor, other: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def le(input: object, other: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def le(input: object, other: object) -> Tensor:
    """x <= y."""

@overload
def less_equal(input: MaskedTensor, other: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def less_equal(input: object, other: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def less_equal(input: object, other: object) -> Tensor:
    """x <= y."""

@overload
def logaddexp(input: MaskedTensor, other: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def logaddexp(input: object, other: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def logaddexp(input: object, other: object) -> Tensor:
    """log(exp(x) + exp(y))."""

@overload
def logaddexp2(input: MaskedTensor, other: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def logaddexp2(input: object, other: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def logaddexp2(input: object, other: object) -> Tensor:
    """log2(2^x + 2^y)."""

@overload
def logical_and(input: MaskedTensor, other: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def logical_and(input: object, other: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def logical_and(input: object, other: object) -> Tensor:
    """True where both are other than 0."""

@overload
def logical_or(input: MaskedTensor, other: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def logical_or(input: object, other: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def logical_or(input: object, other: object) -> Tensor:
    """True where one is other than 0."""

@overload
def logical_xor(input: MaskedTensor, other: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def logical_xor(input: object, other: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def logical_xor(input: object, other: object) -> Tensor:
    """True where exactly one is other than 0."""

@overload
def lt(input: MaskedTensor, other: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def lt(input: object, other: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def lt(input: object, other: object) -> Tensor:
    """x < y."""

@overload
def less(input: MaskedTensor, other: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def less(input: object, other: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def less(input: object, other: object) -> Tensor:
    """x < y."""

@overload
def maximum(input: MaskedTensor, other: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def maximum(input: object, other: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def maximum(input: object, other: object) -> Tensor:
    """The larger number; NaN where one is."""

@overload
def minimum(input: MaskedTensor, other: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def minimum(input: object, other: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def minimum(input: object, other: object) -> Tensor:
    """The smaller number; NaN where one is."""

@overload
def mul(input: MaskedTensor, other: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def mul(input: object, other: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def mul(input: object, other: object) -> Tensor:
    """x y."""

@overload
def multiply(input: MaskedTensor, other: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def multiply(input: object, other: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def multiply(input: object, other: object) -> Tensor:
    """x y."""

@overload
def ne(input: MaskedTensor, other: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def ne(input: object, other: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def ne(input: object, other: object) -> Tensor:
    """x != y."""

@overload
def not_equal(input: MaskedTensor, other: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def not_equal(input: object, other: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def not_equal(input: object, other: object) -> Tensor:
    """x != y."""

@overload
def nextafter(input: MaskedTensor, other: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def nextafter(input: object, other: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def nextafter(input: object, other: object) -> Tensor:
    """The next number after x, towards y."""

@overload
def pow(input: MaskedTensor, other: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def pow(input: object, other: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def pow(input: object, other: object) -> Tensor:
    """x to the power of y."""

@overload
def remainder(input: MaskedTensor, other: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def remainder(input: object, other: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def remainder(input: object, other: object) -> Tensor:
    """The rest of x / y, with the sign of y."""

@overload
def sub(input: MaskedTensor, other: object, *, alpha: builtins.float | None = None) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def sub(input: object, other: MaskedTensor, *, alpha: builtins.float | None = None) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def sub(input: object, other: object, *, alpha: builtins.float | None = None) -> Tensor:
    """x - y."""

@overload
def subtract(input: MaskedTensor, other: object, *, alpha: builtins.float | None = None) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def subtract(input: object, other: MaskedTensor, *, alpha: builtins.float | None = None) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def subtract(input: object, other: object, *, alpha: builtins.float | None = None) -> Tensor:
    """x - y."""

@overload
def trunc_divide(input: MaskedTensor, other: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def trunc_divide(input: object, other: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def trunc_divide(input: object, other: object) -> Tensor:
    """The integer next to x / y, towards 0."""

@overload
def where(condition: object, input: MaskedTensor, other: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def where(condition: object, input: object, other: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def where(condition: object, input: object, other: object) -> Tensor:
    """Choose input where the condition is true, other elsewhere."""

@overload
def clamp(input: MaskedTensor, min: object = None, max: object = None) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def clamp(input: object, min: object = None, max: object = None) -> Tensor:
    """Move the elements into [min, max]; NaN stays."""

@overload
def clip(input: MaskedTensor, min: object = None, max: object = None) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def clip(input: object, min: object = None, max: object = None) -> Tensor:
    """The same as clamp."""

@overload
def lerp(input: MaskedTensor, end: object, weight: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def lerp(input: object, end: MaskedTensor, weight: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def lerp(input: object, end: object, weight: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def lerp(input: object, end: object, weight: object) -> Tensor:
    """input + weight (end - input), exact at both ends."""

def equal(input: object, other: object) -> builtins.bool:
    """Whether both have one shape and equal elements."""

@overload
def isclose(input: MaskedTensor, other: object, rtol: builtins.float = 1e-05, atol: builtins.float = 1e-08, equal_nan: builtins.bool = False) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def isclose(input: object, other: MaskedTensor, rtol: builtins.float = 1e-05, atol: builtins.float = 1e-08, equal_nan: builtins.bool = False) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def isclose(input: object, other: object, rtol: builtins.float = 1e-05, atol: builtins.float = 1e-08, equal_nan: builtins.bool = False) -> Tensor:
    """True where the elements differ by at most atol + rtol abs(other)."""

def allclose(input: object, other: object, rtol: builtins.float = 1e-05, atol: builtins.float = 1e-08, equal_nan: builtins.bool = False) -> builtins.bool:
    """Whether all elements differ by at most atol + rtol abs(other)."""

@overload
def matmul(input: MaskedTensor, other: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def matmul(input: object, other: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def matmul(input: object, other: object) -> Tensor:
    """
    The product of matrices or vectors; leading dims are a batch and broadcast.
    """

@overload
def mm(input: MaskedTensor, mat2: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def mm(input: object, mat2: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def mm(input: object, mat2: object) -> Tensor:
    """The product of two matrices."""

@overload
def bmm(input: MaskedTensor, mat2: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def bmm(input: object, mat2: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def bmm(input: object, mat2: object) -> Tensor:
    """The products of two batches of matrices."""

@overload
def mv(input: MaskedTensor, vec: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def mv(input: object, vec: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def mv(input: object, vec: object) -> Tensor:
    """The product of a matrix and a vector."""

@overload
def dot(input: MaskedTensor, tensor: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def dot(input: object, tensor: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def dot(input: object, tensor: object) -> Tensor:
    """The sum of the products of two vectors' elements."""

@overload
def outer(input: MaskedTensor, vec2: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def outer(input: object, vec2: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def outer(input: object, vec2: object) -> Tensor:
    """The matrix of all products of two vectors' elements."""

@overload
def linear(input: MaskedTensor, weight: object, bias: object = None) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def linear(input: object, weight: MaskedTensor, bias: object = None) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def linear(input: object, weight: object, bias: object = None) -> Tensor:
    """
    The last dim multiplied by the transpose of a weight matrix, plus a bias.
    """

@overload
def einsum(equation: str, *operands: Tensor) -> Tensor: ...
@overload
def einsum(equation: str, *operands: object) -> Any:
    """Sums of products by Einstein's convention."""

@overload
def index_select(input: MaskedTensor, dim: builtins.int, index: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def index_select(input: object, dim: builtins.int, index: object) -> Tensor:
    """The slices of one dim that a vector of indices names."""

@overload
def gather(input: MaskedTensor, dim: builtins.int, index: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def gather(input: object, dim: builtins.int, index: object) -> Tensor:
    """Elements whose place along one dim is given for each."""

@overload
def take_along_dim(input: MaskedTensor, indices: object, dim: builtins.int | None = None, *, axis: builtins.int | None = None) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def take_along_dim(input: object, indices: object, dim: builtins.int | None = None, *, axis: builtins.int | None = None) -> Tensor:
    """The same as gather, with broadcasting."""

@overload
def scatter(input: MaskedTensor, dim: builtins.int, index: object, src: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def scatter(input: object, dim: builtins.int, index: object, src: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def scatter(input: object, dim: builtins.int, index: object, src: object) -> Tensor:
    """Write elements to places along one dim that are given for each."""

@overload
def scatter_add(input: MaskedTensor, dim: builtins.int, index: object, src: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def scatter_add(input: object, dim: builtins.int, index: object, src: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def scatter_add(input: object, dim: builtins.int, index: object, src: object) -> Tensor:
    """Add elements to places along one dim that are given for each."""

@overload
def index_add(input: MaskedTensor, dim: builtins.int, index: object, source: object, *, alpha: builtins.float = 1) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def index_add(input: object, dim: builtins.int, index: object, source: MaskedTensor, *, alpha: builtins.float = 1) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def index_add(input: object, dim: builtins.int, index: object, source: object, *, alpha: builtins.float = 1) -> Tensor:
    """Add slices to those that a vector of indices names."""

@overload
def index_copy(input: MaskedTensor, dim: builtins.int, index: object, source: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def index_copy(input: object, dim: builtins.int, index: object, source: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def index_copy(input: object, dim: builtins.int, index: object, source: object) -> Tensor:
    """Write slices in place of those that a vector of indices names."""

@overload
def index_fill(input: MaskedTensor, dim: builtins.int, index: object, value: builtins.float) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def index_fill(input: object, dim: builtins.int, index: object, value: builtins.float) -> Tensor:
    """Write one value into the slices that a vector of indices names."""

@overload
def masked_select(input: MaskedTensor, mask: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def masked_select(input: object, mask: object) -> Tensor:
    """The elements where a mask is true, as a vector."""

@overload
def masked_fill(input: MaskedTensor, mask: object, value: object) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def masked_fill(input: object, mask: object, value: object) -> Tensor:
    """Write one value where a mask is true."""

def nonzero(input: object, *, as_tuple: builtins.bool = False) -> Any:
    """
    The indices of the elements that are not 0, as rows or as a vector for each dim.
    """

@overload
def sort(input: MaskedTensor, dim: builtins.int = -1, descending: builtins.bool = False, stable: builtins.bool = True, *, axis: builtins.int | None = None) -> tuple[MaskedTensor, Tensor]: ...  # type: ignore[overload-overlap]
@overload
def sort(input: object, dim: builtins.int = -1, descending: builtins.bool = False, stable: builtins.bool = True, *, axis: builtins.int | None = None) -> tuple[Tensor, Tensor]:
    """
    The elements of one dim in order, and where they stood; equal ones keep their order, NaN is the greatest.
    """

def argsort(input: object, dim: builtins.int = -1, descending: builtins.bool = False, stable: builtins.bool = True, *, axis: builtins.int | None = None) -> Tensor:
    """
    The indices that sort one dim; equal elements keep their order, NaN is the greatest.
    """

@overload
def topk(input: MaskedTensor, k: builtins.int, dim: builtins.int = -1, largest: builtins.bool = True, sorted: builtins.bool = True) -> tuple[MaskedTensor, Tensor]: ...  # type: ignore[overload-overlap]
@overload
def topk(input: object, k: builtins.int, dim: builtins.int = -1, largest: builtins.bool = True, sorted: builtins.bool = True) -> tuple[Tensor, Tensor]:
    """
    The largest or smallest elements of one dim in order, and where they stood.
    """

def unique(input: object, sorted: builtins.bool = True, return_inverse: builtins.bool = False, return_counts: builtins.bool = False, dim: builtins.int | None = None, *, axis: builtins.int | None = None) -> Any:
    """
    The different elements, or slices of one dim, in order; which of them each one is, and how many there are of each.
    """

def searchsorted(sorted_sequence: object, values: object, *, right: builtins.bool = False, side: str | None = None, out_int32: builtins.bool = False) -> Tensor:
    """Where values would be put into sorted sequences to keep them sorted."""

@overload
def bucketize(input: MaskedTensor, boundaries: object, *, right: builtins.bool = False, out_int32: builtins.bool = False) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def bucketize(input: object, boundaries: object, *, right: builtins.bool = False, out_int32: builtins.bool = False) -> Tensor:
    """Between which of the sorted boundaries each element lies."""

@overload
def cat(tensors: Sequence[Tensor], dim: builtins.int = 0, *, axis: builtins.int | None = None) -> Tensor: ...
@overload
def cat(tensors: Sequence[object], dim: builtins.int = 0, *, axis: builtins.int | None = None) -> Any:
    """Join tensors along one dim."""

@overload
def stack(tensors: Sequence[Tensor], dim: builtins.int = 0, *, axis: builtins.int | None = None) -> Tensor: ...
@overload
def stack(tensors: Sequence[object], dim: builtins.int = 0, *, axis: builtins.int | None = None) -> Any:
    """Join tensors of one shape along a new dim."""

@overload
def hstack(tensors: Sequence[Tensor]) -> Tensor: ...
@overload
def hstack(tensors: Sequence[object]) -> Any:
    """Join tensors column by column."""

@overload
def vstack(tensors: Sequence[Tensor]) -> Tensor: ...
@overload
def vstack(tensors: Sequence[object]) -> Any:
    """Join tensors row by row."""

@overload
def split(input: MaskedTensor, split_size_or_sections: builtins.int | Sequence[builtins.int], dim: builtins.int = 0) -> tuple[MaskedTensor, ...]: ...  # type: ignore[overload-overlap]
@overload
def split(input: object, split_size_or_sections: builtins.int | Sequence[builtins.int], dim: builtins.int = 0) -> tuple[Tensor, ...]:
    """Views of parts of one size, or of a list of sizes, of one dim."""

@overload
def chunk(input: MaskedTensor, chunks: builtins.int, dim: builtins.int = 0) -> tuple[MaskedTensor, ...]: ...  # type: ignore[overload-overlap]
@overload
def chunk(input: object, chunks: builtins.int, dim: builtins.int = 0) -> tuple[Tensor, ...]:
    """Views of at most so many parts of one dim."""

@overload
def unbind(input: MaskedTensor, dim: builtins.int = 0) -> tuple[MaskedTensor, ...]: ...  # type: ignore[overload-overlap]
@overload
def unbind(input: object, dim: builtins.int = 0) -> tuple[Tensor, ...]:
    """Views of the elements of one dim, which disappears."""

@overload
def movedim(input: MaskedTensor, source: builtins.int | Sequence[builtins.int], destination: builtins.int | Sequence[builtins.int]) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def movedim(input: object, source: builtins.int | Sequence[builtins.int], destination: builtins.int | Sequence[builtins.int]) -> Tensor:
    """A view with dims moved to other places."""

@overload
def swapaxes(input: MaskedTensor, axis0: builtins.int, axis1: builtins.int) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def swapaxes(input: object, axis0: builtins.int, axis1: builtins.int) -> Tensor:
    """A view with two dims swapped."""

@overload
def unflatten(input: MaskedTensor, dim: builtins.int, sizes: Sequence[builtins.int]) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def unflatten(input: object, dim: builtins.int, sizes: Sequence[builtins.int]) -> Tensor:
    """Cut a dim into several."""

@overload
def diagonal(input: MaskedTensor, offset: builtins.int = 0, dim1: builtins.int = 0, dim2: builtins.int = 1) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def diagonal(input: object, offset: builtins.int = 0, dim1: builtins.int = 0, dim2: builtins.int = 1) -> Tensor:
    """A view of the diagonal of two dims, as the last dim."""

def meshgrid(*tensors: object, indexing: str = 'ij') -> tuple[Tensor, ...]:
    """Views of vectors repeated over the grid of all of them."""

@overload
def flip(input: MaskedTensor, dims: builtins.int | Sequence[builtins.int] | None = None, *, axis: builtins.int | Sequence[builtins.int] | None = None) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def flip(input: object, dims: builtins.int | Sequence[builtins.int] | None = None, *, axis: builtins.int | Sequence[builtins.int] | None = None) -> Tensor:
    """Reverse the order of the elements along dims."""

@overload
def roll(input: MaskedTensor, shifts: builtins.int | Sequence[builtins.int], dims: builtins.int | Sequence[builtins.int] | None = None, *, axis: builtins.int | Sequence[builtins.int] | None = None) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def roll(input: object, shifts: builtins.int | Sequence[builtins.int], dims: builtins.int | Sequence[builtins.int] | None = None, *, axis: builtins.int | Sequence[builtins.int] | None = None) -> Tensor:
    """
    Move the elements along dims; what leaves at one end enters at the other.
    """

@overload
def repeat(input: MaskedTensor, *repeats: builtins.int | Sequence[builtins.int]) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def repeat(input: object, *repeats: builtins.int | Sequence[builtins.int]) -> Tensor:
    """Put copies of a tensor side by side."""

@overload
def tile(input: MaskedTensor, *dims: builtins.int | Sequence[builtins.int]) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def tile(input: object, *dims: builtins.int | Sequence[builtins.int]) -> Tensor:
    """Put copies of a tensor side by side; missing repeats are 1."""

@overload
def repeat_interleave(input: MaskedTensor, repeats: builtins.int, dim: builtins.int | None = None, *, axis: builtins.int | None = None) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def repeat_interleave(input: object, repeats: builtins.int, dim: builtins.int | None = None, *, axis: builtins.int | None = None) -> Tensor:
    """Repeat every element, in a row."""

@overload
def tril(input: MaskedTensor, diagonal: builtins.int = 0) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def tril(input: object, diagonal: builtins.int = 0) -> Tensor:
    """The lower triangle of the last two dims; zeros above."""

@overload
def triu(input: MaskedTensor, diagonal: builtins.int = 0) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def triu(input: object, diagonal: builtins.int = 0) -> Tensor:
    """The upper triangle of the last two dims; zeros below."""

@overload
def permute(input: MaskedTensor, *dims: builtins.int | Sequence[builtins.int]) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def permute(input: object, *dims: builtins.int | Sequence[builtins.int]) -> Tensor:
    """A view with the dims in another order."""

@overload
def reshape(input: MaskedTensor, *shape: builtins.int | Sequence[builtins.int]) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def reshape(input: object, *shape: builtins.int | Sequence[builtins.int]) -> Tensor:
    """Another shape over the same elements, a view where possible."""

@overload
def view(input: MaskedTensor, *shape: builtins.int | Sequence[builtins.int]) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def view(input: object, *shape: builtins.int | Sequence[builtins.int]) -> Tensor:
    """Another shape over the same elements, never a copy."""

@overload
def expand(input: MaskedTensor, *shape: builtins.int | Sequence[builtins.int]) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def expand(input: object, *shape: builtins.int | Sequence[builtins.int]) -> Tensor:
    """A view that repeats dims of size 1; -1 keeps a size."""

@overload
def transpose(input: MaskedTensor, dim0: builtins.int, dim1: builtins.int) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def transpose(input: object, dim0: builtins.int, dim1: builtins.int) -> Tensor:
    """A view with two dims swapped."""

@overload
def t(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def t(input: object) -> Tensor:
    """A view of a matrix with its dims swapped."""

@overload
def ravel(input: MaskedTensor) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def ravel(input: object) -> Tensor:
    """Make all dims one, as a view where possible."""

@overload
def flatten(input: MaskedTensor, start_dim: builtins.int = 0, end_dim: builtins.int = -1) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def flatten(input: object, start_dim: builtins.int = 0, end_dim: builtins.int = -1) -> Tensor:
    """Make dims one, as a view where possible."""

@overload
def squeeze(input: MaskedTensor, dim: builtins.int | Sequence[builtins.int] | None = None) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def squeeze(input: object, dim: builtins.int | Sequence[builtins.int] | None = None) -> Tensor:
    """A view without dims of size 1."""

@overload
def unsqueeze(input: MaskedTensor, dim: builtins.int) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def unsqueeze(input: object, dim: builtins.int) -> Tensor:
    """A view with one more dim, of size 1."""

@overload
def broadcast_to(input: MaskedTensor, shape: builtins.int | Sequence[builtins.int]) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def broadcast_to(input: object, shape: builtins.int | Sequence[builtins.int]) -> Tensor:
    """A view repeated to a shape."""

@overload
def narrow(input: MaskedTensor, dim: builtins.int, start: builtins.int, length: builtins.int) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def narrow(input: object, dim: builtins.int, start: builtins.int, length: builtins.int) -> Tensor:
    """A view of a range of one dim."""

@overload
def select(input: MaskedTensor, dim: builtins.int, index: builtins.int) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def select(input: object, dim: builtins.int, index: builtins.int) -> Tensor:
    """A view of one element of one dim, which disappears."""

@overload
def unfold(input: MaskedTensor, dim: builtins.int, size: builtins.int, step: builtins.int) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def unfold(input: object, dim: builtins.int, size: builtins.int, step: builtins.int) -> Tensor:
    """
    A view of windows that slide along one dim, with their elements as the last dim.
    """

@overload
def im2col(input: MaskedTensor, kernel_size: builtins.int | Sequence[builtins.int], dilation: builtins.int | Sequence[builtins.int] = 1, padding: builtins.int | Sequence[builtins.int] = 0, stride: builtins.int | Sequence[builtins.int] = 1) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def im2col(input: object, kernel_size: builtins.int | Sequence[builtins.int], dilation: builtins.int | Sequence[builtins.int] = 1, padding: builtins.int | Sequence[builtins.int] = 0, stride: builtins.int | Sequence[builtins.int] = 1) -> Tensor:
    """
    The windows of images as columns of matrices: torch.nn.functional.unfold.
    """

@overload
def col2im(input: MaskedTensor, output_size: builtins.int | Sequence[builtins.int], kernel_size: builtins.int | Sequence[builtins.int], dilation: builtins.int | Sequence[builtins.int] = 1, padding: builtins.int | Sequence[builtins.int] = 0, stride: builtins.int | Sequence[builtins.int] = 1) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def col2im(input: object, output_size: builtins.int | Sequence[builtins.int], kernel_size: builtins.int | Sequence[builtins.int], dilation: builtins.int | Sequence[builtins.int] = 1, padding: builtins.int | Sequence[builtins.int] = 0, stride: builtins.int | Sequence[builtins.int] = 1) -> Tensor:
    """Images from columns, overlaps added up: torch.nn.functional.fold."""

class Generator:
    """
    A source of random numbers: a seed, and how much of its sequence has been used.
    """

    def __init__(self, seed: builtins.int | None = None) -> None: ...

    def manual_seed(self, seed: builtins.int) -> Generator:
        """Begin the sequence of a seed."""

    def seed(self) -> builtins.int:
        """Begin the sequence of a seed from the operating system, and return it."""

    def initial_seed(self) -> builtins.int:
        """The seed."""

    def get_state(self) -> tuple[builtins.int, builtins.int]:
        """
        Everything there is to save: the seed, and how much of the sequence has been used.
        """

    def set_state(self, state: tuple[builtins.int, builtins.int]) -> Generator:
        """Continue where another generator was when it gave this state."""

    def __getstate__(self) -> tuple[builtins.int, builtins.int]: ...

    def __setstate__(self, state: tuple[builtins.int, builtins.int]) -> None: ...

    def __repr__(self) -> str: ...

default_generator: Generator = ...

def manual_seed(seed: builtins.int) -> None:
    """Begin the sequence of a seed, for calls that are given no generator."""

def rand(*size: builtins.int | Sequence[builtins.int], dtype: object = None, requires_grad: builtins.bool = False, generator: Generator | None = None) -> Tensor:
    """Numbers uniform in [0, 1)."""

def randn(*size: builtins.int | Sequence[builtins.int], dtype: object = None, requires_grad: builtins.bool = False, generator: Generator | None = None) -> Tensor:
    """Standard normal numbers."""

@overload
def rand_like(input: MaskedTensor, *, dtype: object = None, requires_grad: builtins.bool = False, generator: Generator | None = None) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def rand_like(input: object, *, dtype: object = None, requires_grad: builtins.bool = False, generator: Generator | None = None) -> Tensor:
    """Numbers uniform in [0, 1) with the shape of input."""

@overload
def randn_like(input: MaskedTensor, *, dtype: object = None, requires_grad: builtins.bool = False, generator: Generator | None = None) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def randn_like(input: object, *, dtype: object = None, requires_grad: builtins.bool = False, generator: Generator | None = None) -> Tensor:
    """Standard normal numbers with the shape of input."""

def normal(mean: object = 0.0, std: object = 1.0, size: builtins.int | Sequence[builtins.int] | None = None, *, dtype: object = None, requires_grad: builtins.bool = False, generator: Generator | None = None) -> Tensor:
    """Normal numbers; mean and std may be tensors."""

def randint(low: builtins.int, high: builtins.int | None = None, size: builtins.int | Sequence[builtins.int] | None = None, *, dtype: object = None, generator: Generator | None = None) -> Tensor:
    """
    Integers in [low, high), or in [0, low): randint(10, (3,)) or randint(2, 10, (3,)).
    """

@overload
def randint_like(input: MaskedTensor, low: builtins.int, high: builtins.int | None = None, *, dtype: object = None, generator: Generator | None = None) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def randint_like(input: object, low: builtins.int, high: builtins.int | None = None, *, dtype: object = None, generator: Generator | None = None) -> Tensor:
    """Integers in [low, high) with the shape of input."""

@overload
def bernoulli(input: MaskedTensor, p: builtins.float | None = None, *, dtype: object = None, generator: Generator | None = None) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def bernoulli(input: object, p: builtins.float | None = None, *, dtype: object = None, generator: Generator | None = None) -> Tensor:
    """1 with the probabilities in input, or with probability p; otherwise 0."""

def randperm(n: builtins.int, *, generator: Generator | None = None) -> Tensor:
    """The integers 0, …, n - 1 in a random order."""

def multinomial(input: object, num_samples: builtins.int, replacement: builtins.bool = False, *, generator: Generator | None = None) -> Tensor:
    """Draw indices with probabilities proportional to the weights in input."""

@overload
def dropout(input: MaskedTensor, p: builtins.float = 0.5, training: builtins.bool = True, *, generator: Generator | None = None) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def dropout(input: object, p: builtins.float = 0.5, training: builtins.bool = True, *, generator: Generator | None = None) -> Tensor:
    """
    Set elements to 0 with probability p and scale the others by 1 / (1 - p).
    """

@overload
def layer_norm(input: MaskedTensor, normalized_shape: builtins.int | Sequence[builtins.int], weight: object = None, bias: object = None, eps: builtins.float = 1e-05) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def layer_norm(input: object, normalized_shape: builtins.int | Sequence[builtins.int], weight: object = None, bias: object = None, eps: builtins.float = 1e-05) -> Tensor:
    """
    The last dims less their mean and divided by their deviation, times weight plus bias.
    """

@overload
def mse_loss(input: MaskedTensor, target: object, reduction: str = 'mean') -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def mse_loss(input: object, target: MaskedTensor, reduction: str = 'mean') -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def mse_loss(input: object, target: object, reduction: str = 'mean') -> Tensor:
    """The squares of the differences: their mean or sum, or each of them."""

@overload
def l1_loss(input: MaskedTensor, target: object, reduction: str = 'mean') -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def l1_loss(input: object, target: MaskedTensor, reduction: str = 'mean') -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def l1_loss(input: object, target: object, reduction: str = 'mean') -> Tensor:
    """The sizes of the differences: their mean or sum, or each of them."""

@overload
def cross_entropy(input: MaskedTensor, target: object, weight: object = None, ignore_index: builtins.int = -100, reduction: str = 'mean', label_smoothing: builtins.float = 0.0) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def cross_entropy(input: object, target: MaskedTensor, weight: object = None, ignore_index: builtins.int = -100, reduction: str = 'mean', label_smoothing: builtins.float = 0.0) -> MaskedTensor: ...  # type: ignore[overload-overlap]
@overload
def cross_entropy(input: object, target: object, weight: object = None, ignore_index: builtins.int = -100, reduction: str = 'mean', label_smoothing: builtins.float = 0.0) -> Tensor:
    """
    The negative logarithm of the softmax of the classes that positions should have.
    """

def output_mask(op_name: str, input: object, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, mask: object = None, other: object = None, input_mask: object = None, other_mask: object = None) -> Tensor:
    """Which outputs of a masked operator have an element that counts."""

def sum(input: object, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> Any:
    """Add the elements that count."""

def prod(input: object, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> Any:
    """Multiply the elements that count."""

def mean(input: object, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> Any:
    """Average the elements that count."""

def amax(input: object, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> Any:
    """The largest of the elements that count."""

def amin(input: object, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> Any:
    """The least of the elements that count."""

def argmax(input: object, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> Any:
    """Where the first of the largest elements is."""

def argmin(input: object, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> Any:
    """Where the first of the least elements is."""

def logsumexp(input: object, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> Any:
    """The logarithm of the sum of exponentials."""

def any(input: object, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> Any:
    """Whether an element that counts is not zero."""

def all(input: object, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> Any:
    """Whether no element that counts is zero."""

def count(input: object, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> Any:
    """How many elements count."""

def var(input: object, dim: builtins.int | Sequence[builtins.int] | None = None, unbiased: builtins.bool | None = None, *, correction: builtins.float | None = None, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> Any:
    """The mean square of the distance from the mean, corrected."""

def std(input: object, dim: builtins.int | Sequence[builtins.int] | None = None, unbiased: builtins.bool | None = None, *, correction: builtins.float | None = None, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> Any:
    """The root of the variance."""

def norm(input: object, ord: builtins.float = 2.0, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> Any:
    """The length of the elements that count, as a vector."""

def max(input: object, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> Any:
    """The largest element that counts, and along a dim its index."""

def min(input: object, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> Any:
    """The least element that counts, and along a dim its index."""

def minmax(input: object, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> tuple[Any, Any]:
    """The least and the largest element that count."""

def softmax(input: object, dim: builtins.int | None = None, *, dtype: object = None, mask: object = None, axis: builtins.int | None = None) -> Any:
    """Exponentials of the elements that count, divided by their sum."""

def log_softmax(input: object, dim: builtins.int | None = None, *, dtype: object = None, mask: object = None, axis: builtins.int | None = None) -> Any:
    """Logarithms of softmax, exact where that is tiny."""

def softmin(input: object, dim: builtins.int | None = None, *, dtype: object = None, mask: object = None, axis: builtins.int | None = None) -> Any:
    """Softmax of -x."""

def normalize(input: object, ord: builtins.float, dim: builtins.int | Sequence[builtins.int] | None = None, *, eps: builtins.float = 1e-12, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None) -> Any:
    """Divide the elements that count by their norm, or by eps."""

def cumsum(input: object, dim: builtins.int | None = None, *, dtype: object = None, mask: object = None, axis: builtins.int | None = None) -> Any:
    """Running sums of the elements that count."""

def cumprod(input: object, dim: builtins.int | None = None, *, dtype: object = None, mask: object = None, axis: builtins.int | None = None) -> Any:
    """Running products of the elements that count."""

def median(input: object, dim: builtins.int = -1, *, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int = -1, keepdims: builtins.bool = False) -> Any:
    """The lower middle of the elements that count, when they are sorted."""

def quantile(input: object, q: object, dim: builtins.int | None = None, *, keepdim: builtins.bool = False, interpolation: str = 'linear', dtype: object = None, mask: object = None, axis: builtins.int | None = None, keepdims: builtins.bool = False) -> Any:
    """What stands at places of the sorted elements that count, from 0 to 1."""

def histogram(input: object, bins: object = 10, *, range: tuple[builtins.float, builtins.float] | None = None, density: builtins.bool = False, weight: object = None, mask: object = None) -> tuple[Any, Any]:
    """How many of the elements that count lie in each bin."""

def cov(input: object, *, correction: builtins.float = 1, fweights: object = None, aweights: object = None, mask: object = None) -> Any:
    """Covariances of rows, over the observations that count in both."""

def corrcoef(input: object, *, mask: object = None) -> Any:
    """Correlations of rows, over the observations that count in both."""

def weighted_mean(input: object, weight: object, dim: builtins.int | Sequence[builtins.int] | None = None, *, keepdim: builtins.bool = False, dtype: object = None, mask: object = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdims: builtins.bool = False) -> Any:
    """The mean of the elements that count, each as often as its weight says."""

def save(obj: object, path: str | bytes | os.PathLike[str] | os.PathLike[bytes], *, metadata: dict[str, str] | None = None, compressed: builtins.bool = False) -> None:
    """
    Write a tensor, a MaskedTensor or a dict of them to an .npy, .npz or .safetensors file, which appears or is replaced as a whole.
    """

def load(path: str | bytes | os.PathLike[str] | os.PathLike[bytes], *, mapped: builtins.bool = True, masked: builtins.bool = True, verify: builtins.bool = True) -> Any:
    """
    Read an .npy, .npz or .safetensors file: a tensor, a MaskedTensor or a dict of them. They share the file's pages where that is possible, copy-on-write, unless mapped is false; a tensor and its .mask become a MaskedTensor unless masked is false.
    """

def file_info(path: str | bytes | os.PathLike[str] | os.PathLike[bytes]) -> dict[str, Any]:
    """
    What is in a file: its format, the dtypes and shapes of its tensors, its metadata.
    """

class Mapping:
    """What the memory of a tensor is mapped from."""

    @property
    def kind(self) -> str:
        """"file", "memory" or "segment"."""

    @property
    def path(self) -> str: ...

    @property
    def flags(self) -> str: ...

    @property
    def nbytes(self) -> builtins.int: ...

    @property
    def readonly(self) -> builtins.bool: ...

    @property
    def shared(self) -> builtins.bool:
        """True when others see changes."""

    @property
    def lifetime(self) -> str | None:
        """
        Of a segment: "last_detach", "persistent" or "anonymous"; otherwise None.
        """

    def __repr__(self) -> str: ...

class Segment:
    """Shared memory; tensors inside keep it alive."""

    @property
    def name(self) -> str:
        """The full name; empty when it has none."""

    @property
    def nbytes(self) -> builtins.int: ...

    @property
    def readonly(self) -> builtins.bool: ...

    @property
    def closed(self) -> builtins.bool: ...

    def mapping(self) -> Mapping:
        """Kind, path, flags and lifetime."""

    def tensor(self, dtype: object = "float32", shape: builtins.int | Sequence[builtins.int] | None = None, offset: builtins.int = 0) -> Tensor:
        """A tensor in the segment, from a byte on; by default all of it."""

    def masked_tensor(self, dtype: object, shape: builtins.int | Sequence[builtins.int], offset: builtins.int = 0) -> MaskedTensor:
        """Data and, behind them, a mask in the segment."""

    def grow(self, nbytes: builtins.int) -> None:
        """Make it longer; others see it after refresh()."""

    def refresh(self) -> builtins.bool:
        """Map what others have added; True when there is more."""

    def verify(self) -> builtins.bool:
        """False when somebody has cut the memory short."""

    def attachments(self) -> builtins.int:
        """How many attachments there are, in all processes."""

    def info(self) -> loup.shm.SegmentInfo:
        """Name, sizes, lifetime and who is attached."""

    def ticket(self) -> loup.shm.Ticket:
        """A reference to the segment that can be sent to another process."""

    def descriptor(self) -> builtins.int:
        """A new descriptor that holds a reference; the caller closes it."""

    def close(self) -> None:
        """Let go of the memory; it is unmapped with the last tensor inside."""

    def __enter__(self) -> Segment: ...

    def __exit__(self, *args: object) -> None: ...

    def __repr__(self) -> str: ...

def shm_create(name: str | None, nbytes: builtins.int, lifetime: str, label: str, capacity: builtins.int) -> Segment: ...

def shm_anonymous(nbytes: builtins.int, label: str, seal_writes: builtins.bool) -> Segment: ...

def shm_attach(name: str, readonly: builtins.bool, allow_foreign: builtins.bool, timeout: builtins.float) -> Segment: ...

def shm_from_descriptor(name: str, fd: builtins.int, readonly: builtins.bool) -> Segment: ...

def shm_drop(name: str, fd: builtins.int) -> None: ...

def shm_list(ns: str | None) -> list[dict[str, Any]]: ...

def shm_info(name: str) -> dict[str, Any]: ...

def shm_sweep(ns: str | None, dry_run: builtins.bool) -> tuple[list[str], list[str], list[str]]: ...

def shm_remove(name: str, force: builtins.bool) -> builtins.bool: ...

def set_sigbus_shield(on: builtins.bool) -> None:
    """
    While on, memory whose file was cut short reads as zeros instead of ending the process.
    """

def map_file(path: object, dtype: object, shape: builtins.int | Sequence[builtins.int] | None, shared: builtins.bool, readonly: builtins.bool, offset: builtins.int) -> Tensor: ...

def tensor_from_bytes(data: bytes, dtype: object, shape: tuple[builtins.int, ...]) -> Tensor: ...

def tensor_handle(input: Tensor) -> tuple[builtins.int, str, str, builtins.bool, builtins.int] | None: ...

def tensor_from_handle(fd: builtins.int, kind: str, name: str, readonly: builtins.bool, offset: builtins.int, dtype: object, shape: tuple[builtins.int, ...], strides: tuple[builtins.int, ...]) -> Tensor: ...

version: str = '0.1.0'

def info() -> dict[str, Any]:
    """Version, instruction sets and threads."""

def ops() -> list[dict[str, Any]]:
    """
    Every operator: name, family, summary, signature, aliases, and what it can do.
    """

def num_threads() -> builtins.int:
    """How many threads operators use."""

def set_num_threads(count: builtins.int) -> None:
    """Set how many threads operators use."""

def choose_target(name: str) -> None:
    """
    Run kernels on one instruction set; an empty name means the best. For tests.
    """

def pool_limit() -> builtins.int:
    """The most bytes of freed memory kept for reuse."""

def set_pool_limit(bytes: builtins.int) -> None:
    """Set the most bytes of freed memory kept for reuse."""

def trim_pool() -> None:
    """Return all freed memory to the system."""

def pool_statistics() -> dict[str, builtins.int]:
    """Counters of large blocks of memory."""
