"""Every public function, with arguments that it takes."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import json
from collections.abc import Callable
from typing import Any

import pyarrow

import zariz
from zariz import aio, arrow, gmpy, jwt, primes

ODD = (1 << 521) - 1


def good(key: zariz.PrivateKey) -> dict[str, Any]:
    """A good value for each argument, by name. A qualified name is for one function, method or class."""
    public, digest = key.public_key, hashlib.sha256(b"a").digest()
    signature, ciphertext, number = key.sign(b"a", "RS256"), public.encrypt(b"a"), bytes(255) + b"\x02"
    return {
        "n": ODD, "base": 3, "bases": [3, 5], "exponent": 3, "exponents": [3, 5], "exponent_bits": 9, "memory": 1 << 20,
        "moduli": ODD, "a": [3, 5], "b": [7, 9], "numbers": [3, 5], "number": 7, "vartime": True, "e": 65537,
        "threads": 1, "progress": [].append, "errors": "raise", "out": None, "bits": 1024, "count": 1,
        "source": key.to_pem("password"), "password": "password", "message": b"a", "messages": [b"a"],
        "signature": signature, "signatures": [signature], "algorithm": "RS256", "prehashed": False, "label": b"",
        "padding": "RSA-OAEP-256", "ciphertext": ciphertext, "ciphertexts": [ciphertext], "key": key, "reasons": True,
        "x": 3, "y": 5, "m": 35, "exp": 5, "mod": 35, "base_lst": [3], "exp_lst": [5], "max_batch": 8, "capacity": 8,
        "refuse": True, "linger": 0.01, "claims": [{}], "alg": "RS256", "headers": {}, "batcher": None, "name": "RS256",
        "json_encoder": json.JSONEncoder, "msg": b"a", "sig": signature, "column": pyarrow.array([number]),
        "modulus": ODD, "key_obj": public, "as_dict": True, "multi_pow_many.bases": [[3, 5]], "multi_pow_many.exponents": [[3, 5]],
        "raw_batch.numbers": [number],
        "PublicKey.load.source": public.to_pem(), "from_numbers.n": public.n, "generate_safe.bits": 256,
        "generate_safe_many.bits": 256, "arrow.decrypt.column": pyarrow.array([ciphertext]),
        "arrow.verify.messages": pyarrow.array([b"a"]), "arrow.verify.signatures": pyarrow.array([signature]),
        "arrow.sign.column": pyarrow.array([digest]),
    }  # fmt: skip


def functions(key: zariz.PrivateKey) -> dict[str, Callable[..., Any]]:
    """Every public function and method, by its name."""
    objects = [
        zariz.Modulus(ODD), zariz.FixedBase(ODD, 3, exponent_bits=100), key, key.public_key, aio.Batcher(threads=1),
        aio.Signer(key), jwt.Algorithm("RS256"), arrow.pow(pyarrow.array([b"a"]), ODD, 3),
    ]  # fmt: skip
    found: dict[str, Callable[..., Any]] = {}
    for module in (zariz, aio, arrow, gmpy, jwt, primes):
        for name in module.__all__:
            if isinstance(function := getattr(module, name), type):
                if issubclass(function, Exception):
                    continue
                instance = next((one for one in objects if type(one) is function), None)
                assert instance is not None, f"functions() has no {name}"
                methods = [method for method in vars(function) if not method.startswith("_")]
                found |= {f"{name}.{method}": getattr(instance, method) for method in methods}
            found[f"{module.__name__.removeprefix('zariz.')}.{name}"] = function
    # It changes PyJWT for the whole process, and has a test of its own.
    del found["jwt.register"]
    # They are not made by their classes.
    for name in ("zariz.PrivateKey", "zariz.PublicKey", "arrow.Column"):
        del found[name]
    return {name: function for name, function in found.items() if callable(function)}


def called(function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    result = function(**arguments)
    return asyncio.run(result) if inspect.iscoroutine(result) else result


def calls(key: zariz.PrivateKey) -> dict[str, tuple[Callable[..., Any], dict[str, Any]]]:
    """Every public function and method by its name, with a good value for each argument."""
    known, found = good(key), {}
    for name, function in functions(key).items():
        method = name.split(".")[-1]
        arguments = {}
        for argument in inspect.signature(function).parameters:
            names = [f"{name}.{argument}", f"{method}.{argument}", argument]
            values = [known[candidate] for candidate in names if candidate in known]
            assert values, f"good() has no value for {name}'s {argument}"
            arguments[argument] = values[0]
        found[name] = (function, arguments)
    return found
