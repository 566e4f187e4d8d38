"""no_grad, enable_grad, set_grad_enabled: contexts and decorators."""

import threading
from collections.abc import Iterator

import pytest

import loup


def is_recorded() -> bool:
    return (loup.ones(1).requires_grad_() * 2).requires_grad


def test_contexts_nest() -> None:
    with loup.no_grad():
        assert not is_recorded()
        with loup.enable_grad():
            assert is_recorded()
            assert loup.is_grad_enabled()
        assert not loup.is_grad_enabled()
    assert is_recorded()


def test_decorators() -> None:
    @loup.no_grad()
    def off(a: int, b: int = 1) -> tuple[bool, int]:
        """Does nothing."""
        return is_recorded(), a + b

    @loup.enable_grad()
    def on() -> bool:
        return is_recorded()

    assert off(1, b=2) == (False, 3)
    assert off.__name__ == "off"
    assert off.__doc__ == "Does nothing."
    with loup.no_grad():
        assert on()
    assert loup.is_grad_enabled()


def test_a_decorated_function_restores_the_mode_after_an_exception_and_may_recurse() -> None:
    @loup.no_grad()
    def countdown(n: int) -> None:
        assert not loup.is_grad_enabled()
        if n == 0:
            raise KeyError
        countdown(n - 1)

    with pytest.raises(KeyError):
        countdown(3)
    assert loup.is_grad_enabled()


def test_generators_are_refused() -> None:
    with pytest.raises(TypeError, match="no_grad: expected a plain function, got numbers, which"):

        @loup.no_grad()
        def numbers() -> Iterator[int]:
            yield 1


def test_set_grad_enabled_as_a_function() -> None:
    loup.set_grad_enabled(False)
    try:
        assert not is_recorded()
    finally:
        loup.set_grad_enabled(True)
    assert is_recorded()


def test_set_grad_enabled_as_a_context() -> None:
    with loup.set_grad_enabled(False):
        assert not is_recorded()
        with loup.set_grad_enabled(True):
            assert is_recorded()
        assert not is_recorded()
    assert is_recorded()


def test_set_grad_enabled_as_a_decorator() -> None:
    @loup.set_grad_enabled(False)
    def off() -> bool:
        return is_recorded()

    assert loup.is_grad_enabled()
    assert not off()
    assert loup.is_grad_enabled()


def test_the_mode_belongs_to_a_thread() -> None:
    seen: list[bool] = []
    with loup.no_grad():
        thread = threading.Thread(target=lambda: seen.append(is_recorded()))
        thread.start()
        thread.join()
    assert seen == [True]
