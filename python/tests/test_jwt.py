"""Tokens, against PyJWT."""

from __future__ import annotations

import datetime
import json
import subprocess
import sys
from importlib.metadata import requires

import jwt
import pytest

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


def test_without_pyjwt(key: zariz.PrivateKey) -> None:
    program = "import sys; sys.modules['jwt'] = None; import zariz.jwt, zariz; zariz.jwt.encode_many([{}], zariz.PrivateKey.generate(1024))"
    subprocess.run([sys.executable, "-X", "dev", "-c", program], check=True)


def test_the_extra_has_what_pyjwt_needs_for_rsa() -> None:
    extra = [text for text in requires("zariz") or [] if "jwt" in text.split(";")[-1]]
    assert len(extra) == 1 and extra[0].lower().startswith("pyjwt[crypto]")
