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
from typing import TYPE_CHECKING, Any

from . import _keys
from ._errors import Error

if TYPE_CHECKING:
    from ._pyjwt import Algorithm as Algorithm

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


def _header(headers: Mapping[str, Any] | None, alg: str, json_encoder: type[json.JSONEncoder] | None) -> bytes:
    given = {} if headers is None else headers
    if not isinstance(given, Mapping):
        raise TypeError(f"headers is {type(given).__name__}; give a dict")
    if given.get("alg", alg) != alg:
        raise Error(f'headers has "alg" {given["alg"]!r}, but alg is {alg!r}; leave it out of headers')
    if not isinstance(given.get("kid", ""), str):
        raise Error(f'headers has a "kid" that is {type(given["kid"]).__name__}; give a str (RFC 7515)')
    if given.get("b64") is False:
        raise Error('headers has "b64": false; encode_many makes no tokens with plain payloads (RFC 7797)')
    header = {"typ": "JWT", **given, "alg": alg}
    # As PyJWT does: a token without "b64" has an encoded payload, and an empty type is none.
    header.pop("b64", None)
    if not header["typ"]:
        del header["typ"]
    return _base64url(json.dumps(header, separators=(",", ":"), sort_keys=True, cls=json_encoder).encode())


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
    added to each token's header, as PyJWT adds them. Dates in "exp", "iat" and "nbf" become numbers.
    """
    head = _header(headers, _check(alg), json_encoder) + b"."
    encode = _JSON if json_encoder is None else json_encoder(separators=(",", ":")).encode
    inputs = [head + _base64url(_payload(item, i, encode)) for i, item in enumerate(claims)]
    signatures = _keys.private(key).sign_batch(inputs, alg, threads=threads, progress=progress)
    return [(text + b"." + _base64url(signature)).decode() for text, signature in zip(inputs, signatures)]


def register(algorithms: Iterable[str] = ALGORITHMS) -> None:
    """Has PyJWT sign and verify by zariz, in this process, wherever these algorithms are named."""
    import jwt

    from ._pyjwt import Algorithm

    for name in algorithms:
        algorithm = Algorithm(_check(name))
        try:
            jwt.unregister_algorithm(name)
        except KeyError:
            pass  # It was not registered.
        jwt.register_algorithm(name, algorithm)


def __getattr__(name: str) -> Any:
    # PyJWT need not be installed for the rest.
    if name == "Algorithm":
        from ._pyjwt import Algorithm

        return Algorithm
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
