"""Helps to find out whether masked data reach a result."""

from collections.abc import Iterator
from contextlib import contextmanager

from loup import _loup


@contextmanager
def poison() -> Iterator[None]:
    """Inside, operators see garbage wherever a mask is False.

    Floats there are NaN, integers 0x5a in every byte, bools True. Operators read copies: the
    tensors themselves keep their elements. A program whose results stay the same bits depends on
    nothing that is masked. It holds for all threads.

    >>> import loup
    >>> x = loup.masked_tensor([1.0, 2.0], [True, False])
    >>> with loup.debug.poison():
    ...     print((x * 10).sum().item(), (x * 10).get_data().tolist())
    10.0 [10.0, nan]
    """
    garbage = _loup.Poison()
    try:
        yield
    finally:
        del garbage
