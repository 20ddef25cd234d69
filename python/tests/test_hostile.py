"""Wrong types, sizes, strides and objects: each is an exception of Python's, and the process goes on."""

from __future__ import annotations

import array
import contextlib
import gc
import signal
import sys
import threading
from typing import Any

import numpy
import pyarrow
import pytest

import zariz
import zariz.arrow
from public import ODD, called, calls
from zariz import primes


class Fails:
    """An object whose every use fails."""

    def __index__(self) -> int:
        raise RuntimeError("index")

    def __iter__(self) -> Any:
        raise RuntimeError("iter")

    def __len__(self) -> int:
        return -1


class Lies:
    """An object that says that it is an int, and is none."""

    def __index__(self) -> Any:
        return "text"


class Stops:
    """An object whose every use is interrupted."""

    def stop(self, *_: Any) -> Any:
        raise KeyboardInterrupt

    __index__ = __iter__ = __buffer__ = stop


def endless_then_fails() -> Any:
    yield 1
    yield 2
    raise RuntimeError("generator")


def hostile() -> list[Any]:
    """Values that hardly any argument may have. They are made anew each time: iterators end."""
    return [
        None, "text", "", 1.5, 1j, object(), Fails(), Lies(), {}, {1: 2}, [None], ["a"], [1.5], [[1]], [1, b"a"],
        [b"a", 1], [Fails()], [Lies()], b"", b"abc", bytearray(3), memoryview(b"abc"), -1, [-1], [], (), iter([1]),
        numpy.zeros(5), numpy.zeros((2, 3)), numpy.zeros((2, 3, 4), numpy.uint8), numpy.zeros((4, 4), numpy.uint8)[::2],
        numpy.zeros((4, 4), numpy.uint8).T, numpy.zeros((4, 4), numpy.int8), numpy.array([1, 2]), numpy.array(None),
        numpy.array([1, None], object), numpy.zeros((0, 5), numpy.uint8), numpy.zeros((5, 0), numpy.uint8),
        array.array("i", [1]), array.array("B", [1]), numpy.zeros(5, numpy.uint8), pyarrow.array([1]),
        pyarrow.array([b"a", None]), endless_then_fails(), type, zariz.Modulus, 1 << 100_000, [1 << 100_000], True,
        [True, False],
    ]  # fmt: skip


def test_nothing_but_exceptions(key: zariz.PrivateKey) -> None:
    """Every argument of every function in turn. A panic would be a PanicException, which is no Exception; an abort
    would end the test."""
    for name, (function, arguments) in calls(key).items():
        # Only then a failure is that of the one argument.
        called(function, arguments)
        for argument, value in arguments.items():
            bads = hostile()
            if isinstance(value, list):
                bads += [bad for one in hostile() for bad in ([one], [one, *value])]
            for bad in bads:
                try:
                    called(function, arguments | {argument: bad})
                except Exception as error:
                    assert "bug" not in str(error), (name, argument, bad, error)


def test_texts_say_what_to_do() -> None:
    m = zariz.Modulus(ODD)
    cases: list[tuple[Any, Any, str]] = [
        (TypeError, lambda: m.pow_batch("text", 3), "bases is a str"),
        (TypeError, lambda: m.pow_batch([1, "a"], 3), r"bases\[1\] is str"),
        (TypeError, lambda: m.pow_batch([1, b"a"], 3), r"bases\[1\] is of another kind"),
        (TypeError, lambda: m.pow_batch(None, 3), "bases is NoneType"),
        (zariz.Error, lambda: m.pow_batch(numpy.zeros((2, 3)), 3), "uint8"),
        (zariz.Error, lambda: m.pow_batch(numpy.zeros((4, 4), numpy.uint8).T, 3), "ascontiguousarray"),
        (zariz.Error, lambda: m.pow_batch([1], 3, threads=0), "threads is 0"),
        (zariz.Error, lambda: m.pow_batch([1], 3, errors="ignore"), '"raise" or "return"'),
        (TypeError, lambda: m.pow_batch([1], 3, progress=3), "progress"),
        (TypeError, lambda: m.pow_batch([1], 3, out=[0]), "out="),
        (zariz.Error, lambda: m.pow_batch([1], 3, out=bytearray(66)), r"shape \(1, 66\)"),
        (zariz.Error, lambda: m.pow_batch([1], 3, out=memoryview(bytes(66)).cast("B", (1, 66))), "writable"),
    ]
    for kind, call, text in cases:
        with pytest.raises(kind, match=text):
            call()


def test_generators_and_their_errors() -> None:
    m = zariz.Modulus(ODD)
    assert m.pow_batch((i for i in range(5)), 2) == [0, 1, 4, 9, 16]
    with pytest.raises(RuntimeError, match="generator"):
        m.pow_batch(endless_then_fails(), 2)


def test_buffers_that_another_thread_changes() -> None:
    """Inputs are copied first: all results are powers of one state, in which all bytes are alike."""
    # numpy keeps the interpreter for fewer than 500 bytes, so no other thread sees some of them changed.
    m, rows = zariz.Modulus(ODD), numpy.zeros((200, 2), numpy.uint8)
    squares = {pow(257 * i, 2, ODD) for i in range(256)}
    end = threading.Event()

    def change() -> None:
        while not end.is_set():
            numpy.add(rows, 1, out=rows)

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(200):
            powers = {int.from_bytes(power.tobytes(), "big") for power in m.pow_batch(rows, 2)}
            assert len(powers) == 1 and powers <= squares
    finally:
        end.set()
        thread.join()


def test_lists_that_their_items_change() -> None:
    bases: list[Any] = []

    class Grows:
        def __index__(self) -> int:
            if len(bases) < 100:
                bases.append(Grows())
            return 2

    bases.append(Grows())
    assert zariz.Modulus(ODD).pow_batch(bases, 3) == [8] * 100


def test_huge_numbers(key: zariz.PrivateKey) -> None:
    m = zariz.Modulus((1 << 16384) - 1)
    assert m.pow(3, 5) == 243 and m.bits == 16384
    base = (1 << 200_000) + 7
    assert zariz.Modulus(35).pow(base, 3) == pow(base, 3, 35)
    assert key.sign(bytes(5_000_000), "RS256")


def test_interruptions_pass_through() -> None:
    m = zariz.Modulus(ODD)
    for call in [
        lambda x: m.pow(x, 3), lambda x: m.pow(3, x), lambda x: m.pow_batch(x, 3), lambda x: m.pow_batch([x], 3),
        lambda x: m.pow_batch([3], x), lambda x: zariz.pow_many(x, [3], 3), lambda x: zariz.pow_many([x], 3, 3),
        lambda x: zariz.multi_pow_many(ODD, [[3, 5]], [x]), zariz.Modulus, primes.is_prime_many,
    ]:  # fmt: skip
        with pytest.raises(KeyboardInterrupt):
            call(Stops())


def test_interruptions_of_other_arguments_pass_through(key: zariz.PrivateKey) -> None:
    class Stopped(Stops):
        __fspath__ = __arrow_c_stream__ = update = private_bytes = public_bytes = property(Stops.stop)

    m, stopped = zariz.Modulus(ODD), Stopped()
    calls = [
        lambda: m.pow_batch([3], 3, progress=stopped), lambda: zariz.PrivateKey.load(stopped),
        lambda: zariz.PublicKey.load(stopped), lambda: key.sign_batch(stopped, "RS256"),
        lambda: zariz.arrow.sign(stopped, key, "RS256"), lambda: key.public_key.verify_batch([], stopped, "RS256"),
        lambda: zariz.PublicKey.from_numbers(stopped),
    ]  # fmt: skip
    if sys.version_info >= (3, 12):
        calls += [lambda: m.pow_batch([3], 3, out=stopped), lambda: key.sign(stopped, "RS256")]
    for call in calls:
        with pytest.raises(KeyboardInterrupt):
            call()


def test_no_interruption_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also none that comes while the text of an error is made."""
    m, lost = zariz.Modulus(ODD), list[Any]()
    monkeypatch.setattr(sys, "unraisablehook", lost.append)
    # One that comes in a callback of the garbage collector, as Hypothesis has, is lost without us.
    gc.disable()
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        for i in range(100):
            with pytest.raises(KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_REAL, 1e-5 + i * 1e-6)
                while True:
                    with contextlib.suppress(TypeError, zariz.Error):
                        m.pow_batch(None, 3)
                    with contextlib.suppress(TypeError, zariz.Error):
                        m.pow_batch([-1] * 2, 3)
                    if lost:
                        raise AssertionError(lost)
    finally:
        signal.signal(signal.SIGALRM, before)
        gc.enable()


def test_huge_requests_are_errors() -> None:
    m = zariz.Modulus(ODD)
    huge = 1 << 40
    for call in [
        lambda: zariz.PrivateKey.generate_many(2048, huge), lambda: primes.generate_many(256, huge),
        lambda: primes.generate_safe_many(256, 1 << 62), lambda: m.pow_batch([2], 3, threads=1 << 62),
        lambda: m.pow_batch([3] * 1000, ODD, threads=1 << 62), lambda: m.pow_batch([2], 3, exponent_bits=huge),
        lambda: m.pow(2, 3, exponent_bits=(1 << 64) - 1), lambda: zariz.FixedBase(ODD, 2, exponent_bits=huge),
        lambda: zariz.FixedBase(ODD, 2, exponent_bits=(1 << 64) - 1),
        lambda: zariz.pow_many([ODD], [2], 3, exponent_bits=huge),
        lambda: zariz.multi_pow_many(ODD, [[2, 3]], [[2, 3]], exponent_bits=huge),
        lambda: m.pow_batch(numpy.zeros((huge, 0), numpy.uint8), 3), lambda: m.pow_batch(numpy.zeros((5, 0), numpy.uint8), 3),
        lambda: zariz.pow_many(numpy.zeros((huge, 0), numpy.uint8), 3, 3),
    ]:  # fmt: skip
        with pytest.raises((zariz.Error, MemoryError)):
            call()


def test_one_row_is_not_one_number() -> None:
    row = numpy.array([2, 3, 5], numpy.uint8)
    for one_row in (row, array.array("B", [2, 3, 5])):
        for call in [
            lambda: zariz.Modulus(ODD).pow_batch([2, 3], one_row), lambda: zariz.pow_many(one_row, [2, 3], 3),
            lambda: zariz.mul_many(ODD, [2, 3], one_row), lambda: zariz.Modulus(ODD).pow_batch(one_row, 3),
        ]:  # fmt: skip
            with pytest.raises(zariz.Error, match=r"shape \(N, k\)"):
                call()
    for one in (row.tobytes(), bytearray(row), memoryview(row.tobytes())):
        assert zariz.Modulus(ODD).pow_batch([2], one) == [pow(2, 0x020305, ODD)]


def test_out_is_checked_before_the_work() -> None:
    # Hours of work.
    m, hours = zariz.Modulus((1 << 16381) + 1), [3] * 10**5
    few = zariz.Modulus(ODD)
    good = numpy.zeros((len(hours), m.size), numpy.uint8)
    readonly = good[:]
    readonly.flags.writeable = False
    for out in (numpy.zeros((1, m.size), numpy.uint8), readonly, bytearray(5)):
        for call in (
            lambda: m.pow_batch(hours, m.size, exponent_bits=16381, out=out),
            lambda: zariz.pow_many([m] * len(hours), hours, 3, exponent_bits=16381, out=out),
            lambda: zariz.multi_pow_many(m, [[2, 3]] * len(hours), [[2, 3]] * len(hours), out=out),
        ):
            with pytest.raises(zariz.Error, match="give a writable, contiguous buffer"):
                call()
    seen: list[int] = []
    for function in (zariz.invert_many, lambda n, x, **given: zariz.mul_many(n, x, x, **given)):
        with pytest.raises(zariz.Error, match="out="):
            function(few, [1, 2], out=bytearray(2), progress=seen.append)
    with pytest.raises(zariz.Error, match="out= cannot hold errors"):
        few.pow_batch([2], 3, out=numpy.zeros((1, few.size), numpy.uint8), errors="return", progress=seen.append)
    key = zariz.PrivateKey.generate(1024)
    fixed = zariz.FixedBase(ODD, 2, exponent_bits=10)
    for method in (key.raw_batch, fixed.pow_batch):
        with pytest.raises(zariz.Error, match="out="):
            method([1], out=numpy.zeros((2, 9), numpy.uint8), progress=seen.append)
    with pytest.raises(zariz.Error, match="out="):
        key.public_key.encrypt_batch([b"m"], out=numpy.zeros((2, 9), numpy.uint8), progress=seen.append)
    assert not seen
