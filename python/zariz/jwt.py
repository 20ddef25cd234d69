"""JSON Web Tokens: many at once, and an algorithm for PyJWT.

>>> from zariz import PrivateKey
>>> from zariz.jwt import encode_many
>>> key = PrivateKey.generate(2048)
>>> tokens = encode_many([{"sub": "a"}, {"sub": "b"}], key, "RS256")
>>> len(tokens), tokens[0].count(".")
(2, 2)

With PyJWT: `jwt.encode(claims, key, "RS256")` and `jwt.decode` use zariz after `zariz.jwt.register()`.
"""

from __future__ import annotations

import json
from binascii import b2a_base64
from calendar import timegm
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from . import _keys
from ._errors import Error
from ._zariz import PublicKey

__all__ = ["ALGORITHMS", "Algorithm", "encode_many", "register"]

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")

_JSON = json.JSONEncoder(separators=(",", ":")).encode
_URL_SAFE = bytes.maketrans(b"+/", b"-_")


def _base64url(data: bytes) -> bytes:
    return b2a_base64(data, newline=False).translate(_URL_SAFE).rstrip(b"=")


def _check(alg: str) -> str:
    if alg not in ALGORITHMS:
        raise Error(f"there is no RSA algorithm named {alg!r} in RFC 7518; choose one of {', '.join(ALGORITHMS)}")
    return alg


def _payload(claims: Any, i: int, encode: Callable[[Any], str]) -> bytes:
    if not isinstance(claims, Mapping):
        raise TypeError(f"claims[{i}] is {type(claims).__name__}; give a dict")
    claims = dict(claims)
    # As PyJWT does.
    for name in ("exp", "iat", "nbf"):
        if isinstance(claims.get(name), datetime):
            claims[name] = timegm(claims[name].utctimetuple())
    return encode(claims).encode()


def encode_many(
    claims: Iterable[Mapping[str, Any]],
    key: Any,
    alg: str = "RS256",
    *,
    headers: Mapping[str, Any] | None = None,
    json_encoder: type[json.JSONEncoder] | None = None,
    threads: int | None = None,
    progress: Callable[[int], Any] | None = None,
) -> list[str]:
    """A token for each of the claims, signed with one key.

    `key` is a `PrivateKey`, or what `PrivateKey.load` takes: a path, PEM, or a key of `cryptography`. `headers` are
    added to each token's header. Dates in "exp", "iat" and "nbf" become numbers.
    """
    header = {"typ": "JWT", **(headers or {}), "alg": _check(alg)}
    encode = _JSON if json_encoder is None else json_encoder(separators=(",", ":")).encode
    head = _base64url(_JSON(header).encode()) + b"."
    inputs = [head + _base64url(_payload(item, i, encode)) for i, item in enumerate(claims)]
    signatures = _keys.private(key).sign_batch(inputs, alg, threads=threads, progress=progress)
    return [(text + b"." + _base64url(signature)).decode() for text, signature in zip(inputs, signatures)]


def register(algorithms: Iterable[str] = ALGORITHMS) -> None:
    """Has PyJWT sign and verify by zariz, in this process, wherever these algorithms are named."""
    import jwt

    for name in algorithms:
        algorithm = _algorithm_class()(name)
        jwt.unregister_algorithm(name) if name in jwt.algorithms.get_default_algorithms() else None
        jwt.register_algorithm(name, algorithm)


def _algorithm_class() -> Any:
    global _class
    if _class is None:
        _class = _make_class()
    return _class


_class: Any = None


def _make_class() -> Any:
    """The class is made at first use: PyJWT need not be installed for the rest."""
    from jwt.algorithms import RSAAlgorithm
    from jwt.exceptions import InvalidKeyError

    class Algorithm(RSAAlgorithm):
        """An algorithm of RFC 7518 for PyJWT: `jwt.PyJWS` and `jwt.register_algorithm` take it.

        Keys are a `PrivateKey` or `PublicKey`, or what PyJWT takes. Prepared keys of `cryptography` are converted
        at each use: prepare a key once, and give that.
        """

        def __init__(self, name: str = "RS256") -> None:
            from cryptography.hazmat.primitives import hashes

            self.name = _check(name)
            super().__init__({"256": hashes.SHA256, "384": hashes.SHA384, "512": hashes.SHA512}[name[2:]])

        def prepare_key(self, key: Any) -> Any:
            from ._zariz import PrivateKey

            if isinstance(key, (PrivateKey, PublicKey)):
                return key
            key = super().prepare_key(key)
            try:
                return _keys.private(key) if hasattr(key, "private_bytes") else _keys.public(key)
            except Error as error:
                raise InvalidKeyError(str(error)) from error

        def check_key_length(self, key: Any) -> str | None:
            if key.bits < 2048:
                return f"The RSA key is {key.bits} bits long, below the 2048 bits of RFC 7518, section 3.3."
            return None

        def sign(self, msg: bytes, key: Any) -> bytes:
            return _keys.private(key).sign(msg, self.name)

        def verify(self, msg: bytes, key: Any, sig: bytes) -> bool:
            return _keys.public(key).verify_batch([msg], [sig], self.name, threads=1)[0]

    return Algorithm


def __getattr__(name: str) -> Any:
    if name == "Algorithm":
        return _algorithm_class()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
