"""Keys and helpers that all tests share."""

from __future__ import annotations

import random

import pytest

import zariz


@pytest.fixture(scope="session")
def key() -> zariz.PrivateKey:
    return zariz.PrivateKey.generate(2048)


@pytest.fixture(scope="session")
def odd() -> int:
    """A modulus of 1024 bits."""
    return random.getrandbits(1024) | 1 << 1023 | 1
