"""The algorithm for PyJWT. A module of its own, since PyJWT need not be installed for the rest."""

from __future__ import annotations

from typing import Any

from cryptography.hazmat.primitives import hashes
from jwt.algorithms import RSAAlgorithm
from jwt.exceptions import InvalidKeyError

from . import _keys
from ._errors import Error
from ._zariz import PrivateKey, PublicKey


class Algorithm(RSAAlgorithm):
    """An RSA algorithm of RFC 7518 for PyJWT: `jwt.register_algorithm("RS256", Algorithm("RS256"))`.

    Keys are a `PrivateKey` or `PublicKey` of zariz, or what PyJWT takes; these are converted at each call.
    """

    def __init__(self, name: str = "RS256") -> None:
        of_bits: dict[str, Any] = {"256": hashes.SHA256, "384": hashes.SHA384, "512": hashes.SHA512}
        if name[:2] not in ("RS", "PS") or name[2:] not in of_bits:
            raise Error(f"there is no RSA algorithm named {name!r} in RFC 7518")
        self.name = name
        super().__init__(of_bits[name[2:]])

    def prepare_key(self, key: Any) -> Any:
        """A key of zariz, from one or from what PyJWT takes."""
        if isinstance(key, (PrivateKey, PublicKey)):
            return key
        key = super().prepare_key(key)
        try:
            return _keys.private(key) if hasattr(key, "private_bytes") else _keys.public(key)
        except Error as error:
            raise InvalidKeyError(str(error)) from error

    def check_key_length(self, key: Any) -> str | None:
        """A warning for keys below 2048 bits (RFC 7518, section 3.3), as PyJWT has it."""
        if key.bits < 2048:
            return f"The RSA key has {key.bits} bits, below the 2048 of RFC 7518, section 3.3."
        return None

    def sign(self, msg: bytes, key: Any) -> bytes:
        """The signature of a message."""
        return _keys.private(key).sign(msg, self.name)

    def verify(self, msg: bytes, key: Any, sig: bytes) -> bool:
        """Whether a signature is right."""
        return bool(_keys.public(key).verify_batch([msg], [sig], self.name, threads=1)[0])
