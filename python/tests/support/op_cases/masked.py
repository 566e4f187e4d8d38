"""One masked call of every masked operator, beside a formula over the elements that count."""

from collections.abc import Callable, Sequence

import numpy as np

from op_cases.example import Example, moderate
from op_cases.values import DTYPES, FLOATS, INTEGERS

_mask = np.array([[True, False, True, True], [False, False, True, True], [True] * 4])
_REAL = (*INTEGERS, *FLOATS)
Formula = Callable[[np.ndarray], object]


def _kept(dtype: np.dtype) -> np.dtype:
    return dtype


def _counted(_: np.dtype) -> np.dtype:
    return np.dtype(np.int64)


def _float(dtype: np.dtype) -> np.dtype:
    if dtype.kind == "f":
        return dtype
    return np.dtype(np.float64 if dtype == np.int64 else np.float32)


def _float32(dtype: np.dtype) -> np.dtype:
    return dtype if dtype.kind == "f" else np.dtype(np.float32)


def _wide(dtype: np.dtype) -> np.dtype:
    return dtype if dtype.kind == "f" else np.dtype(np.int64)


def _rows(formula: Formula, result: Callable[[np.dtype], np.dtype]) -> Callable[..., np.ndarray]:
    """The formula over what counts of every row, computed in float64 or int64."""

    def reference(x: np.ndarray, mask: np.ndarray) -> np.ndarray:
        exact = x.astype(np.float64 if x.dtype.kind == "f" else np.int64)
        values = [formula(row[counts]) for row, counts in zip(exact, mask, strict=True)]
        return np.asarray(values).astype(result(x.dtype))

    return reference


def _reduction(
    formula: Formula,
    result: Callable[[np.dtype], np.dtype] = _kept,
    dtypes: Sequence[str] = DTYPES,
    rtol: float = 2,
    **options: object,
) -> list[Example]:
    return [
        Example(
            (moderate(3, 4), _mask),
            lambda op, x, m: op(x, dim=1, mask=m, **options),
            _rows(formula, result),
            dtypes,
            rtol,
        )
    ]


def _index(formula: Callable[[np.ndarray], np.intp]) -> Callable[..., np.ndarray]:
    def reference(x: np.ndarray, mask: np.ndarray) -> np.ndarray:
        found = [
            np.flatnonzero(counts)[formula(row[counts])]
            for row, counts in zip(x, mask, strict=True)
        ]
        return np.asarray(found, np.int64)

    return reference


def _line(formula: Formula, hidden: float, dtypes: Sequence[str] = FLOATS) -> list[Example]:
    """`formula` of what counts at the places that count, `hidden` elsewhere."""

    def reference(x: np.ndarray, mask: np.ndarray) -> np.ndarray:
        out = np.full(x.shape, hidden, np.float64)
        for row, counts, into in zip(x.astype(np.float64), mask, out, strict=True):
            into[counts] = formula(row[counts])
        return out.astype(x.dtype)

    return [
        Example(
            (moderate(3, 4), _mask), lambda op, x, m: op(x, 1, mask=m), reference, dtypes, rtol=8
        )
    ]


def _scan(formula: Callable[..., np.ndarray], start: float) -> list[Example]:
    def reference(x: np.ndarray, mask: np.ndarray) -> np.ndarray:
        wide = np.where(mask, x, np.asarray(start, x.dtype)).astype(_wide(x.dtype))
        exact = wide.astype(np.float64) if wide.dtype.kind == "f" else wide
        return formula(exact, axis=1).astype(wide.dtype)

    return [Example((moderate(3, 4), _mask), lambda op, x, m: op(x, 1, mask=m), reference, rtol=2)]


def _extremes(
    first: Formula, second: Formula, second_result: Callable[..., np.ndarray] | None = None
) -> list[Example]:
    def reference(x: np.ndarray, mask: np.ndarray) -> Sequence[np.ndarray]:
        other = second_result or _rows(second, _kept)
        return [_rows(first, _kept)(x, mask), other(x, mask)]

    return [
        Example(
            (moderate(3, 4), _mask), lambda op, x, m: list(op(x, dim=1, mask=m)), reference, _REAL
        )
    ]


def _exponentials(x: np.ndarray) -> np.ndarray:
    powers: np.ndarray = np.exp(x - x.max())
    return powers


def _softmax(x: np.ndarray) -> np.ndarray:
    powers = _exponentials(x)
    return powers / powers.sum()


def _log_sum_exp(x: np.ndarray) -> float:
    return float(np.log(_exponentials(x).sum()) + x.max())


def _covariance(correlate: bool) -> Callable[..., np.ndarray]:
    """Over the observations that count in both rows."""

    def reference(x: np.ndarray, mask: np.ndarray) -> np.ndarray:
        exact = x.astype(np.float64)
        out = np.empty((len(x), len(x)))
        for i, j in np.ndindex(out.shape):
            both = mask[i] & mask[j]
            pair = np.stack([exact[i][both], exact[j][both]])
            out[i, j] = (np.corrcoef if correlate else np.cov)(pair)[0, 1]
        return out.astype(_float(x.dtype))

    return reference


_observed = np.arange(24).reshape(3, 8) % 7 != 2
_weights = np.linspace(0.5, 2, 4)


def _smallest(x: np.ndarray) -> object:
    return x.min()


def _greatest(x: np.ndarray) -> object:
    return x.max()


MASKED: dict[str, list[Example]] = {
    "prod": _reduction(np.prod, _wide),
    "mean": _reduction(np.mean, _float),
    "amax": _reduction(_greatest, rtol=0),
    "amin": _reduction(_smallest, rtol=0),
    "argmax": [
        Example(
            (moderate(3, 4), _mask), lambda op, x, m: op(x, 1, mask=m), _index(np.argmax), _REAL
        )
    ],
    "argmin": [
        Example(
            (moderate(3, 4), _mask), lambda op, x, m: op(x, 1, mask=m), _index(np.argmin), _REAL
        )
    ],
    "logsumexp": _reduction(_log_sum_exp, _float32, rtol=4),
    "count": _reduction(len, _counted, rtol=0),
    "var": _reduction(lambda x: x.var(ddof=1), _float32, rtol=8),
    "std": _reduction(lambda x: x.std(ddof=0), _float32, rtol=8, correction=0),
    "norm": _reduction(np.linalg.norm, dtypes=FLOATS, rtol=4, ord=2),
    "max": _extremes(_greatest, np.argmax, _index(np.argmax)),
    "min": _extremes(_smallest, np.argmin, _index(np.argmin)),
    "minmax": _extremes(_smallest, _greatest),
    "softmax": _line(_softmax, 0),
    "log_softmax": [
        Example(
            (moderate(3, 4), _mask),
            # Differences of the -inf elsewhere would be NaN.
            lambda op, x, m: op(x, 1, mask=m).masked_fill(~m, 0),
            _line(lambda x: x - _log_sum_exp(x), 0)[0].reference,
            FLOATS,
            rtol=8,
        )
    ],
    "softmin": _line(lambda x: _softmax(-x), 0),
    "normalize": [
        Example(
            (moderate(3, 4), _mask),
            lambda op, x, m: op(x, 2, 1, mask=m),
            _line(lambda x: x / np.linalg.norm(x), 0)[0].reference,
            FLOATS,
            rtol=8,
        )
    ],
    "cumsum": _scan(np.cumsum, 0),
    "cumprod": _scan(np.cumprod, 1),
    "median": _reduction(lambda x: np.sort(x)[(x.size - 1) // 2], rtol=0),
    "quantile": [
        Example(
            (moderate(3, 4), _mask),
            lambda op, x, m: op(x, 0.3, dim=1, mask=m),
            _rows(lambda x: np.quantile(x, 0.3), _float),
            _REAL,
            rtol=4,
        )
    ],
    "histogram": [
        Example(
            (moderate(3, 4), _mask),
            lambda op, x, m: op(x, 5, range=(-4, 13), mask=m)[0],
            lambda x, m: np.histogram(x[m].astype(np.float64), 5, (-4, 13))[0],
            _REAL,
        )
    ],
    "cov": [
        Example(
            (moderate(3, 8), _observed),
            lambda op, x, m: op(x, mask=m),
            _covariance(correlate=False),
            FLOATS,
            rtol=16,
        )
    ],
    "corrcoef": [
        Example(
            (moderate(3, 8), _observed),
            lambda op, x, m: op(x, mask=m),
            _covariance(correlate=True),
            FLOATS,
            rtol=16,
        )
    ],
    "weighted_mean": [
        Example(
            (moderate(3, 4), _mask),
            lambda op, x, m: op(x, _weights.astype(np.float32), 1, mask=m),
            lambda x, m: np.average(
                x.astype(np.float64), axis=1, weights=np.where(m, _weights.astype(np.float32), 0)
            ).astype(x.dtype),
            ("float32",),
            rtol=8,
        )
    ],
}
