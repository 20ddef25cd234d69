"""Columns of pyarrow and of others."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import Any

import numpy

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import zariz
from zariz import arrow

TYPES = [pa.binary(), pa.large_binary(), pa.binary_view(), pa.string(), pa.large_string(), pa.string_view()]


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_every_type_signs_and_verifies(key: zariz.PrivateKey, kind: Any) -> None:
    rows = ["a", None, "", "b" * 1000] * 5
    column = pa.array(rows, kind)
    signed = pa.array(arrow.sign(column, key, "RS256"))
    assert signed.type == pa.binary(256)
    expected = [None if row is None else key.sign(row.encode(), "RS256") for row in rows]
    assert signed.to_pylist() == expected
    # A slice, and chunks.
    assert pa.array(arrow.sign(column[3:7], key, "RS256")).to_pylist() == expected[3:7]
    chunks = pa.chunked_array([column[:3], column[3:3], column[3:]])
    assert pa.chunked_array(arrow.sign(chunks, key, "RS256")).to_pylist() == expected
    valid = arrow.verify(chunks, signed, key.public_key, "RS256")
    assert pa.array(valid).to_pylist() == [None if row is None else True for row in rows]
    assert (len(valid), valid.null_count) == (20, 5) and "boolean" in repr(valid).lower()


def test_bad_rows_are_nulls_with_reasons(key: zariz.PrivateKey) -> None:
    good = key.public_key.encrypt(b"text")
    rows = [good, None, b"short", bytes(255) + b"\x02", b"\xff" * 256]
    plain, reasons = arrow.decrypt(pa.array(rows), key, reasons=True)
    assert pa.array(plain).to_pylist() == [b"text", None, None, None, None] and pa.array(plain).type == pa.binary()
    told = pa.array(reasons).to_pylist()
    assert told[:2] == [None, None] and "5 bytes" in told[2] and "decrypted" in told[3] and "below" in told[4]
    # Implicit rejection: a plaintext, and no reason.
    plain, reasons = arrow.decrypt(pa.array([bytes(255) + b"\x02"]), key, "RSA1_5", reasons=True)
    assert pa.array(plain).null_count == 0 and pa.array(reasons).to_pylist() == [None]
    n = key.public_key.n
    column = pa.array([(5).to_bytes(256, "big"), n.to_bytes(256, "big"), None], pa.binary(256))
    raw, reasons = arrow.raw(column, key, reasons=True)
    assert pa.array(raw)[0].as_py() == key.raw_batch([5])[0].to_bytes(256, "big")
    assert pa.array(raw).to_pylist()[1:] == [None, None] and "below" in pa.array(reasons).to_pylist()[1]
    valid = arrow.verify(pa.array(["a", "b"]), pa.array([key.sign(b"a", "PS256"), b"x"]), key, "PS256")
    assert pa.array(valid).to_pylist() == [True, False]


@settings(deadline=None, max_examples=40)
@given(st.lists(st.none() | st.binary(max_size=80)), st.integers(0, 2**300), st.integers(3, 2**500), st.booleans())
def test_powers(rows: list[bytes | None], e: int, n: int, vartime: bool) -> None:
    n |= 1
    size = (n.bit_length() + 7) // 8
    column = arrow.pow(pa.array(rows, pa.binary()), n, e, vartime=vartime)
    power = lambda row: pow(int.from_bytes(row, "big"), e, n).to_bytes(size, "big")  # noqa: E731
    assert pa.array(column).to_pylist() == [None if row is None else power(row) for row in rows]


class Given:
    """A column that gives what it was given."""

    def __init__(self, array: Any = None, stream: Any = None) -> None:
        if array is not None:
            self.__arrow_c_array__ = lambda requested_schema=None: array
        if stream is not None:
            self.__arrow_c_stream__ = lambda requested_schema=None: stream


class Foreign:
    """A column of a library that nobody knows."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        return self.array.__arrow_c_array__(requested_schema)


def test_other_libraries(key: zariz.PrivateKey) -> None:
    column = arrow.sign(Foreign(pa.array([b"a"])), key, "RS256")
    assert pa.array(column).to_pylist() == [key.sign(b"a", "RS256")]
    # Our own columns, and a type that the reader wants.
    assert pa.array(arrow.pow(column, 35, 1)).type == pa.binary(1)
    assert pa.array(column, pa.binary()).type == pa.binary()
    assert pa.table({"s": pa.chunked_array(column)}).num_rows == 1


def test_empty_and_all_null(key: zariz.PrivateKey) -> None:
    for column in [
        pa.array([], pa.binary()),
        pa.array([None, None], pa.binary()),
        pa.nulls(3),
        pa.chunked_array([], pa.binary()),
    ]:
        signed = pa.array(arrow.sign(column, key, "RS256"))
        assert len(signed) == len(column) == signed.null_count and signed.type == pa.binary(256)
        assert len(arrow.decrypt(column, key)) == len(column)


def test_wrong_columns(key: zariz.PrivateKey) -> None:
    for wrong in [None, [b"a"], b"a", 5, "a", object()]:
        with pytest.raises(TypeError, match="__arrow_c_array__"):
            arrow.sign(wrong, key, "RS256")
    for kind in [pa.array([1]), pa.array([[b"a"]]), pa.array([{"a": 1}]), pa.array([1.5])]:
        with pytest.raises(zariz.Error, match="binary"):
            arrow.sign(kind, key, "RS256")
    with pytest.raises(zariz.Error, match="2 messages and 1 signatures"):
        arrow.verify(pa.array([b"a", b"b"]), pa.array([b"a"]), key, "RS256")
    with pytest.raises(TypeError):
        arrow.sign(pa.array([b"a"]), None, "RS256")


def test_damaged_columns(key: zariz.PrivateKey) -> None:
    data = pa.py_buffer(b"abcdefghij")
    # Behind another row's end, before the beginning, and with a negative end.
    for wrong in ([0, 9, 2], [-9, -5, 2], [0, 2, -1]):
        offsets = numpy.array([0, 1, 2], numpy.int32)
        column = pa.Array.from_buffers(pa.binary(), 2, [None, pa.py_buffer(offsets), data])
        offsets[:] = wrong  # which pyarrow would not take
        with pytest.raises(zariz.Error, match="column is damaged: row"):
            arrow.sign(column, key, "RS256")
    # Text that is none is bytes.
    offsets = pa.array([0, 2], pa.int32()).buffers()[1]
    no_text = pa.Array.from_buffers(pa.string(), 1, [None, offsets, pa.py_buffer(b"\xff\xff")])
    assert pa.array(arrow.sign(no_text, key, "RS256")).to_pylist() == [key.sign(b"\xff\xff", "RS256")]


def test_rows_without_bytes_that_no_memory_has(key: zariz.PrivateKey) -> None:
    for rows in (1 << 40, 1 << 60):
        for kind, buffers in ((pa.null(), [None]), (pa.binary(0), [None, pa.py_buffer(b"")])):
            with pytest.raises(zariz.Error, match="more than 1073741824 rows"):
                arrow.sign(pa.Array.from_buffers(kind, rows, buffers), key, "RS256")



def test_columns_that_break_the_protocol(key: zariz.PrivateKey) -> None:
    column = pa.array([b"a"])
    schema, array = column.__arrow_c_array__()
    stream = pa.chunked_array([column]).__arrow_c_stream__()
    for once in (Given(array=(schema, array)), Given(stream=stream)):
        assert len(arrow.sign(once, key, "RS256")) == 1
        with pytest.raises(ValueError, match="damaged, or was read before|already released"):
            arrow.sign(once, key, "RS256")
    for wrong in [
        Given(array=column.__arrow_c_array__()[::-1]), Given(array=column.__arrow_c_array__()[1]), Given(array=(1, 2)),
        Given(stream=column.__arrow_c_schema__() if hasattr(column, "__arrow_c_schema__") else schema), Given(stream=5),
        Given(array=()), Given(array=(None, None, None)),
    ]:  # fmt: skip
        with pytest.raises(Exception):  # noqa: B017 (of any class, but no panic, which is no Exception)
            arrow.sign(wrong, key, "RS256")


def batches(count: int) -> Any:
    for _ in range(count):
        yield pa.record_batch({"a": [b"a"]})
    raise RuntimeError("the source is gone")


def test_a_stream_that_fails_says_why(key: zariz.PrivateKey) -> None:
    reader = pa.RecordBatchReader.from_batches(pa.schema({"a": pa.binary()}), batches(2))
    with pytest.raises(zariz.Error, match="the source is gone"):
        arrow.sign(reader, key, "RS256")


def views(words: list[tuple[int, int, int, int]], data: bytes) -> pa.Array:
    inside = numpy.array(words, numpy.uint32).tobytes()
    return pa.Array.from_buffers(pa.binary_view(), len(words), [None, pa.py_buffer(inside), pa.py_buffer(data)])


def test_views(key: zariz.PrivateKey) -> None:
    data = bytes(range(100))
    start = int.from_bytes(data[10:14], "little")
    good = views([(20, start, 0, 10), (3, 0x63626100 >> 8, 0, 0)], data)
    assert good.to_pylist() == [data[10:30], b"abc"]
    signed = pa.array(arrow.sign(good, key, "RS256"))
    assert signed.to_pylist() == [key.sign(row, "RS256") for row in good.to_pylist()]
    # Behind the end, in a buffer that is not there, and longer than any.
    for word in [(20, start, 0, 81), (20, start, 1, 0), (2**32 - 1, start, 0, 0), (20, start, 0, 2**32 - 1)]:
        damaged = views([(20, start, 0, 10), word], data)
        with pytest.raises(zariz.Error, match="column is damaged: row 1 "):
            arrow.sign(damaged, key, "RS256")
        # Rows are counted over all chunks.
        with pytest.raises(zariz.Error, match="column is damaged: row 3 "):
            arrow.sign(pa.chunked_array([good, damaged]), key, "RS256")


def test_offsets_that_another_thread_changes() -> None:
    """Each call reads rows that are in the column, or says that it is damaged."""
    count = 5000
    good = numpy.arange(count + 1, dtype=numpy.int32)
    bad = good.copy()
    bad[1:-1:2] = 2**31 - 1
    bad[2:-1:2] = -1
    offsets, end = good.copy(), threading.Event()
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(b"\x05" * count)]
    column = pa.Array.from_buffers(pa.binary(), count, buffers)

    def change() -> None:
        while not end.is_set():
            numpy.copyto(offsets, bad)
            numpy.copyto(offsets, good)

    thread = threading.Thread(target=change)
    thread.start()
    seen = set()
    try:
        while seen != {"read", "damaged"}:
            try:
                powers = pa.array(arrow.pow(column, 35, 2, vartime=True)).to_pylist()
                # Rows are a byte, or where offsets are of two states more or none.
                assert len(powers) == count and powers[0] in (b"\x19", b"\x00", None)
                seen.add("read")
            except zariz.Error as error:
                assert "column is damaged" in str(error)
                seen.add("damaged")
    finally:
        end.set()
        thread.join()


def test_keys_of_cryptography() -> None:
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

    theirs = rsa.generate_private_key(65537, 2048)
    key, column = zariz.PrivateKey.load(theirs), pa.array([b"a", None])
    signed = pa.array(arrow.sign(column, theirs, "RS256"))
    assert signed.equals(pa.array(arrow.sign(column, key, "RS256")))
    assert pa.array(arrow.verify(column, signed, theirs.public_key(), "RS256")).to_pylist() == [True, None]
    assert pa.array(arrow.raw(signed, theirs)).equals(pa.array(arrow.raw(signed, key)))
    sealed = pa.array([key.public_key.encrypt(b"a")])
    assert pa.array(arrow.decrypt(sealed, theirs)).to_pylist() == [b"a"]
    for other in (ec.generate_private_key(ec.SECP256R1()), ed25519.Ed25519PrivateKey.generate()):
        with pytest.raises((zariz.Error, TypeError), match="RSA|key"):
            arrow.sign(column, other, "RS256")
        with pytest.raises((zariz.Error, TypeError), match="RSA|key"):
            arrow.verify(column, signed, other.public_key(), "RS256")


# Without pyarrow, which polars and DuckDB need for none of this.
OTHERS = """
import sys
sys.modules["pyarrow"] = None
import duckdb, polars, zariz
from zariz import arrow
key = zariz.PrivateKey.generate(2048)
column = polars.Series([b"a", None, b"c"])
signed = polars.Series(arrow.sign(column, key, "RS256"))
assert signed.to_list() == [key.sign(b"a", "RS256"), None, key.sign(b"c", "RS256")]
assert polars.Series(arrow.verify(column, signed, key.public_key, "RS256")).to_list() == [True, None, True]
texts = duckdb.sql("SELECT v FROM (VALUES ('a'), ('c')) t(v)")
column = polars.DataFrame(texts)["v"]
assert polars.Series(arrow.sign(column, key, "RS256")).to_list() == signed.drop_nulls().to_list()
"""


def test_polars_and_duckdb() -> None:
    pytest.importorskip("polars")
    pytest.importorskip("duckdb")
    subprocess.run([sys.executable, "-c", OTHERS], check=True)
