"""Gradients compared with finite differences. The public names are in loup.autograd."""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence

from loup._loup import (
    Error,
    MaskedTensor,
    Tensor,
    autograd_grad,
    autograd_record,
    float64,
    tensor,
)
from loup._loup import ValueError as LoupValueError

AnyTensor = Tensor | MaskedTensor
Function = Callable[..., AnyTensor | Sequence[AnyTensor]]
Index = tuple[int, ...]


class GradcheckError(Error):
    """The gradient of a function and its finite differences do not agree."""


def gradcheck(
    f: Function,
    inputs: AnyTensor | Sequence[object],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
) -> bool:
    """Compare the gradients of f at inputs with central differences.

    Every derivative of an output (floating, with a gradient record) by an element of an input that
    requires grad must agree within atol + rtol * |difference quotient|, and a second run must give
    the same bits. Inputs that require grad are float64 leaves, which are changed by eps, one
    element at a time, and restored. Other inputs are passed on as they are. Of masked tensors only
    what counts is changed; by what does not the derivatives must be 0, and those of an output that
    does not count, too.

    Returns True; raises GradcheckError, which names the worst derivative, or returns False when
    raise_exception is False.
    """
    arguments = _as_tuple(inputs)
    wanted = _checked_inputs("gradcheck", arguments)
    try:
        _check_first_order(f, arguments, wanted, eps, atol, rtol)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    f: Function,
    inputs: AnyTensor | Sequence[object],
    grad_outputs: AnyTensor | Sequence[AnyTensor] | None = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
) -> bool:
    """Compare the gradients of the gradients of f with central differences.

    As gradcheck() of the function that gives the gradients of f, by its inputs and by the
    gradients of its outputs. For those some numbers are made up unless they are given.
    """
    arguments = _as_tuple(inputs)
    wanted = _checked_inputs("gradgradcheck", arguments)
    if grad_outputs is None:
        outputs = [output for _, output in _checked_outputs("gradgradcheck", f(*arguments))]
        given = [_made_up(output, k) for k, output in enumerate(outputs)]
    else:
        given = [x.detach().clone().requires_grad_() for x in _tensors(_as_tuple(grad_outputs))]

    def gradients(*values: object) -> list[AnyTensor]:
        ours = values[: len(arguments)]
        outputs = [output for _, output in _checked_outputs("gradgradcheck", f(*ours))]
        found = autograd_grad(
            outputs, [ours[i] for i in wanted], values[len(arguments) :], None, True, True
        )
        return [gradient for gradient in found if gradient is not None]

    return gradcheck(
        gradients,
        (*arguments, *given),
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
    )


def _as_tuple(values: object) -> tuple[object, ...]:
    return tuple(values) if isinstance(values, Sequence) else (values,)


def _tensors(values: Sequence[object]) -> list[AnyTensor]:
    return [x for x in values if isinstance(x, AnyTensor)]


def _data(x: AnyTensor) -> Tensor:
    return x.get_data() if isinstance(x, MaskedTensor) else x


def _checked_inputs(name: str, inputs: Sequence[object]) -> dict[int, AnyTensor]:
    """The inputs that require grad, by position."""
    wanted = {i: x for i, x in enumerate(inputs) if isinstance(x, AnyTensor) and x.requires_grad}
    if not wanted:
        raise LoupValueError(f"{name}: expected an input that requires grad, got none")
    for i, x in wanted.items():
        if x.dtype != float64:
            raise LoupValueError(
                f"{name}: expected inputs of float64, for others have no useful differences, got "
                f"{x.dtype} at position {i}"
            )
        if not x.is_leaf:
            raise LoupValueError(
                f"{name}: expected inputs that are leaves, got a computed one at position {i}; "
                "detach it and require grad anew"
            )
        sizes = zip(x.shape, _data(x).strides, strict=True)
        if x.numel() > 0 and any(size > 1 and step == 0 for size, step in sizes):
            raise LoupValueError(
                f"{name}: expected inputs that hold each element once, got an expanded one at "
                f"position {i}; clone it first"
            )
    return wanted


def _checked_outputs(name: str, outputs: object) -> list[tuple[int, AnyTensor]]:
    """The outputs that have a record, and their positions."""
    several = _as_tuple(outputs)
    for i, output in enumerate(several):
        if not isinstance(output, AnyTensor):
            raise LoupValueError(
                f"{name}: expected a function that returns tensors, got {type(output).__name__} at "
                f"position {i}"
            )
    recorded = [(i, y) for i, y in enumerate(_tensors(several)) if y.requires_grad]
    if not recorded:
        raise LoupValueError(
            f"{name}: expected an output with a gradient record, got none among {len(several)}"
        )
    return recorded


def _made_up(like: AnyTensor, seed: int) -> AnyTensor:
    """Numbers without a pattern that a wrong gradient could hide behind."""
    count = math.prod(like.shape)
    values = [math.cos(1.3 * k + seed) + 0.1 for k in range(count)]
    made = tensor(values, dtype=float64).reshape(like.shape)
    if isinstance(like, MaskedTensor):
        return MaskedTensor(made, like.get_mask(), True)
    return made.requires_grad_()


def _indices(shape: Sequence[int]) -> Iterator[Index]:
    return itertools.product(*(range(size) for size in shape))


def _flat(x: AnyTensor) -> list[float]:
    """The elements, 0 for those that do not count."""
    values = x.to_tensor(0) if isinstance(x, MaskedTensor) else x
    return list(values.detach().reshape(-1).double().tolist())


def _write(x: Tensor, index: Index, value: float) -> None:
    before = autograd_record(False)
    try:
        x[index] = value
    finally:
        autograd_record(before)


def _differences(
    f: Function, arguments: Sequence[object], outputs: Sequence[int], x: AnyTensor, eps: float
) -> Iterator[list[list[float]] | None]:
    """For every element of x that counts: the difference quotients of all of the outputs."""

    def values() -> list[list[float]]:
        found = _as_tuple(f(*arguments))
        return [_flat(y) for y in (found[i] for i in outputs) if isinstance(y, AnyTensor)]

    data = _data(x)
    for index in _indices(x.shape):
        if isinstance(x, MaskedTensor) and not x.get_mask()[index].item():
            yield None
            continue
        centre = float(data[index].item())
        high, low = centre + eps, centre - eps
        try:
            _write(data, index, high)
            above = values()
            _write(data, index, low)
            below = values()
        finally:
            _write(data, index, centre)
        # An input of NaN or inf, hidden by a mask, does not move.
        step = high - low if math.isfinite(centre) else 2 * eps
        yield [
            [(a - b) / step for a, b in zip(ups, downs, strict=True)]
            for ups, downs in zip(above, below, strict=True)
        ]


def _gradients(
    outputs: Sequence[AnyTensor], wanted: dict[int, AnyTensor]
) -> Iterator[tuple[int, int, list[list[float]]]]:
    """(output, element, its gradients by every input), one row of the Jacobian after another."""
    inputs = list(wanted.values())
    for k, output in enumerate(outputs):
        count = math.prod(output.shape)
        for element in range(count):
            seed = tensor([float(e == element) for e in range(count)], dtype=output.dtype)
            rows = autograd_grad([output], inputs, [seed.reshape(output.shape)], True, False, True)
            yield (
                k,
                element,
                [
                    [0.0] * math.prod(x.shape) if row is None else _flat(_data(row))
                    for x, row in zip(inputs, rows, strict=True)
                ],
            )


def _check_first_order(
    f: Function,
    arguments: Sequence[object],
    wanted: dict[int, AnyTensor],
    eps: float,
    atol: float,
    rtol: float,
) -> None:
    recorded = _checked_outputs("gradcheck", f(*arguments))
    outputs = [output for _, output in recorded]
    rows = list(_gradients(outputs, wanted))
    again = _gradients([y for _, y in _checked_outputs("gradcheck", f(*arguments))], wanted)
    if repr(rows) != repr(list(again)):
        raise GradcheckError(
            "gradcheck: expected equal gradients of equal calls, got two that differ"
        )

    positions = [i for i, _ in recorded]
    worst: tuple[float, str] = (0.0, "")
    for number, (position, x) in enumerate(wanted.items()):
        columns = list(_differences(f, arguments, positions, x, eps))
        for k, element, row in rows:
            for at, (index, column) in enumerate(zip(_indices(x.shape), columns, strict=True)):
                got = row[number][at]
                expected = 0.0 if column is None else column[k][element]
                excess = abs(got - expected) - (atol + rtol * abs(expected))
                # Written so that NaN is a failure, too.
                if not excess <= 0 and not excess <= worst[0]:
                    where = list(_indices(outputs[k].shape))[element]
                    text = (
                        f"gradcheck: expected the derivative of output {positions[k]}{list(where)} "
                        f"by input {position}{list(index)} to be {expected:.9g} as by finite "
                        f"differences, got {got:.9g}; they may differ by "
                        f"{atol + rtol * abs(expected):.3g}"
                    )
                    worst = (excess, text)
    if worst[1]:
        raise GradcheckError(worst[1])
