"""Keys as callers have them: zariz's own, or those of `cryptography`."""

from __future__ import annotations

from typing import Any

from ._zariz import PrivateKey, PublicKey


def private(key: Any) -> PrivateKey:
    """A private key: as it is, or loaded from a path, PEM, DER or a key of `cryptography`."""
    return key if isinstance(key, PrivateKey) else PrivateKey.load(key)


def public(key: Any) -> PublicKey:
    """A public key, likewise; of a private key, its public half."""
    return key if isinstance(key, PublicKey) else PublicKey.load(key)
