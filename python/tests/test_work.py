"""Threads, interruptions, progress, forks and leaks."""

from __future__ import annotations

import contextlib
import io
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from tqdm import tqdm

import zariz

ODD = (1 << 2203) - 1
BASES = list(range(2, 1002))


def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-X", "dev", "-W", "error", "-c", program, *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def test_results_do_not_depend_on_threads() -> None:
    m, e = zariz.Modulus(ODD), (1 << 2200) // 3
    reference = m.pow_batch(BASES[:100], e, threads=1)
    assert reference == [pow(b, e, ODD) for b in BASES[:100]]
    for threads in [None, 2, 3, 7, 100]:
        assert m.pow_batch(BASES[:100], e, threads=threads) == reference


def test_progress_counts_every_item() -> None:
    m, e, seen = zariz.Modulus(ODD), (1 << 2200) // 3, []
    m.pow_batch(BASES, e, progress=seen.append)
    assert sum(seen) == len(BASES) and len(seen) > 1 and all(type(n) is int and n > 0 for n in seen)
    seen.clear()
    m.pow_batch([2], 2, progress=seen.append)
    assert seen == [1]
    with tqdm(total=2 * len(BASES), disable=False, file=io.StringIO()) as bar:
        m.pow_batch(BASES, 65537, progress=bar)
        assert bar.n == len(BASES)
        m.pow_batch(BASES, 65537, progress=bar.update)
        assert bar.n == 2 * len(BASES)


def test_rich_fits_without_an_adapter() -> None:
    from functools import partial

    from rich.progress import Progress

    with Progress(disable=True) as progress:
        task = progress.add_task("powers", total=len(BASES))
        zariz.Modulus(ODD).pow_batch(BASES, 65537, progress=partial(progress.advance, task))
        assert progress.tasks[0].completed == len(BASES)


def test_an_exception_of_progress_ends_the_call() -> None:
    def fails(_: int) -> None:
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        zariz.Modulus(ODD).pow_batch(BASES, ODD // 3, progress=fails)


def test_other_threads_run_meanwhile() -> None:
    """The interpreter is released: another thread counts while one call runs, which waits for it."""
    counted, stop = [0], threading.Event()

    def count() -> None:
        while not stop.is_set():
            counted[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    before = counted[0]
    zariz.Modulus(ODD).pow_batch(BASES, ODD // 3, threads=1)
    stop.set()
    thread.join()
    assert counted[0] > before + 1000


INTERRUPTED = """
import itertools, pyarrow, resource, signal, sys, zariz
from pathlib import Path
from zariz import arrow, gmpy, jwt, primes
odd = (1 << 16381) + 1
key = zariz.PrivateKey.generate(2048)
batch = pyarrow.record_batch({"a": [b"a"]})
endless = pyarrow.RecordBatchReader.from_batches(batch.schema, itertools.repeat(batch))
# A timer of the system's, like the terminal, needs no turn of the interpreter.
signal.signal(signal.SIGALRM, signal.default_int_handler)
calls = {
    # Hours of work each, in pieces of a second and more.
    "powers": lambda: zariz.Modulus(odd).pow_batch([3] * 10**5, odd // 3),
    "one": lambda: zariz.Modulus(odd).pow(3, 1 << 10**7),
    "primes": lambda: primes.generate_safe_many(4096, 10**4),
    "reading": lambda: zariz.Modulus(35).pow_batch(itertools.repeat(3), 3),
    "reading two": lambda: zariz.multi_pow_many(35, itertools.repeat([2, 3]), itertools.repeat([1, 1])),
    "keys": lambda: zariz.PrivateKey.generate_many(8192, 10**5),
    "signatures": lambda: key.sign_batch([b"m"] * 10**6, "RS256", threads=1),
    "plaintexts": lambda: key.decrypt_batch([bytes(256)] * 10**6, "RSA1_5", threads=1),
    "tokens": lambda: jwt.encode_many([{}] * 10**6, key, "RS256", threads=1),
    "gmpy": lambda: gmpy.powmod_base_list([3] * 10**5, odd // 3, odd),
    "column": lambda: arrow.pow(pyarrow.array([b"3"] * 10**5), odd, odd // 3),
    "reading columns": lambda: arrow.sign(endless, key, "RS256"),
    # Only seconds, but one piece.
    "table": lambda: zariz.FixedBase(odd, 3, exponent_bits=1 << 15, memory=1 << 30),
}
if sys.argv[1].startswith("reading"):
    # Where an endless list is read to its end, that fails before the machine does.
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    limit = 1 << 33 if hard == resource.RLIM_INFINITY else min(1 << 33, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
signal.setitimer(signal.ITIMER_REAL, 0.5)
try:
    calls[sys.argv[1]]()
except KeyboardInterrupt:
    # A thread is still at the table: the call did not end by itself.
    names = [path.read_text() for path in Path("/proc/self/task").glob("*/comm")]
    assert sys.argv[1] != "table" or "zariz\\n" in names, names
    print("interrupted")
    # The interpreter works, and so does zariz.
    assert zariz.Modulus(35).pow_batch([2] * 100, 10) == [9] * 100
"""


CALLS = re.findall(r'^    "([a-z ]*)": lambda', INTERRUPTED, re.M)


@pytest.mark.parametrize("call", CALLS)
def test_an_interruption_ends_any_call(call: str) -> None:
    """Most calls would take minutes or hours: that this test ends is what it shows."""
    result = run(INTERRUPTED, call)
    assert result.stdout == "interrupted\n" and result.returncode == 0, result.stderr


FORKED = """
import os, threading, zariz
key, odd = zariz.PrivateKey.generate(2048), (1 << 2203) - 1
m, e = zariz.Modulus(odd), odd // 3
expected = m.pow_batch(range(2, 66), e)
messages = [b"%d" % i for i in range(64)]
signatures = key.sign_batch(messages, "RS256")
def work():
    for _ in range(20):
        key.sign_batch(messages, "PS256")
        m.pow_batch(range(2, 66), e)
thread = threading.Thread(target=work)
thread.start()
for i in range(10):
    child = os.fork()
    if child == 0:
        good = m.pow_batch(range(2, 66), e) == expected
        good &= key.sign_batch(messages, "RS256") == signatures
        good &= all(key.public_key.verify_batch(messages, key.sign_batch(messages, "PS256"), "PS256"))
        os._exit(0 if good else 1)
    assert os.waitpid(child, 0)[1] == 0
thread.join()
print("good")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_children_of_fork_work_while_threads_of_the_parent_do() -> None:
    # Newer versions of Python warn of any fork beside threads, which is what this does.
    result = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True)
    assert result.stdout == "good\n", result.stderr


POOL = """
import multiprocessing, zariz
key = zariz.PrivateKey.generate(2048)
def sign(i):
    return key.sign_batch([b"%d" % i] * 20, "PS256")[0]
if __name__ == "__main__":
    sign(0)  # Blinding pairs and all else that a parent makes.
    with multiprocessing.get_context("fork").Pool(4) as pool:
        for i, signature in enumerate(pool.map(sign, range(40))):
            key.public_key.verify(b"%d" % i, signature, "PS256")
    print("good")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_multiprocessing_with_a_key_of_the_parent() -> None:
    result = subprocess.run([sys.executable, "-c", POOL], capture_output=True, text=True)
    assert result.stdout == "good\n", result.stderr


APPLICATION = """
import os, zariz
key = zariz.PrivateKey.load("key.pem")
# Threads, blinding pairs and all else that a parent makes.
key.sign_batch([b"first"] * 20, "PS256")
def app(environ, start_response):
    signatures = key.sign_batch([b"%d" % i for i in range(20)], "PS256")
    start_response("200 OK", [("Worker", str(os.getpid()))])
    return signatures
"""


def test_gunicorn_with_preloaded_keys(
    key: zariz.PrivateKey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("gunicorn")
    # The name of a socket has at most about 100 bytes, so it is relative.
    monkeypatch.chdir(tmp_path)
    (tmp_path / "key.pem").write_text(key.to_pem())
    (tmp_path / "application.py").write_text(APPLICATION)
    command = [sys.executable, "-m", "gunicorn", "--preload", "--workers=2", "--bind=unix:socket", "application:app"]
    log, workers = tmp_path / "log", set[str | None]()
    with log.open("w") as file:
        server = subprocess.Popen(command, cwd=tmp_path, stderr=file)
    try:
        while "Booting worker" not in log.read_text():
            assert server.poll() is None, log.read_text()
            time.sleep(0.05)
        with contextlib.ExitStack() as stack:
            # The worker that accepts the first connection waits for its request, so another one takes the second.
            connections = [HTTPConnection("localhost") for _ in range(2)]
            for connection in connections:
                connection.sock = socket.socket(socket.AF_UNIX)
                stack.enter_context(contextlib.closing(connection))
                connection.sock.settimeout(60)
                connection.sock.connect("socket")
            for connection in reversed(connections):
                connection.request("GET", "/")
                answer = connection.getresponse()
                body = answer.read()
                signatures = [body[i : i + 256] for i in range(0, len(body), 256)]
                assert all(key.public_key.verify_batch([b"%d" % i for i in range(20)], signatures, "PS256"))
                workers.add(answer.headers["Worker"])
        assert len(workers) == 2
    finally:
        server.terminate()
        server.wait()


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
def test_a_million_calls_leak_nothing(key: zariz.PrivateKey) -> None:
    m, number, data = zariz.Modulus((1 << 256) - 189), 1 << 250, bytes(32)

    def calls(count: int) -> None:
        for _ in range(count // 4):
            m.pow_vartime(number, 3)
            m.pow_vartime(data, b"\x03")
            m.pow_batch_vartime([number], 3)
            try:
                m.pow(-1, 3)
            except zariz.Error:
                pass

    calls(100_000)
    before = resident()
    calls(1_000_000)
    # One byte lost in each call would show.
    assert resident() - before < 1_000_000


EVERYTHING = """
import sys, time
sys.path.insert(0, sys.argv[1])
import zariz
from public import called, calls
every = calls(zariz.PrivateKey.generate(2048))
counts = {}
for name, (function, arguments) in every.items():
    start = time.perf_counter()
    called(function, arguments)
    counts[name] = 2000 if time.perf_counter() - start < 1e-3 else 10
def all_of_them(part):
    for name, (function, arguments) in every.items():
        for _ in range(counts[name] // part):
            called(function, arguments)
if sys.argv[2] == "leaks":
    from test_work import resident
    all_of_them(4)
    before = resident()
    all_of_them(1)
    print(sum(counts.values()), resident() - before)
"""
HERE = os.path.dirname(__file__)


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
def test_no_function_leaks() -> None:
    result = run(EVERYTHING, HERE, "leaks")
    calls, grown = map(int, result.stdout.split())
    # Of most functions there are 2000 calls: two kilobytes lost in each of one function's would show.
    assert grown < 3_000_000, (calls, grown, result.stderr)


def test_python_in_development_mode_is_silent() -> None:
    program = """
try: zariz.pow_many([35, 4], 3, 3)
except zariz.BatchError: pass
"""
    result = run(EVERYTHING + program, HERE, "once")
    assert (result.stdout, result.stderr, result.returncode) == ("", "", 0)
