"""`zariz.gmpy` and gmpy2 give the same results and raise the same errors."""

from __future__ import annotations

from typing import Any

import gmpy2
import pytest
from gmpy2 import mpz
from hypothesis import given, settings
from hypothesis import strategies as st

from zariz import gmpy

SETTINGS = settings(deadline=None, max_examples=150)
small = st.integers(-50, 50)
numbers = st.one_of(small, st.integers(-(2**300), 2**300))


def outcome(function: Any, *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except (ValueError, ZeroDivisionError, TypeError) as error:
        return next(c for c in (ZeroDivisionError, ValueError, TypeError) if isinstance(error, c))


@SETTINGS
@given(st.sampled_from(["powmod", "powmod_sec"]), numbers, numbers, numbers)
def test_powers(name: str, x: int, y: int, m: int) -> None:
    ours, theirs = getattr(gmpy, name), getattr(gmpy2, name)
    assert outcome(ours, x, y, m) == outcome(theirs, x, y, m)


@SETTINGS
@given(numbers, numbers)
def test_inverses(x: int, m: int) -> None:
    assert outcome(gmpy.invert, x, m) == outcome(gmpy2.invert, x, m)


@SETTINGS
@given(st.lists(numbers, max_size=12), st.integers(0, 2**300), numbers)
def test_lists(xs: list[int], y: int, m: int) -> None:
    # With negative exponents, gmpy2 may end the process.
    assert outcome(gmpy.powmod_base_list, xs, y, m) == outcome(gmpy2.powmod_base_list, xs, y, m)
    exponents = list(map(abs, xs))
    assert outcome(gmpy.powmod_exp_list, y, exponents, m) == outcome(gmpy2.powmod_exp_list, y, exponents, m)


def test_what_came_goes() -> None:
    for function, arguments in [(gmpy.powmod, (2, 10, 35)), (gmpy.powmod_sec, (2, 10, 35)), (gmpy.invert, (2, 35))]:
        assert type(function(*arguments)) is int
        for i in range(len(arguments)):
            mixed = [mpz(a) if i == j else a for j, a in enumerate(arguments)]
            assert type(function(*mixed)) is type(mpz(1)) and function(*mixed) == function(*arguments)
    assert {type(p) for p in gmpy.powmod_base_list([2, 3], 10, 35)} == {int}
    assert {type(p) for p in gmpy.powmod_base_list([2, mpz(3)], 10, 35)} == {type(mpz(1))}
    assert {type(p) for p in gmpy.powmod_exp_list(2, [mpz(3)], 36)} == {type(mpz(1))}


def test_negative_exponents() -> None:
    assert gmpy.powmod_exp_list(2, [10, -1, 3, -2], 35) == [9, 18, 8, pow(2, -2, 35)]
    assert gmpy.powmod_base_list([2, 3], -1, 35) == [18, 12]
    for ends_gmpy2 in [lambda: gmpy.powmod_base_list([2, 5], -1, 35), lambda: gmpy.powmod_exp_list(5, [-1], 35)]:
        with pytest.raises(ValueError):
            ends_gmpy2()


@pytest.mark.parametrize("bad", [2.5, "2", None, b"2", gmpy2.mpq(1, 2)])
def test_what_is_no_integer(bad: Any) -> None:
    for function in [gmpy.powmod, gmpy.powmod_sec]:
        for i in range(3):
            with pytest.raises(TypeError):
                function(*[bad if i == j else 3 for j in range(3)])
    for call in [
        lambda: gmpy.powmod_base_list([bad], 3, 35),
        lambda: gmpy.powmod_exp_list(3, [bad], 35),
        lambda: gmpy.invert(bad, 35),
        lambda: gmpy.invert(3, bad),
    ]:
        with pytest.raises(TypeError):
            call()


def test_longer_than_the_library() -> None:
    m = (1 << 20000) + 1
    assert gmpy.powmod(3, 65537, m) == pow(3, 65537, m)


def test_inverses_keep_no_modulus() -> None:
    before = gmpy._prepared.cache_info()
    assert gmpy.invert(3, 2**521 - 1) == pow(3, -1, 2**521 - 1)
    assert gmpy._prepared.cache_info() == before


class Bar:
    """What counts, as tqdm's bars do."""

    def __init__(self) -> None:
        self.done = 0

    def update(self, more: int) -> None:
        self.done += more


@pytest.mark.parametrize(
    "work",
    [
        lambda bar: gmpy.powmod_base_list([3, 5, 7], 11, 35, progress=bar),
        lambda bar: gmpy.powmod_base_list([3, 5, 7], 11, 36, progress=bar),
        lambda bar: gmpy.powmod_exp_list(3, [1, 2, 3], 36, progress=bar),
        lambda bar: gmpy.powmod_exp_list(3, [1, -2, 3], 35, progress=bar),
    ],
)
def test_progress_is_of_all(work: Any) -> None:
    bar, told = Bar(), []
    assert work(bar) == work(told.append) == work(None)
    assert bar.done == sum(told) == 3


@pytest.mark.parametrize("modulus", [35, 36])
@pytest.mark.parametrize("exponent", [2, -1])
@pytest.mark.parametrize("bad", [{"threads": 0}, {"progress": 7}])
def test_bad_options_are_refused_with_lanes_and_without(modulus: int, exponent: int, bad: dict[str, int]) -> None:
    with pytest.raises((ValueError, TypeError), match="threads is 0|progress is neither"):
        gmpy.powmod_base_list([11, 13], exponent, modulus, **bad)
    with pytest.raises((ValueError, TypeError), match="threads is 0|progress is neither"):
        gmpy.powmod_exp_list(11, [exponent, exponent], modulus, **bad)
