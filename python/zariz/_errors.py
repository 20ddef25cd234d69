"""The exceptions of zariz. All are kinds of `Error`, which is a `ValueError`."""

from __future__ import annotations

from typing import Any


class Error(ValueError):
    """A number, key or message that cannot be used. The text says which, and what to do.

    `index` is the place of the item in its batch, counted from 0, or None.
    """

    index: int | None = None


class InvalidModulus(Error):
    """A modulus that is even, below 3 or too long."""


class InvalidKey(Error):
    """A key that cannot be read, is damaged, or does not fit the operation."""


class InvalidSignature(Error):
    """A signature that is not one of the message under the key."""


class DecryptionFailed(Error):
    """A ciphertext that the key and padding cannot decrypt. It deliberately says no more."""


class NotInvertible(Error, ZeroDivisionError):
    """A number that shares a factor with its modulus."""


class BatchError(Error):
    """Some items of a batch failed.

    `results` has the results of the others, and None in the places of those that failed. `errors` maps the
    places of the failed items to their errors. `index` is the first of them.
    """

    results: list[Any]
    errors: dict[int, Error]
