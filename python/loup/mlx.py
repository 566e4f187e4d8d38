"""Masked reductions and softmax of MLX arrays, by loup's kernels.

>>> import mlx.core as mx
>>> import loup.mlx as masked
>>> x = mx.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
>>> m = mx.array([[True, False, True], [False, False, False]])
>>> masked.masked_sum(x, m, axis=1).tolist()
[4.0, 0.0]

True means that an element counts; what does not count reaches no result and no gradient. loup reads
the arrays where they are, and MLX copies each result. Gradients of any order flow through mx.grad;
those by integers are 0.
"""

from collections.abc import Callable, Sequence
from typing import Any

try:
    import mlx.core as mx
except ImportError as error:
    raise ImportError(
        "loup.mlx: expected MLX to be installed, got no mlx.core; install it with "
        "pip install 'mlx[cpu]'"
    ) from error

from loup import _loup, masked
from loup._loup import DTypeError, ShapeError, Tensor
from loup.autograd import grad

__all__ = ["MaskedArray", "masked_log_softmax", "masked_mean", "masked_softmax", "masked_sum"]

Axes = int | Sequence[int] | None
Function = Callable[..., Tensor]  # of loup's tensors

_NAMES = "uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64"
DTYPES = {getattr(mx, name): getattr(_loup, name) for name in _NAMES.split()}
DTYPES[mx.bool_] = _loup.bool


def masked_sum(
    data: mx.array,
    mask: mx.array | None,
    axis: Axes = None,
    keepdims: bool = False,
    *,
    dim: Axes = None,
    keepdim: bool = False,
) -> mx.array:
    """The sum of what counts, 0 of nothing; int64 for integers and booleans."""
    axes, keeps = _one_of("masked_sum", axis, None, dim), keepdims or keepdim
    return _reduced("masked_sum", masked.sum, data, mask, axes, keeps)


def masked_mean(
    data: mx.array,
    mask: mx.array | None,
    axis: Axes = None,
    keepdims: bool = False,
    *,
    dim: Axes = None,
    keepdim: bool = False,
) -> mx.array:
    """The mean of what counts, NaN of nothing; float32 for integers and booleans."""
    axes, keeps = _one_of("masked_mean", axis, None, dim), keepdims or keepdim
    return _reduced("masked_mean", _mean, data, mask, axes, keeps)


def masked_softmax(
    data: mx.array, mask: mx.array | None, axis: int = -1, *, dim: int | None = None
) -> mx.array:
    """The softmax of what counts, 0 elsewhere and where nothing counts."""
    chosen = _one_of("masked_softmax", axis, -1, dim)
    return _normalized("masked_softmax", masked.softmax, data, mask, chosen)


def masked_log_softmax(
    data: mx.array, mask: mx.array | None, axis: int = -1, *, dim: int | None = None
) -> mx.array:
    """The logarithm of masked_softmax: -inf where nothing counts."""
    chosen = _one_of("masked_log_softmax", axis, -1, dim)
    return _normalized("masked_log_softmax", masked.log_softmax, data, mask, chosen)


class MaskedArray:
    """An array and a mask of the same shape, which is True where an element counts."""

    def __init__(self, data: mx.array, mask: mx.array) -> None:
        self.data = _array("MaskedArray", "data", data)
        self.mask = _array("MaskedArray", "mask", mask)
        if data.shape != mask.shape:
            raise ShapeError(
                f"MaskedArray: expected a mask of shape {data.shape}, got {mask.shape}"
            )
        # As for the functions: a mask of floats may be one that is added to scores.
        if mask.dtype not in DTYPES or mx.issubdtype(mask.dtype, mx.floating):
            raise DTypeError(f"MaskedArray: expected a mask of bool or integers, got {mask.dtype}")

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.data.shape)

    @property
    def ndim(self) -> int:
        return int(self.data.ndim)

    @property
    def dtype(self) -> mx.Dtype:
        return self.data.dtype

    def __repr__(self) -> str:
        return repr(self.to_loup()).replace("MaskedTensor", "MaskedArray", 1)

    def to_loup(self) -> _loup.MaskedTensor:
        """A MaskedTensor of the same memory."""
        data, mask = _to_loup("MaskedArray", self.data), _to_loup("MaskedArray", self.mask)
        return _loup.as_masked_tensor(data, mask.bool())

    def sum(
        self, axis: Axes = None, keepdims: bool = False, *, dim: Axes = None, keepdim: bool = False
    ) -> mx.array:
        """The sum of what counts, 0 of nothing."""
        return masked_sum(self.data, self.mask, axis, keepdims, dim=dim, keepdim=keepdim)

    def mean(
        self, axis: Axes = None, keepdims: bool = False, *, dim: Axes = None, keepdim: bool = False
    ) -> mx.array:
        """The mean of what counts, NaN of nothing."""
        return masked_mean(self.data, self.mask, axis, keepdims, dim=dim, keepdim=keepdim)

    def max(
        self, axis: Axes = None, keepdims: bool = False, *, dim: Axes = None, keepdim: bool = False
    ) -> mx.array:
        """The largest of what counts; of nothing -inf, or the least number of an integer type."""
        axes, keeps = _one_of("max", axis, None, dim), keepdims or keepdim
        return _reduced("max", masked.amax, self.data, self.mask, axes, keeps)

    def min(
        self, axis: Axes = None, keepdims: bool = False, *, dim: Axes = None, keepdim: bool = False
    ) -> mx.array:
        """The least of what counts; of nothing +inf, or the largest number of an integer type."""
        axes, keeps = _one_of("min", axis, None, dim), keepdims or keepdim
        return _reduced("min", masked.amin, self.data, self.mask, axes, keeps)

    def softmax(self, axis: int = -1, *, dim: int | None = None) -> mx.array:
        """The softmax of what counts, 0 elsewhere and where nothing counts."""
        return masked_softmax(self.data, self.mask, axis, dim=dim)


# --- calls ---


def _one_of(operation: str, axis: Any, default: Any, dim: Any) -> Any:
    if dim is None:
        return axis
    if axis != default:
        raise TypeError(f"{operation}: expected axis or dim, got both: {axis} and {dim}")
    return dim


def _array(operation: str, what: str, value: object) -> mx.array:
    if not isinstance(value, mx.array):
        raise TypeError(
            f"{operation}: expected {what} as an mlx.core.array, got {type(value).__name__}"
        )
    return value


def _mean(x: Tensor, axes: Axes, **options: Any) -> Tensor:
    mean: Tensor = masked.mean(x, axes, **options)  # of int64 in float64
    return mean if x.dtype.is_floating_point else mean.to(_loup.float32)


def _reduced(
    operation: str, function: Function, data: Any, mask: Any, axes: Axes, keeps: bool
) -> mx.array:
    x = _array(operation, "data", data)
    m = None if mask is None else _to_loup(operation, _array(operation, "mask", mask))
    return _apply(operation, lambda t: function(t, axes, keepdim=keeps, mask=m), x)


def _normalized(operation: str, function: Function, data: Any, mask: Any, axis: int) -> mx.array:
    x = _array(operation, "data", data)
    m = None if mask is None else _to_loup(operation, _array(operation, "mask", mask))
    dtype = None if mx.issubdtype(x.dtype, mx.floating) else _loup.float32
    return _apply(operation, lambda t: function(t, axis, dtype=dtype, mask=m), x)


# --- exchange ---


def _to_loup(operation: str, x: mx.array) -> Tensor:
    """A tensor of the array's memory."""
    if x.dtype not in DTYPES:
        raise DTypeError(
            f"{operation}: expected bool, uint8, int8 to int64, float16, bfloat16, float32 or "
            f"float64, got {x.dtype}"
        )
    try:
        return _loup.asarray(x)
    except ValueError as error:
        if "eval" not in str(error):
            raise
        raise NotImplementedError(
            f"{operation}: expected an array with values, got one inside of mx.compile or mx.vmap; "
            "call it outside of them"
        ) from error


def _to_mlx(x: Tensor) -> mx.array:
    # Without a dtype MLX makes float32 of float64.
    return mx.array(x, dtype=mx.float64) if x.dtype is _loup.float64 else mx.from_dlpack(x)


# --- gradients ---


def _apply(operation: str, function: Function, *arrays: mx.array) -> mx.array:
    """The result of a function of tensors, as a node of MLX's graph that knows its derivatives."""

    @mx.custom_function
    def run(*inputs: mx.array) -> mx.array:
        return _to_mlx(function(*(_to_loup(operation, x).detach() for x in inputs)))

    @run.vjp
    def vjp(primals: Any, cotangent: mx.array, _: Any) -> Any:
        inputs = _as_tuple(primals)
        pulled = tuple(
            _apply(operation, _pullback(function, i), *inputs, cotangent)
            for i in range(len(inputs))
        )
        return pulled if isinstance(primals, (tuple, list)) else pulled[0]

    @run.jvp
    def jvp(primals: Any, tangents: Any) -> Any:
        inputs, directions = _as_tuple(primals), _as_tuple(tangents)
        pushed = [
            _apply(operation, _pushforward(function, i), *inputs, direction)
            for i, direction in enumerate(directions)
            if direction is not None
        ]
        return sum(pushed[1:], pushed[0])

    result: mx.array = run(*arrays)
    return result


def _as_tuple(values: Any) -> tuple[mx.array, ...]:
    return tuple(values) if isinstance(values, (tuple, list)) else (values,)


def _recorded(inputs: Sequence[Tensor]) -> tuple[list[Tensor], bool]:
    """Inputs that require gradients, and whether they did so before: then higher orders follow."""
    if any(x.requires_grad for x in inputs):
        return list(inputs), True
    leaves = [x.detach() for x in inputs]
    for x in leaves:
        x.requires_grad = x.dtype.is_floating_point
    return leaves, False


def _pullback(function: Function, i: int) -> Function:
    """The gradient of a function by its i-th input: a function of its inputs and a cotangent."""

    def pull(*inputs_and_cotangent: Tensor) -> Tensor:
        *inputs, cotangent = inputs_and_cotangent
        leaves, is_recorded = _recorded(inputs)
        output = function(*leaves)
        found = None
        if output.requires_grad and leaves[i].requires_grad:
            options = {"create_graph": is_recorded, "allow_unused": True}
            found = grad(output, leaves[i], cotangent, **options)[0]
        return _loup.full_like(leaves[i].detach(), 0) if found is None else found

    return pull


def _pushforward(function: Function, i: int) -> Function:
    """The derivative of a function along a direction: a pullback is linear in its cotangent."""

    def push(*inputs_and_direction: Tensor) -> Tensor:
        *inputs, direction = inputs_and_direction
        leaves, is_recorded = _recorded(inputs)
        output = function(*leaves)
        cotangent = _loup.full_like(output.detach(), 0)
        if not (output.requires_grad and leaves[i].requires_grad):
            return cotangent
        cotangent.requires_grad = True
        pulled = grad(output, leaves[i], cotangent, create_graph=True)[0]
        assert pulled is not None
        found = grad(pulled, cotangent, direction, create_graph=is_recorded)[0]
        assert found is not None
        return found

    return push
