"""Powers, products and inverses, against Python's own."""

from __future__ import annotations

import math
import random
import time
from pathlib import Path

import gmpy2
import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import zariz
from zariz import primes

SETTINGS = settings(deadline=None, max_examples=60)
odd_moduli = st.integers(3, 2**700).map(lambda n: n | 1)
numbers = st.integers(0, 2**900)


def as_bytes(number: int, size: int | None = None) -> bytes:
    return number.to_bytes(size or (number.bit_length() + 7) // 8 or 1, "big")


@SETTINGS
@given(odd_moduli, st.lists(numbers, max_size=20), numbers)
def test_powers_are_pythons(n: int, bases: list[int], e: int) -> None:
    expected = [pow(b, e, n) for b in bases]
    m = zariz.Modulus(n)
    assert m.pow_batch(bases, e) == m.pow_batch_vartime(bases, e) == expected
    assert [m.pow(b, e) for b in bases] == [m.pow_vartime(b, e) for b in bases] == expected
    as_ints = [int.from_bytes(p, "big") for p in m.pow_batch([as_bytes(b) for b in bases], as_bytes(e))]
    assert as_ints == expected
    assert expected == [int(gmpy2.powmod(b, e, n)) for b in bases]


@SETTINGS
@given(st.lists(st.tuples(odd_moduli, numbers, numbers), min_size=1, max_size=20))
def test_many_moduli(jobs: list[tuple[int, int, int]]) -> None:
    moduli, bases, exponents = (list(column) for column in zip(*jobs))
    expected = [pow(b, e, n) for n, b, e in jobs]
    assert zariz.pow_many(moduli, bases, exponents) == expected
    assert zariz.pow_many_vartime(map(zariz.Modulus, moduli), iter(bases), tuple(exponents)) == expected
    assert zariz.mul_many(moduli, bases, exponents) == [a * b % n for n, a, b in jobs]
    assert zariz.pow_many(moduli, bases[0], exponents[0]) == [pow(bases[0], exponents[0], n) for n in moduli]


@SETTINGS
@given(odd_moduli, st.lists(numbers, min_size=1, max_size=20))
def test_inverses(n: int, xs: list[int]) -> None:
    results = zariz.invert_many(n, xs, errors="return")
    for x, inverse in zip(xs, results):
        if math.gcd(x, n) == 1:
            assert inverse == pow(x, -1, n)
        else:
            assert isinstance(inverse, zariz.NotInvertible) and isinstance(inverse, ZeroDivisionError)
            assert xs[inverse.index] == x


@SETTINGS
@given(odd_moduli, st.lists(st.tuples(numbers, numbers), min_size=2, max_size=8), st.booleans())
def test_products_of_powers(n: int, terms: list[tuple[int, int]], vartime: bool) -> None:
    bases, exponents = (list(column) for column in zip(*terms))
    expected = math.prod(pow(b, e, n) for b, e in terms) % n
    assert zariz.multi_pow_many(n, [bases] * 3, [exponents] * 3, vartime=vartime) == [expected] * 3


@SETTINGS
@given(odd_moduli, numbers, st.lists(st.integers(0, 2**300), max_size=10))
def test_fixed_base(n: int, base: int, exponents: list[int]) -> None:
    fixed = zariz.FixedBase(n, base, exponent_bits=301)
    expected = [pow(base, e, n) for e in exponents]
    assert fixed.pow_batch(exponents) == fixed.pow_batch_vartime(exponents) == expected
    assert [fixed.pow(e) for e in exponents] == expected


def test_rows_of_numpy_and_of_others(odd: int) -> None:
    m, count = zariz.Modulus(odd), 21
    bases = numpy.random.default_rng().integers(0, 256, (count, 130), dtype=numpy.uint8)
    expected = [pow(int.from_bytes(row.tobytes(), "big"), 65537, odd) for row in bases]
    powers = m.pow_batch(bases, 65537)
    assert type(powers) is numpy.ndarray and powers.shape == (count, m.size) and powers.dtype == numpy.uint8
    assert [int.from_bytes(row.tobytes(), "big") for row in powers] == expected
    view = m.pow_batch(memoryview(bases), 65537)
    assert type(view) is memoryview and view.shape == powers.shape and view.tobytes() == powers.tobytes()
    out = numpy.zeros((count, m.size), numpy.uint8)
    assert m.pow_batch(bases, 65537, out=out) is out and (out == powers).all()
    assert m.pow_batch(list(map(bytes, bases)), 65537, out=out) is out
    # Also for moduli of several lengths: shorter results have leading zeros.
    mixed = zariz.pow_many([odd] * 20 + [35], bases, 65537)
    assert [int.from_bytes(row.tobytes(), "big") for row in mixed[:20]] == expected[:20]
    assert not mixed[20][:-1].any() and mixed[20][-1] == pow(int.from_bytes(bases[20].tobytes(), "big"), 65537, 35)
    assert m.pow_batch(bases[:0], 3).shape == (0, m.size)


def test_the_length_of_exponents(odd: int) -> None:
    m = zariz.Modulus(odd)
    assert m.pow(3, 5, exponent_bits=3) == 243
    for exponent in (8, b"\x08", b"\x00\x08"):
        with pytest.raises(zariz.Error, match="3 bits that exponent_bits allows"):
            m.pow(3, exponent, exponent_bits=3)
    results = m.pow_batch([2, 3], [7, 8], exponent_bits=3, errors="return")
    assert results[0] == 128 and isinstance(results[1], zariz.Error) and results[1].index == 1
    rows = numpy.array([[7], [8]], numpy.uint8)
    results = m.pow_batch(2, rows, exponent_bits=3, errors="return")
    assert results[0] == 128 and isinstance(results[1], zariz.Error)
    # Longer than the modulus.
    assert m.pow(3, 1 << 2000) == pow(3, 1 << 2000, odd)


def test_errors_name_the_item_and_keep_the_others() -> None:
    with pytest.raises(zariz.BatchError, match=r"item 1 \(counted from 0\): the modulus is even") as caught:
        zariz.pow_many([35, 36, 11, 1], 2, 10)
    error = caught.value
    assert error.results == [9, None, 1, None] and error.index == 1 and isinstance(error, ValueError)
    assert list(error.errors) == [1, 3] and all(isinstance(e, zariz.InvalidModulus) for e in error.errors.values())
    assert "2 of 4 items failed" in str(error)
    returned = zariz.pow_many([35, -5], 2, [10, 10], errors="return")
    assert returned[0] == 9 and "negative" in str(returned[1])
    with pytest.raises(zariz.InvalidModulus):
        zariz.Modulus(36)
    with pytest.raises(zariz.Error, match="16384"):
        zariz.Modulus(1 << 20000 | 1)
    with pytest.raises(zariz.Error, match="2 bases and 1 exponents"):
        zariz.multi_pow_many(35, [[2, 3]], [[5]])
    with pytest.raises(zariz.Error, match="9 bases"):
        zariz.multi_pow_many(35, [[2] * 9], [[5] * 9])
    with pytest.raises(zariz.Error, match="there are 2 bases and 3 moduli"):
        zariz.pow_many([3, 5, 7], [1, 2], 3)
    with pytest.raises(zariz.Error, match="at least one"):
        zariz.pow_many(3, 1, 3)


def test_primes() -> None:
    for prime in primes.generate_many(256, 9) + [primes.generate(300), primes.generate_safe(256)]:
        assert gmpy2.is_prime(prime) and prime.bit_length() in (256, 300)
    safe = primes.generate_safe_many(256, 2, threads=2)
    assert all(gmpy2.is_prime(p // 2) for p in safe) and safe[0] != safe[1]
    candidates = [random.getrandbits(256) for _ in range(300)]
    assert primes.is_prime_many(candidates) == [bool(gmpy2.is_prime(n)) for n in candidates]
    with pytest.raises(zariz.Error, match="256 to 8192"):
        primes.generate(64)
    results = primes.is_prime_many([7, 2**20000 + 1, -3], errors="return")
    assert results[0] is True and isinstance(results[1], zariz.Error) and "negative" in str(results[2])


def test_small_moduli_exhaustively() -> None:
    for n in range(3, 40, 2):
        bases = list(range(2 * n))
        for e in range(6):
            assert zariz.Modulus(n).pow_batch(bases, e) == [pow(b, e, n) for b in bases]


def test_a_row_that_is_too_long_fails_alone() -> None:
    fixed = zariz.FixedBase(35, 2, exponent_bits=9)
    rows = numpy.array([[0, 10], [2, 0], [1, 3]], numpy.uint8)
    for function in (fixed.pow_batch, fixed.pow_batch_vartime):
        results = function(rows, errors="return")
        assert [results[0], results[2]] == [b"\x09", bytes([pow(2, 259, 35)])]
        assert isinstance(results[1], zariz.Error) and results[1].index == 1 and "9 bits" in str(results[1])


def test_errors_of_one_exponent() -> None:
    m = zariz.Modulus(35)
    for exponent, bits, text in [(-1, None, "exponent is negative"), (16, 3, "more than the 3 bits")]:
        calls = (
            lambda: m.pow(2, exponent, exponent_bits=bits),
            lambda: m.pow_batch([2, 3], exponent, exponent_bits=bits, errors="return"),
            lambda: zariz.pow_many([35, 35], 2, exponent, exponent_bits=bits, errors="return"),
        )
        for call in calls:
            with pytest.raises(zariz.Error, match=text) as caught:
                call()
            assert type(caught.value) is zariz.Error
    # More than fits into whole bytes, too.
    with pytest.raises(zariz.Error, match="more than the 3 bits"):
        m.pow(2, 1 << 100, exponent_bits=3)


def test_one_exponent_is_padded_to_the_longest_modulus() -> None:
    """Its length does not show in the time; without padding, this is 500 times as fast."""
    moduli = [zariz.Modulus(35)] + [zariz.Modulus((1 << 4093) + 1)] * 16

    def seconds(exponent: int) -> float:
        start = time.perf_counter()
        zariz.pow_many(moduli, 3, exponent, threads=1)
        return time.perf_counter() - start

    # Other programs may hold the longer ones up, but hardly all three.
    assert seconds(1) > min(seconds((1 << 4092) + 1) for _ in range(3)) / 10


def test_kinds_of_products_of_powers() -> None:
    good = ([b"\x02", b"\x03"], [b"\x05", b"\x04"])
    for bad in ([], [b"\x02"]):
        results = zariz.multi_pow_many(35, [bad, good[0]], [bad, good[1]], errors="return")
        assert isinstance(results[0], zariz.Error) and results[1] == b"\x02"
    with pytest.raises(TypeError, match=r"bases\[1\] is of another kind"):
        zariz.multi_pow_many(35, [[2, 3], good[0]], [[5, 4], good[1]])


def test_subclasses_of_numpys_arrays(tmp_path: Path) -> None:
    class Array(numpy.ndarray):  # type: ignore[type-arg]
        pass

    rows = numpy.memmap(tmp_path / "rows", numpy.uint8, "w+", shape=(3, 2))
    for given in (rows, numpy.zeros((3, 2), numpy.uint8).view(Array)):
        assert type(zariz.Modulus(35).pow_batch(given, 2)) is numpy.ndarray
