"""A plugin for pytest, by which PyJWT's own tests (in its source archive) run on zariz's algorithms:

    PYTHONPATH=python/tests python -m pytest -p pyjwts_own DIR/tests
"""

from __future__ import annotations

from typing import Any

import jwt
import jwt.algorithms

import zariz.jwt
from zariz import _pyjwt


class Rsa(_pyjwt.Algorithm):
    def __init__(self, hash_alg: Any) -> None:
        super().__init__("RS" + hash_alg.name[3:])


class Pss(_pyjwt._Pss):
    def __init__(self, hash_alg: Any) -> None:
        super().__init__("PS" + hash_alg.name[3:])


jwt.algorithms.RSAAlgorithm, jwt.algorithms.RSAPSSAlgorithm = Rsa, Pss  # type: ignore[misc]
assert type(jwt.PyJWS().get_algorithm_by_name("PS512")) is Pss
# PyJWT's functions have algorithms that were made before.
zariz.jwt.register()
