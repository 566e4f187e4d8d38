"""Layers and losses, computed in float64."""

import numpy as np

from op_cases.example import Example, moderate
from op_cases.values import FLOATS

_CLASSES = np.array([1, 0, 2, 1])
_GRID = np.array([[2, 0, 1], [1, 1, 0]])
_WEIGHTS = np.array([0.5, 2.0, 1.25])
_REDUCTIONS = {"mean": np.mean, "sum": np.sum, "none": lambda x: x}


def _exactly(function, **options):
    """The function of float64, rounded once to the dtype of the first operand."""

    def reference(*x: np.ndarray) -> np.ndarray:
        wide = [each.astype(np.float64) if each.dtype.kind == "f" else each for each in x]
        return np.asarray(function(*wide, **options)).astype(x[0].dtype)

    return reference


def _example(inputs, run, reference, **options) -> Example:
    return Example(inputs, run, _exactly(reference, **options), FLOATS, rtol=8)


def layer_norm(x, weight=None, bias=None, *, dims=(-1,), eps=1e-5):
    y = (x - x.mean(dims, keepdims=True)) / np.sqrt(x.var(dims, keepdims=True) + eps)
    return y * (1 if weight is None else weight) + (0 if bias is None else bias)


def distance_loss(measure, reduction):
    return lambda x, target: _REDUCTIONS[reduction](measure(x - target))


def cross_entropy(
    x, target, weight=None, *, ignore_index=-100, reduction="mean", label_smoothing=0.0
):
    """Position after position, class after class."""
    if x.ndim == 1:
        x, target = x[None], target[None]
        alone = True
    else:
        alone = False
    classes = x.shape[1]
    weight = np.ones(classes) if weight is None else weight
    logs = np.moveaxis(x, 1, -1)
    logs = logs - logs.max(-1, keepdims=True)
    logs = logs - np.log(np.exp(logs).sum(-1, keepdims=True))
    if target.dtype.kind == "f":
        wanted = np.moveaxis(target, 1, -1)
        parts = counts = np.ones(logs.shape[:-1])
    else:
        counts = (target != ignore_index) * 1.0
        named = np.where(counts > 0, target, 0)
        wanted = np.eye(classes)[named]
        parts = weight[named] * counts
    wanted = wanted * (1 - label_smoothing) + label_smoothing / classes
    losses = -(logs * wanted * weight).sum(-1) * counts
    if reduction == "none":
        return losses[0] if alone else losses
    return losses.sum() / (parts.sum() if reduction == "mean" else 1)


def _losses(measure):
    shapes = (moderate(3, 4), moderate(3, 4))
    return [
        *(
            _example(
                shapes,
                lambda op, x, y, reduction=reduction: op(x, y, reduction=reduction),
                distance_loss(measure, reduction),
            )
            for reduction in _REDUCTIONS
        ),
        _example(
            (moderate(2, 1, 3), moderate(4, 1)),
            lambda op, x, y: op(x, y, "none"),
            distance_loss(measure, "none"),
        ),
        _example(
            (moderate(), moderate()), lambda op, x, y: op(x, y), distance_loss(measure, "sum")
        ),
        _example(
            (moderate(0, 3), moderate(3)),
            lambda op, x, y: op(x, y, "sum"),
            distance_loss(measure, "sum"),
        ),
    ]


def _entropies(*inputs, **options):
    """With all reductions."""
    return [
        _example(
            inputs,
            lambda op, *x, every=reduction: op(*x, reduction=every, **options),
            cross_entropy,
            reduction=reduction,
            **options,
        )
        for reduction in _REDUCTIONS
    ]


NN: dict[str, list[Example]] = {
    "layer_norm": [
        _example((moderate(3, 5),), lambda op, x: op(x, 5), layer_norm),
        _example(
            (moderate(2, 3, 4), moderate(4), moderate(4)),
            lambda op, x, w, b: op(x, (4,), w, b),
            layer_norm,
        ),
        _example(
            (moderate(2, 3, 4), moderate(3, 4)),
            lambda op, x, w: op(x, [3, 4], weight=w, eps=0.5),
            layer_norm,
            dims=(1, 2),
            eps=0.5,
        ),
        _example(
            (moderate(2, 4), moderate(2, 4)),
            lambda op, x, b: op(x, (2, 4), bias=b),
            lambda x, b: layer_norm(x, None, b, dims=(0, 1)),
        ),
        _example((moderate(0, 4),), lambda op, x: op(x, 4), lambda x: x),
    ],
    "mse_loss": _losses(np.square),
    "l1_loss": _losses(np.abs),
    "cross_entropy": [
        *_entropies(moderate(4, 3), _CLASSES),
        *_entropies(moderate(4, 3), _CLASSES, _WEIGHTS),
        *_entropies(moderate(4, 3), _CLASSES, _WEIGHTS, ignore_index=1, label_smoothing=0.25),
        *_entropies(moderate(2, 3, 3), _GRID, ignore_index=0),
        *_entropies(moderate(2, 3, 3), _GRID, _WEIGHTS, label_smoothing=1.0),
        *_entropies(moderate(3), np.array(2), label_smoothing=0.1),
        *_entropies(moderate(4, 3), moderate(4, 3)),
        *_entropies(moderate(2, 3, 2), moderate(2, 3, 2), _WEIGHTS, label_smoothing=0.5),
        *_entropies(moderate(3), moderate(3), _WEIGHTS),
    ],
}
