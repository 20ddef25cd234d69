"""Random primes, and tests of numbers for primality."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._zariz import generate_primes, is_prime_many

__all__ = ["generate", "generate_many", "generate_safe", "generate_safe_many", "is_prime", "is_prime_many"]


def generate(bits: int) -> int:
    """A random prime of exactly `bits` bits.

    >>> generate(256).bit_length()
    256
    """
    return generate_primes(bits, 1, threads=1)[0]


def generate_many(
    bits: int, count: int, *, threads: int | None = None, progress: Callable[[int], Any] | None = None
) -> list[int]:
    """Random primes of exactly `bits` bits. Many at once cost less than one by one."""
    return generate_primes(bits, count, threads=threads, progress=progress)


def generate_safe(bits: int) -> int:
    """A random safe prime `p` of exactly `bits` bits: `(p - 1) / 2` is prime, too."""
    return generate_primes(bits, 1, safe=True, threads=1)[0]


def generate_safe_many(
    bits: int, count: int, *, threads: int | None = None, progress: Callable[[int], Any] | None = None
) -> list[int]:
    """Random safe primes of exactly `bits` bits."""
    return generate_primes(bits, count, safe=True, threads=threads, progress=progress)


def is_prime(number: int | bytes) -> bool:
    """Whether a number is prime.

    >>> is_prime(2**127 - 1)
    True
    """
    return bool(is_prime_many([number], threads=1)[0])
