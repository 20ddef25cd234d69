"""The algorithm for PyJWT. A module of its own, since PyJWT need not be installed for the rest."""

from __future__ import annotations

from typing import Any

from cryptography.hazmat.primitives import hashes, serialization
from jwt.algorithms import RSAAlgorithm, RSAPSSAlgorithm

from . import _keys
from ._errors import Error, InvalidKey
from ._zariz import PrivateKey, PublicKey


class Algorithm(RSAAlgorithm):
    """An RSA algorithm of RFC 7518 for PyJWT: `jwt.register_algorithm("RS256", Algorithm("RS256"))`.

    It takes the keys of PyJWT's own algorithm, gives the same ones, and does all else that that does. It also takes
    a `PrivateKey` or `PublicKey` of zariz, which need not be converted at each call. Keys that zariz refuses, such as
    those below 1024 bits, are left to PyJWT's code.
    """

    def __new__(cls, name: str = "RS256") -> Algorithm:
        return super().__new__(_Pss if cls is Algorithm and name[:2] == "PS" else cls)

    def __init__(self, name: str = "RS256") -> None:
        of_bits: dict[str, Any] = {"256": hashes.SHA256, "384": hashes.SHA384, "512": hashes.SHA512}
        if name[:2] not in ("RS", "PS") or name[2:] not in of_bits:
            raise Error(f"there is no RSA algorithm named {name!r} in RFC 7518")
        self.name = name
        super().__init__(of_bits[name[2:]])

    def prepare_key(self, key: Any) -> Any:
        """The key that `sign` and `verify` take: one of zariz as it is, or what PyJWT makes of others."""
        return key if isinstance(key, (PrivateKey, PublicKey)) else super().prepare_key(key)

    def check_key_length(self, key: Any) -> str | None:
        """A warning for keys below 2048 bits (RFC 7518, section 3.3), as PyJWT has it."""
        bits = key.bits if isinstance(key, (PrivateKey, PublicKey)) else key.key_size
        if bits < 2048:
            return f"The RSA key has {bits} bits, below the 2048 of RFC 7518, section 3.3."
        return None

    @staticmethod
    def to_jwk(key_obj: Any, as_dict: bool = False) -> Any:
        """The key as a JWK: JSON text, or a dict."""
        if isinstance(key_obj, PrivateKey):
            key_obj = serialization.load_pem_private_key(key_obj.to_pem().encode(), None)
        elif isinstance(key_obj, PublicKey):
            key_obj = serialization.load_pem_public_key(key_obj.to_pem().encode())
        return RSAAlgorithm.to_jwk(key_obj, as_dict)  # type: ignore[call-overload]

    def sign(self, msg: bytes, key: Any) -> bytes:
        """The signature of a message."""
        try:
            ours = _keys.private(key)
        except InvalidKey:
            if not hasattr(key, "sign"):
                raise
            return super().sign(msg, key)
        return ours.sign(msg, self.name)

    def verify(self, msg: bytes, key: Any, sig: bytes) -> bool:
        """Whether a signature is right."""
        try:
            ours = _keys.public(key)
        except InvalidKey:
            return super().verify(msg, key, sig)
        return bool(ours.verify_batch([msg], [sig], self.name, threads=1)[0])


class _Pss(Algorithm, RSAPSSAlgorithm):
    """Those that PyJWT has a class of its own for."""
