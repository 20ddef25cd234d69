"""Tokens, against PyJWT."""

from __future__ import annotations

import copy
import datetime
import json
import subprocess
import sys
from importlib.metadata import requires
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from jwt.algorithms import RSAPSSAlgorithm, get_default_algorithms

import zariz
from zariz.jwt import ALGORITHMS, encode_many


@pytest.mark.parametrize("alg", ALGORITHMS)
def test_pyjwt_reads_them(key: zariz.PrivateKey, alg: str) -> None:
    claims = [{"sub": f"user {i}", "n": [i, None, "ü"]} for i in range(20)]
    tokens = encode_many(claims, key, alg, headers={"kid": "k1"})
    public = key.public_key.to_pem()
    assert [jwt.decode(token, public, [alg]) for token in tokens] == claims
    assert jwt.get_unverified_header(tokens[0]) == {"typ": "JWT", "kid": "k1", "alg": alg}


def test_they_are_pyjwts(key: zariz.PrivateKey) -> None:
    claims = {"iat": datetime.datetime(2026, 1, 2, tzinfo=datetime.timezone.utc), "a": "é"}
    pem = key.to_pem()
    assert encode_many([claims], pem, "RS256") == [jwt.encode(claims, pem, "RS256")]
    assert claims["iat"] == datetime.datetime(2026, 1, 2, tzinfo=datetime.timezone.utc), "nothing is changed"
    assert encode_many([], key) == []


class Hex(json.JSONEncoder):
    def default(self, o: object) -> str:
        return o.hex() if isinstance(o, bytes) else super().default(o)


@pytest.mark.parametrize(
    "headers",
    [
        None, {}, {"kid": "k"}, {"typ": "at+jwt"}, {"typ": ""}, {"typ": None}, {"b64": True}, {"b64": None}, {"x": b"1"},
        {"alg": "RS256"},
    ],  # fmt: skip
)
def test_headers_are_pyjwts(key: zariz.PrivateKey, headers: dict[str, object] | None) -> None:
    pem = key.to_pem()
    expected = jwt.encode({"a": b"2"}, pem, "RS256", headers, json_encoder=Hex)
    assert encode_many([{"a": b"2"}], pem, headers=headers, json_encoder=Hex) == [expected]


def test_headers_that_make_no_token(key: zariz.PrivateKey) -> None:
    with pytest.raises(TypeError, match="headers is list"):
        encode_many([{}], key, headers=[("kid", "k")])  # type: ignore[arg-type]
    for headers, why in [({"alg": "none"}, "'none'.*'RS256'"), ({"kid": 1}, "kid.*int"), ({"b64": False}, "7797")]:
        with pytest.raises(zariz.Error, match=why):
            encode_many([{}], key, headers=headers)


def test_wrong_input(key: zariz.PrivateKey) -> None:
    with pytest.raises(zariz.Error, match="HS256"):
        encode_many([{}], key, "HS256")
    with pytest.raises(TypeError, match=r"claims\[1\] is str"):
        encode_many([{}, "text"], key)
    with pytest.raises(TypeError):
        encode_many([{"x": object()}], key)


TINY = {
    "kty": "RSA",
    "e": "AQAB",
    "n": "3aeIyCKcTTsTqM-iOHqNWhBrKJwSXCXRvptRHd9_6EP6eEpos5pwzYZEEhYRyjJMUtWy3TD5toNm2-4uxU2mat"
    "OsdL5CrGLGYcCOmOERWoG0NZEiv9oUrTpODqcssOMJ",
    "d": "VYfVXy0D1UVro6NjfJnFu7BEOWpoJ0iss_lpBrb8u1qn5w0Hc-6vgo9B6xy7BqP7Wc_WJz508czg0YU0nDugVR"
    "W__1-CU5O6UJl3nXcklpNn1x8sx9BrELr6YEz1Em9R",
}


REGISTERED = """
import jwt, zariz, zariz.jwt
from cryptography.hazmat.primitives.asymmetric import rsa
key = rsa.generate_private_key(65537, 2048)
ours = zariz.PrivateKey.load(key)
before = jwt.encode({"a": 1}, key, "RS256")
zariz.jwt.register()
assert type(jwt.PyJWS().get_algorithm_by_name("RS256")) is not None
assert jwt.encode({"a": 1}, key, "RS256") == before == jwt.encode({"a": 1}, ours, "RS256")
for name in zariz.jwt.ALGORITHMS:
    token = jwt.encode({"a": 1}, ours, name)
    for public in [ours.public_key, key.public_key(), ours.public_key.to_pem()]:
        assert jwt.decode(token, public, [name]) == {"a": 1}
        try:
            jwt.decode(token[:-8] + "AAAAAAAA", public, [name])
            raise SystemExit("a wrong signature is accepted")
        except jwt.InvalidSignatureError:
            pass
    algorithm = zariz.jwt.Algorithm(name)
    assert algorithm.verify(b"m", ours, algorithm.sign(b"m", ours))
short = zariz.PrivateKey.generate(1024)
for algorithm in map(jwt.get_algorithm_by_name, zariz.jwt.ALGORITHMS):
    assert algorithm.to_jwk(algorithm.prepare_key(ours.to_pem()), as_dict=True)["n"]
assert "2048" in zariz.jwt.Algorithm("RS256").check_key_length(short)
try:
    zariz.jwt.Algorithm("RS256").prepare_key("no key")
    raise SystemExit("no key is accepted")
except jwt.InvalidKeyError:
    pass
"""


def test_registered_with_pyjwt() -> None:
    """In a process of its own, since it changes PyJWT."""
    subprocess.run([sys.executable, "-X", "dev", "-c", REGISTERED], check=True)


@pytest.fixture(scope="module")
def theirs() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


def outcome(call: Any, *arguments: Any) -> Any:
    """What a call gives, or the class of its exception."""
    try:
        return call(*arguments)
    except Exception as error:
        return type(error)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_it_does_all_that_pyjwts_algorithm_does(theirs: rsa.RSAPrivateKey, name: str) -> None:
    pyjwts: Any = get_default_algorithms()[name]
    ours: Any = zariz.jwt.Algorithm(name)
    assert isinstance(ours, type(pyjwts)) and isinstance(copy.copy(ours), type(ours))
    assert isinstance(ours, RSAPSSAlgorithm) == name.startswith("PS")
    assert ours.hash_alg is pyjwts.hash_alg and ours.compute_hash_digest(b"m") == pyjwts.compute_hash_digest(b"m")
    pem, private, public = Encoding.PEM, PrivateFormat, theirs.public_key()
    short = rsa.generate_private_key(65537, 1024)
    good: list[Any] = [
        theirs, public, short, *(theirs.private_bytes(pem, f, NoEncryption()) for f in (private.PKCS8, private.TraditionalOpenSSL)),
        *(public.public_bytes(pem, f) for f in (PublicFormat.PKCS1, PublicFormat.SubjectPublicKeyInfo)),
        public.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH),
    ]  # fmt: skip
    good += [key.decode() for key in good if isinstance(key, bytes)]
    for key in good:
        prepared, expected = ours.prepare_key(key), pyjwts.prepare_key(key)
        assert type(prepared) is type(expected) and prepared.key_size == expected.key_size
        ours.check_crypto_key_type(prepared)
        assert (ours.check_key_length(prepared) is None) == (prepared.key_size >= 2048)
        for as_dict in (False, True):
            jwk = ours.to_jwk(prepared, as_dict)
            assert jwk == pyjwts.to_jwk(expected, as_dict=as_dict)
            again = ours.from_jwk(jwk)
            assert type(again) is type(expected) and ours.to_jwk(again, as_dict=as_dict) == jwk
    # Keys and signatures of either are good for the other.
    for key in (theirs, ours.prepare_key(good[3]), ours.from_jwk(ours.to_jwk(theirs)), zariz.PrivateKey.load(theirs)):
        assert pyjwts.verify(b"m", public, ours.sign(b"m", key))
    signature = pyjwts.sign(b"m", theirs)
    for key in (public, ours.prepare_key(good[-1]), ours.from_jwk(ours.to_jwk(public)), zariz.PublicKey.load(public)):
        assert ours.verify(b"m", key, signature) is True
        assert ours.verify(b"n", key, signature) is ours.verify(b"m", key, b"short") is False
    # zariz's keys are keys, too.
    for of_zariz, key in ((zariz.PrivateKey.load(theirs), theirs), (zariz.PublicKey.load(public), public)):
        assert ours.prepare_key(of_zariz) is of_zariz
        assert ours.to_jwk(of_zariz, as_dict=True) == pyjwts.to_jwk(key, as_dict=True)
    # What PyJWT refuses, by the same exceptions.
    elliptic = ec.generate_private_key(ec.SECP256R1())
    bad = [None, 5, b"", "no key", "ssh-rsa no key", elliptic, elliptic.private_bytes(pem, private.PKCS8, NoEncryption())]
    for key in bad:
        assert outcome(ours.prepare_key, key) == outcome(pyjwts.prepare_key, key)
        assert outcome(ours.to_jwk, key) == outcome(pyjwts.to_jwk, key)
        assert outcome(ours.check_crypto_key_type, key) == outcome(pyjwts.check_crypto_key_type, key)
    for jwk in (None, "", "{}", {}, {"kty": "EC"}, {"kty": "RSA"}, {"kty": "RSA", "n": "AQAB", "e": "AQAB", "d": "AQ", "p": "AQ"}):
        assert outcome(ours.from_jwk, jwk) == outcome(pyjwts.from_jwk, jwk)
    with pytest.raises(zariz.InvalidKey, match="public key"):
        ours.sign(b"m", public)


def test_keys_that_zariz_refuses_are_left_to_pyjwt() -> None:
    """The library takes no fewer than 1024 bits."""
    ours: Any = zariz.jwt.Algorithm("RS256")
    tiny = ours.from_jwk(TINY)
    assert 500 < tiny.key_size < 1024 and ours.check_key_length(tiny)
    assert ours.verify(b"m", tiny.public_key(), ours.sign(b"m", tiny))
    assert not ours.verify(b"n", tiny.public_key(), ours.sign(b"m", tiny))


def test_without_pyjwt(key: zariz.PrivateKey) -> None:
    program = "import sys; sys.modules['jwt'] = None; import zariz.jwt, zariz; zariz.jwt.encode_many([{}], zariz.PrivateKey.generate(1024))"
    subprocess.run([sys.executable, "-X", "dev", "-c", program], check=True)


def test_the_extra_has_what_pyjwt_needs_for_rsa() -> None:
    extra = [text for text in requires("zariz") or [] if "jwt" in text.split(";")[-1]]
    assert len(extra) == 1 and extra[0].lower().startswith("pyjwt[crypto]")
