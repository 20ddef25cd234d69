"""gmpy2's functions for powers and inverses, by zariz: change one import.

    from zariz.gmpy import powmod_base_list  # was: from gmpy2 import powmod_base_list

Numbers are ints or mpz. If one of them is an mpz, so are the results; else they are ints. As in gmpy2, the time of
`powmod` and of the lists depends on the exponents; `powmod_sec` is for secret ones. What lanes cannot do (even
moduli, negative exponents) is done by Python's `pow` on the calling thread, except in `powmod_sec`, which raises as
gmpy2's does.

Where gmpy2 ends the whole process (a list with a negative exponent, and a base without an inverse), these functions
raise ValueError.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from functools import lru_cache
from operator import index
from typing import Any

from ._errors import NotInvertible
from ._zariz import Modulus, invert_many, reporter

__all__ = ["invert", "powmod", "powmod_base_list", "powmod_exp_list", "powmod_sec"]

# The longest modulus of the library, in bits.
_MAX_BITS = 16384

# Public moduli, prepared: callers that go one by one need not prepare them each time.
_prepared = lru_cache(maxsize=16)(Modulus)


def _is_mpz(number: Any) -> bool:
    return type(number).__module__ == "gmpy2"


def _as(numbers: Iterable[Any], mpz: bool) -> list[Any]:
    return list(map(sys.modules["gmpy2"].mpz, numbers)) if mpz else list(numbers)


def _fits(m: int) -> bool:
    """Whether lanes can compute modulo `m`."""
    return m > 2 and m & 1 == 1 and m.bit_length() <= _MAX_BITS


def _counted(powers: Iterable[int], threads: int | None, progress: Any) -> Iterator[int]:
    """The powers, each reported as it comes: for what lanes cannot do."""
    report = reporter(threads, progress)
    for power in powers:
        if report is not None:
            report(1)
        yield power


def powmod(x: Any, y: Any, m: Any) -> Any:
    """`x ** y % m`, in time that depends on `y`.

    The last 16 moduli of `powmod` and of the lists stay in memory: use `powmod_sec` if `m` is secret.

    >>> powmod(2, 10, 35)
    9
    """
    mpz = _is_mpz(x) or _is_mpz(y) or _is_mpz(m)
    x, y, m = index(x), index(y), index(m)
    if _fits(m) and y >= 0:
        power = _prepared(m).pow_vartime(x if x >= 0 else x % m, y)
    else:
        power = pow(x, y, m)
    return _as([power], mpz)[0]


def powmod_sec(x: Any, y: Any, m: Any) -> Any:
    """`x ** y % m` for a secret exponent `y > 0` and odd `m`: the time does not depend on the value of `y`.

    `y` is padded to the length of `m`, so that its length does not show, either.

    >>> powmod_sec(2, 10, 35)
    9
    """
    mpz = _is_mpz(x) or _is_mpz(y) or _is_mpz(m)
    for name, number in (("base", x), ("exponent", y), ("modulus", m)):
        if not hasattr(number, "__index__"):
            raise TypeError(f"powmod_sec() {name} must be an integer.")
    x, y, m = index(x), index(y), abs(index(m))
    if y <= 0:
        raise ValueError("powmod_sec() exponent must be > 0.")
    if m & 1 == 0:
        raise ValueError("powmod_sec() modulus must be odd.")
    power = 0 if m == 1 else Modulus(m).pow(x if x >= 0 else x % m, y)
    return _as([power], mpz)[0]


def powmod_base_list(
    base_lst: Iterable[Any], exp: Any, mod: Any, *, threads: int | None = 1, progress: Any = None
) -> list[Any]:
    """`[powmod(x, exp, mod) for x in base_lst]`, in lanes. `threads=None` uses all processors.

    >>> powmod_base_list([2, 3], 10, 35)
    [9, 4]
    """
    bases = list(base_lst)
    mpz = _is_mpz(exp) or _is_mpz(mod) or any(map(_is_mpz, bases))
    exp, mod = index(exp), index(mod)
    bases = list(map(index, bases))
    if mod <= 0:
        raise ValueError("powmod_base_list() 'mod' must be > 0")
    if not bases:
        return []
    if not _fits(mod) or exp < 0:
        return _as(_counted((pow(x, exp, mod) for x in bases), threads, progress), mpz)
    bases = [x if x >= 0 else x % mod for x in bases]
    powers = _prepared(mod).pow_batch_vartime(bases, exp, threads=threads, progress=progress)
    return _as(powers, mpz)


def powmod_exp_list(
    base: Any, exp_lst: Iterable[Any], mod: Any, *, threads: int | None = 1, progress: Any = None
) -> list[Any]:
    """`[powmod(base, y, mod) for y in exp_lst]`, in lanes. `threads=None` uses all processors.

    >>> powmod_exp_list(2, [10, 3], 35)
    [9, 8]
    """
    exponents = list(exp_lst)
    mpz = _is_mpz(base) or _is_mpz(mod) or any(map(_is_mpz, exponents))
    base, mod = index(base), index(mod)
    exponents = list(map(index, exponents))
    if mod <= 0:
        raise ValueError("powmod_exp_list() 'mod' must be > 0")
    if not exponents:
        return []
    if not _fits(mod):
        return _as(_counted((pow(base, y, mod) for y in exponents), threads, progress), mpz)
    base %= mod
    lanes = [y for y in exponents if y >= 0]
    powers = _prepared(mod).pow_batch_vartime(base, lanes, threads=threads, progress=progress) if lanes else []
    if len(lanes) < len(exponents):
        others = iter(powers)
        inverses = _counted((pow(base, y, mod) for y in exponents if y < 0), threads, progress)
        powers = [next(others if y >= 0 else inverses) for y in exponents]
    return _as(powers, mpz)


def invert(x: Any, m: Any) -> Any:
    """The number `y` with `x * y % m == 1`; ZeroDivisionError where there is none.

    >>> invert(2, 35)
    18
    """
    mpz = _is_mpz(x) or _is_mpz(m)
    x, m = index(x), abs(index(m))
    try:
        if _fits(m):
            # Such moduli are often primes of a key: none is kept.
            inverse = invert_many(m, [x % m], threads=1, errors="return")[0]
            if isinstance(inverse, NotInvertible):
                raise inverse
        else:
            inverse = pow(x, -1, m)
    except ValueError:
        raise ZeroDivisionError("invert() no inverse exists") from None
    return _as([inverse], mpz)[0]
