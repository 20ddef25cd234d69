"""Keys, against `cryptography`."""

from __future__ import annotations

import copy
import hashlib
import os
import pickle
import re
from pathlib import Path
from typing import Any

import numpy
import pyarrow
import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa

import zariz
import zariz.arrow
from zariz import PrivateKey, PublicKey

HASHES = {"256": hashes.SHA256(), "384": hashes.SHA384(), "512": hashes.SHA512()}
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"]


@pytest.fixture(scope="module")
def theirs() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


def scheme(algorithm: str) -> tuple[padding.AsymmetricPadding, hashes.HashAlgorithm]:
    digest = HASHES[algorithm[2:]]
    if algorithm.startswith("RS"):
        return padding.PKCS1v15(), digest
    return padding.PSS(padding.MGF1(digest), digest.digest_size), digest


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_signatures_are_cryptographys(theirs: rsa.RSAPrivateKey, algorithm: str) -> None:
    ours, (pad, digest) = PrivateKey.load(theirs), scheme(algorithm)
    messages = [b"message %d" % i for i in range(19)]
    signatures = ours.sign_batch(messages, algorithm)
    for message, signature in zip(messages, signatures):
        theirs.public_key().verify(signature, message, pad, digest)
    digests = [hashlib.new("sha" + algorithm[2:], message).digest() for message in messages]
    for message, signature in zip(messages, ours.sign_batch(digests, algorithm, prehashed=True)):
        theirs.public_key().verify(signature, message, pad, digest)
    public = PublicKey.load(theirs.public_key())
    made = [theirs.sign(message, pad, digest) for message in messages]
    assert public.verify_batch(messages, made, algorithm) == [True] * 19
    assert public.verify_batch(digests, made, algorithm, prehashed=True) == [True] * 19
    wrong = [b"", bytes(256), b"\xff" * 256, made[0][:-1], made[1]] + made[5:]
    assert public.verify_batch(messages, wrong, algorithm) == [False] * 5 + [True] * 14
    with pytest.raises(zariz.InvalidSignature):
        public.verify(messages[0], made[1], algorithm)
    public.verify(messages[0], made[0], algorithm)


@pytest.mark.parametrize("name", ["RSA-OAEP", "RSA-OAEP-256", "RSA-OAEP-384", "RSA-OAEP-512", "RSA1_5"])
def test_encryption_is_cryptographys(theirs: rsa.RSAPrivateKey, name: str) -> None:
    ours = PrivateKey.load(theirs)
    digest = {"RSA-OAEP": hashes.SHA1(), "RSA1_5": None}.get(name, HASHES.get(name[-3:]))
    pad = padding.OAEP(padding.MGF1(digest), digest, None) if digest else padding.PKCS1v15()
    messages = [b"m" * i for i in range(17)]
    assert [theirs.decrypt(c, pad) for c in ours.public_key.encrypt_batch(messages, name)] == messages
    ciphertexts = [theirs.public_key().encrypt(m, pad) for m in messages]
    assert ours.decrypt_batch(ciphertexts, name) == messages
    # A bad padding: one error for all, and none for PKCS#1 v1.5.
    results = ours.decrypt_batch([bytes(255) + b"\x02", b"short"], name, errors="return")
    assert isinstance(results[0], bytes if name == "RSA1_5" else zariz.DecryptionFailed)
    assert "256" in str(results[1])
    if name == "RSA1_5":
        assert ours.decrypt_batch([bytes(255) + b"\x02"], name)[0] == results[0]
    else:
        with pytest.raises(zariz.DecryptionFailed, match="cannot be decrypted"):
            ours.decrypt(bytes(255) + b"\x02", name)
        assert ours.decrypt(ours.public_key.encrypt(b"x", name, label=b"l"), name, label=b"l") == b"x"


def oaep(key: PrivateKey, **fault: Any) -> bytes:
    """A ciphertext of `b"x"`, by OAEP with SHA-256, whose encoded message may have faults."""
    sha, size, seed = hashlib.sha256, key.size, os.urandom(32)

    def mask(data: bytes, by: bytes) -> bytes:
        stream = b"".join(sha(by + counter.to_bytes(4, "big")).digest() for counter in range(size // 32 + 1))
        return bytes(a ^ b for a, b in zip(data, stream))

    start, separator = fault.get("label_hash", sha(b"").digest()), fault.get("separator", 1)
    padding = bytes(size - 2 * 32 - 2 - 2) + bytes([fault.get("padding", 0)])
    block = mask(start + padding + bytes([separator]) + b"x", seed)
    encoded = bytes([fault.get("first", 0)]) + mask(seed, block) + block
    assert len(encoded) == size
    return pow(int.from_bytes(encoded, "big"), key.public_key.e, key.public_key.n).to_bytes(size, "big")


def test_all_failures_of_padding_are_alike(key: PrivateKey) -> None:
    assert key.decrypt(oaep(key)) == b"x"
    faults = [
        {"label_hash": hashlib.sha256(b"another").digest()}, {"label_hash": bytes(32)}, {"first": 1}, {"separator": 0},
        {"separator": 2}, {"padding": 2}, {"first": 1, "separator": 2},
    ]  # fmt: skip
    ciphertexts = [oaep(key, **fault) for fault in faults]
    results = key.decrypt_batch(ciphertexts, errors="return")
    assert {type(result) for result in results} == {zariz.DecryptionFailed}
    assert len({str(result).split(": ")[1] for result in results}) == 1
    for ciphertext in ciphertexts:
        with pytest.raises(zariz.DecryptionFailed):
            key.decrypt(ciphertext)
    plain, reasons = zariz.arrow.decrypt(pyarrow.array(ciphertexts), key, reasons=True)
    assert plain.null_count == len(faults) and len(set(pyarrow.array(reasons).to_pylist())) == 1


def test_raw_is_the_power(theirs: rsa.RSAPrivateKey) -> None:
    key, n, d = PrivateKey.load(theirs), theirs.private_numbers().public_numbers.n, theirs.private_numbers().d
    numbers = [0, 1, 2, n - 1, n // 3, 12345678901234567890]
    expected = [pow(x, d, n) for x in numbers]
    assert key.raw_batch(numbers) == expected
    rows = numpy.frombuffer(b"".join(x.to_bytes(256, "big") for x in numbers), numpy.uint8).reshape(6, 256)
    out = key.raw_batch(rows)
    assert [int.from_bytes(row.tobytes(), "big") for row in out] == expected
    results = key.raw_batch([n, 2**3000, -1, 2], errors="return")
    assert [type(r) for r in results[:3]] == [zariz.Error] * 3 and results[3] == expected[2]


def test_loading(theirs: rsa.RSAPrivateKey, tmp_path: Path) -> None:
    encoding, formats = serialization.Encoding, serialization.PrivateFormat
    reference = PublicKey.load(theirs)
    for how, form in [
        (e, f) for e in (encoding.PEM, encoding.DER) for f in (formats.PKCS8, formats.TraditionalOpenSSL)
    ]:
        data = theirs.private_bytes(how, form, serialization.NoEncryption())
        path = tmp_path / "key"
        path.write_bytes(data)
        for source in [data, bytearray(data), memoryview(data), path, str(path)]:
            assert PrivateKey.load(source).public_key == reference
        assert PublicKey.load(PrivateKey.load(data)) == reference
    encrypted = theirs.private_bytes(encoding.PEM, formats.PKCS8, serialization.BestAvailableEncryption(b"pass"))
    assert PrivateKey.load(encrypted, "pass").public_key == PrivateKey.load(encrypted, b"pass").public_key == reference
    for password, text in [(None, "encrypted"), ("other", "password")]:
        with pytest.raises(zariz.InvalidKey, match=text):
            PrivateKey.load(encrypted, password)
    ours = PrivateKey.load(theirs)
    assert PrivateKey.load(ours.to_pem()).public_key == reference
    assert PrivateKey.load(ours.to_pem("secret"), "secret").public_key == reference
    assert "ENCRYPTED" in ours.to_pem("secret")
    assert PublicKey.load(reference.to_pem()) == reference
    numbers = theirs.public_key().public_numbers()
    assert PublicKey.from_numbers(numbers.n, numbers.e) == PublicKey.from_numbers(numbers.n) == reference
    assert (reference.n, reference.e, reference.bits, reference.size) == (numbers.n, numbers.e, 2048, 256)
    ours.validate()
    with pytest.raises(FileNotFoundError):
        PrivateKey.load(tmp_path / "missing")
    for junk in [b"", b"junk", "-----BEGIN NOTHING-----", theirs.public_key()]:
        with pytest.raises(zariz.InvalidKey):
            PrivateKey.load(junk)
    for hostile in [None, 5, 1.5, [], {}, object()]:
        with pytest.raises(TypeError):
            PrivateKey.load(hostile)
        with pytest.raises(TypeError):
            PublicKey.load(hostile)


def test_text_of_a_key_is_never_a_path(theirs: rsa.RSAPrivateKey) -> None:
    encoding, none = serialization.Encoding, serialization.NoEncryption()
    pem = theirs.private_bytes(encoding.PEM, serialization.PrivateFormat.PKCS8, none).decode()
    for before in (
        "\ufeff",
        "\n",
        "Bag Attributes\n    localKeyID: 01\nKey Attributes: <No Attributes>\n",
        "x" * 300 + "\n",
    ):
        assert PrivateKey.load(before + pem).public_key == PrivateKey.load(theirs).public_key
    lines = pem.splitlines()[1:-1]
    damaged = [
        pem.replace("-----BEGIN", "BEGIN"),
        "\n".join(lines),
        "".join(lines),
        "\udc80" + pem,
        pem[:-100],
        "\0" + pem,
    ]
    for text in damaged:
        for half in (PrivateKey, PublicKey):
            with pytest.raises((zariz.Error, OSError)) as caught:
                half.load(text)
            shown = f"{caught.value} {caught.value!r} {getattr(caught.value, 'filename', '')}"
            assert not any(line in shown for line in lines)
    with pytest.raises(OSError) as caught:
        PrivateKey.load(Path("".join(lines)))
    assert caught.value.filename is None and lines[1] not in f"{caught.value!r}"
    with pytest.raises(FileNotFoundError) as missing:
        PrivateKey.load("missing.pem")
    assert str(missing.value.filename) == "missing.pem"


@pytest.mark.parametrize("half", [PrivateKey, PublicKey])
def test_errors_name_the_path(half: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(zariz.Error, match="the path is empty"):
        half.load("")
    elliptic = ec.generate_private_key(ec.SECP256R1()).public_key()
    spki = elliptic.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    files = {"empty": b"", "text": b"no key", "elliptic": spki, "huge": bytes((1 << 20) + 1)}
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "folder").mkdir()
    for name in [*files, "folder", "missing", "text/below", "nul\0", "new\x1bline"]:
        for path in (name, Path(name)):
            with pytest.raises((zariz.Error, OSError)) as caught:
                half.load(path)
            shown = str(caught.value)
            assert re.split("[\0\x1b]", name)[0] in shown, shown
            assert "\0" not in shown and "\x1b" not in shown
    for name in ("n" * 256, "n\0" * 256):
        with pytest.raises(OSError, match=f"{len(name)} bytes"):
            half.load(name)
    with pytest.raises(IsADirectoryError):
        half.load(Path(""))


def test_arguments_in_another_order_are_named(key: PrivateKey) -> None:
    """That of `cryptography`, wherever a function takes two that look alike."""
    public, messages = key.public_key, [b"one", b"two", b"three"]
    signatures = key.sign_batch(messages, "RS256")
    hint = "give the message first, then the signature"
    for algorithm in ("RS256", "PS512"):
        with pytest.raises(zariz.InvalidSignature, match=f"has 3 bytes.* have 256.*{hint}"):
            public.verify(signatures[0], messages[0], algorithm)
    with pytest.raises(zariz.Error, match=f"32.*{hint}"):
        public.verify(signatures[0], hashlib.sha256(b"one").digest(), "RS256", prehashed=True)
    columns = pyarrow.array(messages), pyarrow.array(signatures)
    with pytest.warns(UserWarning, match="give the messages first") as warned:
        assert public.verify_batch(signatures, messages, "RS256") == [False] * 3
        swapped = zariz.arrow.verify(columns[1], columns[0], public, "RS256")
        assert pyarrow.array(swapped).to_pylist() == [False] * 3
    assert [warning.filename for warning in warned] == [__file__] * 2
    # Where the order is right, or may be, there is no hint; and one token alone warns nobody.
    with pytest.raises(zariz.InvalidSignature, match="has 3 bytes.* have 256$"):
        public.verify(messages[0], b"bad", "RS256")
    with pytest.raises(zariz.InvalidSignature) as caught:
        public.verify(messages[0], signatures[1], "RS256")
    assert hint not in str(caught.value)
    assert public.verify_batch([bytes(256)], [b"bad"], "RS256") == [False]
    assert public.verify_batch([bytes(256), b"one"], [b"bad", b"bad"], "RS256") == [False] * 2
    assert public.verify_batch([], [], "RS256") == []
    with pytest.raises(zariz.InvalidKey, match="give n first, then e"):
        PublicKey.from_numbers(public.e, public.n)
    with pytest.raises(zariz.Error, match="give the key first, then its password") as secret:
        PrivateKey.load("password", key.to_pem())
    assert "PRIVATE KEY" not in str(secret.value)
    with pytest.raises(zariz.InvalidKey, match="this is a public key"):
        PrivateKey.load(public)


def test_keys_do_not_show_themselves_and_do_not_travel(key: PrivateKey) -> None:
    assert repr(key) == str(key) == "<zariz.PrivateKey of 2048 bits>"
    for refused in [copy.copy, copy.deepcopy] + [lambda k, p=p: pickle.dumps(k, p) for p in range(6)]:
        with pytest.raises(TypeError, match="PrivateKey.load"):
            refused(key)
    with pytest.raises(AttributeError):
        key.__dict__
    public = pickle.loads(pickle.dumps(key.public_key))
    assert public == key.public_key and hash(public) == hash(key.public_key) and public != "other"


def test_generation(key: PrivateKey) -> None:
    keys = PrivateKey.generate_many(1024, 9, threads=2)
    assert len({k.public_key for k in keys}) == 9 and all(k.bits == 1024 for k in keys)
    for bits in [0, 512, 10**9]:
        with pytest.raises(zariz.InvalidKey, match="bits"):
            PrivateKey.generate(bits)


def test_wrong_names(key: PrivateKey) -> None:
    with pytest.raises(zariz.Error, match="HS256.*RS256"):
        key.sign(b"", "HS256")
    with pytest.raises(zariz.Error, match="choose one of"):
        key.decrypt(bytes(256), "OAEP")
    with pytest.raises(zariz.Error, match="32"):
        key.sign(b"no digest", "RS256", prehashed=True)
    with pytest.raises(zariz.Error, match="too long"):
        key.public_key.encrypt(bytes(300))
    short = PrivateKey.generate(1024)
    with pytest.raises(zariz.InvalidKey, match="too short"):
        short.sign(b"", "PS512")


def test_rows_of_messages(key: PrivateKey) -> None:
    digests = numpy.arange(320, dtype=numpy.uint16).astype(numpy.uint8).reshape(10, 32)
    signatures = key.sign_batch(digests, "RS256", prehashed=True)
    assert signatures.shape == (10, 256)
    assert key.public_key.verify_batch(digests, signatures, "RS256", prehashed=True) == [True] * 10


def test_another_salt_is_named(key: PrivateKey, theirs: rsa.RSAPrivateKey) -> None:
    longest = padding.PSS(padding.MGF1(hashes.SHA256()), padding.PSS.MAX_LENGTH)
    signature, public = theirs.sign(b"message", longest, hashes.SHA256()), PublicKey.load(theirs)
    with pytest.raises(zariz.InvalidSignature, match="its salt has 222 bytes where the algorithm has 32"):
        public.verify(b"message", signature, "PS256")
    with pytest.raises(zariz.InvalidSignature, match="does not verify"):
        public.verify(b"another", signature, "PS256")
    good = PrivateKey.load(theirs).sign(b"message", "PS256")
    assert public.verify_batch([b"message"] * 2, [signature, good], "PS256") == [False, True]
    column = zariz.arrow.verify(pyarrow.array([b"message"] * 2), pyarrow.array([signature, good]), public, "PS256")
    assert pyarrow.array(column).to_pylist() == [False, True]


def test_files_that_are_no_keys_are_named(theirs: rsa.RSAPrivateKey) -> None:
    encoding, public = serialization.Encoding, serialization.PublicFormat
    pem = theirs.private_bytes(encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    ssh = theirs.public_key().public_bytes(encoding.OpenSSH, public.OpenSSH)
    spki = theirs.public_key().public_bytes(encoding.PEM, public.SubjectPublicKeyInfo)
    for data, text in [
        (ssh, "public key of OpenSSH; convert it: ssh-keygen"),
        (b'{"kty": "RSA"}', "JWK; convert it"),
        (b"".join(pem.splitlines()[1:-1]), "base64 without the BEGIN and END lines"),
        (b"", "there is nothing"),
        (spki, "public key; the private key is needed"),
    ]:
        with pytest.raises(zariz.InvalidKey, match=text):
            PrivateKey.load(data)
    with pytest.raises(zariz.InvalidKey, match="private key; take its public key: openssl pkey"):
        PublicKey.load(pem)
    ragged = b"\n".join(b"  " + line + b" " for line in pem.splitlines())
    assert PrivateKey.load(ragged).public_key == PublicKey.load(theirs)
