"""Arrow columns in, Arrow columns out, without pyarrow as a dependency.

A column is anything with `__arrow_c_array__` or `__arrow_c_stream__`: of pyarrow, polars, DuckDB, DataFusion, arro3.
Its type is binary, large or fixed-size binary, a string, or a view of these. Results are a `Column`, which all of
them read: `pyarrow.array(column)`.

The library that a column comes from is trusted: Arrow's interface has pointers and no lengths. It has no classes of
exceptions either, so whatever ends a stream early is an `Error` here, also an interruption of its Python code.

A null stays a null. A row that fails becomes a null. With `reasons=True` the result is two columns: the second has,
for each such row, the reason. All failures of padding have one reason.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _keys
from ._zariz import Column, Modulus, arrow_pow, arrow_private, arrow_verify

__all__ = ["Column", "decrypt", "pow", "raw", "sign", "verify"]


def sign(
    column: Any,
    key: Any,
    algorithm: str,
    *,
    prehashed: bool = False,
    reasons: bool = False,
    threads: int | None = None,
    progress: Callable[[int], Any] | None = None,
) -> Any:
    """The signature of each row: fixed-size binary, as long as the key."""
    operation = "sign_digest" if prehashed else "sign"
    return arrow_private(column, _keys.private(key), operation, algorithm, b"", reasons, threads, progress)


def decrypt(
    column: Any,
    key: Any,
    padding: str = "RSA-OAEP-256",
    *,
    label: bytes = b"",
    reasons: bool = False,
    threads: int | None = None,
    progress: Callable[[int], Any] | None = None,
) -> Any:
    """The plaintext of each row: binary.

    With "RSA1_5" a bad padding gives a random plaintext, not a null (implicit rejection).
    """
    return arrow_private(column, _keys.private(key), "decrypt", padding, label, reasons, threads, progress)


def raw(
    column: Any,
    key: Any,
    *,
    reasons: bool = False,
    threads: int | None = None,
    progress: Callable[[int], Any] | None = None,
) -> Any:
    """`x ** d % n` of each row, a number below `n` that is as long as the key: fixed-size binary.

    By the CRT, blinded and checked. Hazardous: there is no padding.
    """
    return arrow_private(column, _keys.private(key), "raw", "", b"", reasons, threads, progress)


def pow(
    column: Any,
    modulus: Modulus | int | bytes,
    exponent: int | bytes,
    *,
    exponent_bits: int | None = None,
    vartime: bool = False,
    reasons: bool = False,
    threads: int | None = None,
    progress: Callable[[int], Any] | None = None,
) -> Any:
    """`x ** exponent % modulus` of each row: fixed-size binary, as long as the modulus.

    The exponent is secret: the time does not depend on it, unless `vartime=True` says that it is public.
    """
    modulus = modulus if isinstance(modulus, Modulus) else Modulus(modulus)
    return arrow_pow(column, modulus, exponent, exponent_bits, vartime, reasons, threads, progress)


def verify(
    messages: Any,
    signatures: Any,
    key: Any,
    algorithm: str,
    *,
    prehashed: bool = False,
    reasons: bool = False,
    threads: int | None = None,
    progress: Callable[[int], Any] | None = None,
) -> Any:
    """Whether each signature is one of the message in its row: boolean; null if one of the two is null."""
    return arrow_verify(
        messages, signatures, _keys.public(key), algorithm, prehashed, reasons, threads, progress
    )
