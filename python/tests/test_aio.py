"""Signatures and decryptions that are awaited."""

from __future__ import annotations

import asyncio
import gc
import importlib.util
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import jwt
import pytest

import zariz
from test_work import resident
from zariz import aio

LANES = zariz.info()["lanes"]


def messages(count: int) -> list[bytes]:
    return [b"message %d" % i for i in range(count)]


async def signed(signer: aio.Signer, of: list[bytes], algorithm: str = "RS256") -> list[bytes]:
    return await asyncio.gather(*[signer.sign(message, algorithm) for message in of])


def test_results_are_those_of_the_key(key: zariz.PrivateKey) -> None:
    import hashlib

    async def main() -> None:
        signer = aio.Signer(key)
        for algorithm in ("RS256", "RS384", "RS512"):
            assert await signed(signer, messages(20), algorithm) == key.sign_batch(messages(20), algorithm)
        for message, signature in zip(messages(20), await signed(signer, messages(20), "PS256")):
            key.public_key.verify(message, signature, "PS256")
        digest = hashlib.sha256(b"m").digest()
        assert await signer.sign(bytearray(digest), "RS256", prehashed=True) == key.sign(b"m", "RS256")
        for padding in ("RSA-OAEP-256", "RSA-OAEP", "RSA1_5"):
            ciphertexts = key.public_key.encrypt_batch(messages(20), padding)
            found = await asyncio.gather(*[signer.decrypt(c, padding) for c in ciphertexts])
            assert found == messages(20)
        labelled = key.public_key.encrypt(b"m", label=b"label")
        assert await signer.decrypt(labelled, label=b"label") == b"m"

    asyncio.run(main())


def test_tasks_that_wait_together_share_batches(key: zariz.PrivateKey) -> None:
    batcher = aio.Batcher(threads=1)
    signer = aio.Signer(key, batcher=batcher)
    assert asyncio.run(signed(signer, messages(64))) == key.sign_batch(messages(64), "RS256")
    metrics = batcher.metrics()
    # What fills the lanes twice begins at once, while the other tasks make their requests.
    assert metrics["operations"] == 64 and LANES <= metrics["largest_batch"] <= 16
    assert metrics["largest_batch"] > 1 and metrics["batches"] < 64
    assert metrics["mean_batch"] == 64 / metrics["batches"] and sum(metrics["waits"]) == 64
    # Fewer, of one turn of the loop, are one batch.
    batcher = aio.Batcher(threads=1)
    asyncio.run(signed(aio.Signer(key, batcher=batcher), messages(LANES)))
    assert (batcher.metrics()["batches"], batcher.metrics()["largest_batch"]) == (1, LANES)


def test_errors_are_those_of_the_key(key: zariz.PrivateKey) -> None:
    async def main() -> None:
        signer = aio.Signer(key)
        short = (signer.sign(b"short", "RS256", prehashed=True), signer.decrypt(b"short"))
        for bad in (signer.sign(b"", "HS256"), *short):
            with pytest.raises(zariz.Error):
                await bad
        with pytest.raises(zariz.DecryptionFailed):
            await signer.decrypt(b"\0" + bytes(range(1, 256)))
        for hostile in (None, 7, "text", [b"m"], object()):
            with pytest.raises((TypeError, zariz.Error)):
                await signer.sign(hostile, "RS256")  # type: ignore[arg-type]
            with pytest.raises((TypeError, zariz.Error)):
                await signer.sign(b"m", hostile)  # type: ignore[arg-type]
        # Others of the same batch have their results.
        results = await asyncio.gather(
            signer.decrypt(b"\0" + bytes(range(1, 256))), signer.sign(b"m", "RS256"), return_exceptions=True
        )
        assert isinstance(results[0], zariz.DecryptionFailed) and results[1] == key.sign(b"m", "RS256")

    asyncio.run(main())


@pytest.mark.parametrize("setting", ["threads", "max_batch", "capacity"])
def test_settings_are_checked(setting: str) -> None:
    with pytest.raises(zariz.Error, match=setting):
        aio.Batcher(**{setting: 0})  # type: ignore[arg-type]
    for linger in (-1.0, float("nan"), float("inf"), 61.0):
        with pytest.raises(zariz.Error, match="linger"):
            aio.Batcher(linger=linger)


def test_a_full_queue_waits_or_refuses(key: zariz.PrivateKey) -> None:
    async def main() -> None:
        waits = aio.Signer(key, batcher=aio.Batcher(threads=1, capacity=3))
        assert await signed(waits, messages(40)) == key.sign_batch(messages(40), "RS256")
        batcher = aio.Batcher(threads=1, capacity=3, refuse=True)
        refuses = aio.Signer(key, batcher=batcher)
        tasks = [refuses.sign(message, "RS256") for message in messages(40)]
        results = await asyncio.gather(*tasks, return_exceptions=True)
        expected = key.sign_batch(messages(40), "RS256")
        assert results[:3] == expected[:3]
        refused = [result for result in results if isinstance(result, zariz.Error)]
        assert refused and "too many requests wait" in str(refused[0])
        assert all(result == right for result, right in zip(results, expected) if result not in refused)
        assert batcher.metrics()["refused"] == len(refused)

    asyncio.run(main())


def test_requests_may_wait_for_others_if_asked(key: zariz.PrivateKey) -> None:
    batcher = aio.Batcher(threads=1, linger=0.01)
    assert asyncio.run(signed(aio.Signer(key, batcher=batcher), [b"m"])) == [key.sign(b"m", "RS256")]


def test_a_cancelled_task_takes_its_request_back(key: zariz.PrivateKey) -> None:
    batcher = aio.Batcher(threads=1)
    signer = aio.Signer(key, batcher=batcher)

    async def main() -> None:
        coroutines = [signer.sign(message, "RS256") for message in messages(LANES)]
        for coroutine in coroutines:
            coroutine.send(None)
        # They wait for the loop to come round, which it cannot meanwhile.
        assert len(aio._inbox(asyncio.get_running_loop())) == LANES
        for coroutine in coroutines:
            coroutine.close()
        assert batcher.metrics()["withdrawn"] == LANES and batcher.metrics()["operations"] == 0
        tasks = [asyncio.ensure_future(signer.sign(message, "RS256")) for message in messages(40)]
        # One turn: the tasks have made their requests, and none has its result.
        await asyncio.sleep(0)
        for task in tasks[::2]:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(result, asyncio.CancelledError) for result in results[::2])
        assert results[1::2] == key.sign_batch(messages(40)[1::2], "RS256")
        assert len(aio._inbox(asyncio.get_running_loop())) == 0
        # Cancelled when they may be at any stage.
        for wait in (0.0, 0.0005, 0.002):
            late = [asyncio.ensure_future(signer.sign(message, "RS256")) for message in messages(40)]
            await asyncio.sleep(wait)
            for task in late[::3]:
                task.cancel()
            for i, result in enumerate(await asyncio.gather(*late, return_exceptions=True)):
                assert isinstance(result, asyncio.CancelledError) or result == key.sign(messages(40)[i], "RS256")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(signer.sign(b"m", "RS256"), 0)

    asyncio.run(main())


def test_a_loop_that_ends_leaves_others_alone(key: zariz.PrivateKey) -> None:
    signer = aio.Signer(key)
    for _ in range(5):
        loop = asyncio.new_event_loop()
        task = loop.create_task(signer.sign(b"m", "RS256"))
        loop.run_until_complete(asyncio.sleep(0))
        task.cancel()
        loop.run_until_complete(asyncio.gather(task, return_exceptions=True))
        loop.close()
    assert asyncio.run(signed(signer, messages(3))) == key.sign_batch(messages(3), "RS256")


def test_loops_in_many_threads(key: zariz.PrivateKey) -> None:
    signer, expected = aio.Signer(key), key.sign_batch(messages(100), "RS256")
    results: list[list[bytes]] = []
    threads = [
        threading.Thread(target=lambda: results.append(asyncio.run(signed(signer, messages(100))))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 8


class Future:
    """What an inbox asks of a future."""

    def __init__(self, fails: bool) -> None:
        self.fails, self.result = fails, b""

    def done(self) -> bool:
        return False

    def set_result(self, result: bytes) -> None:
        if self.fails:
            raise LookupError("this future fails")
        self.result = result


def test_a_future_that_fails_leaves_the_others_alone(key: zariz.PrivateKey) -> None:
    inbox, batcher = aio.Inbox(), aio.Batcher(threads=1)
    futures = [Future(fails=i % 2 == 0) for i in range(LANES)]
    for i, future in enumerate(futures):
        inbox.sign(batcher, key, future, b"%d" % i, "RS256", False)
    errors = 0
    while len(inbox):
        try:
            aio._settle(inbox)
        except LookupError:
            errors += 1
    assert errors and all(f.fails or f.result == key.sign(b"%d" % i, "RS256") for i, f in enumerate(futures))


def test_a_loop_that_has_no_add_reader_says_so_each_time(key: zariz.PrivateKey) -> None:
    class Loop(asyncio.SelectorEventLoop):
        def add_reader(self, fd: Any, callback: Any, *args: Any) -> Any:
            if getattr(callback, "__name__", "") == "_settle":
                raise NotImplementedError
            return super().add_reader(fd, callback, *args)

    with asyncio.Runner(loop_factory=Loop) as runner:
        for _ in range(2):
            with pytest.raises(NotImplementedError):
                runner.run(asyncio.wait_for(aio.Signer(key).sign(b"m", "RS256"), 5))


def test_other_threads_run_while_a_long_message_is_hashed(key: zariz.PrivateKey) -> None:
    counted, stop, interval = [0], threading.Event(), sys.getswitchinterval()

    def count() -> None:
        while not stop.wait(0.0005):
            counted[0] += 1

    async def main() -> None:
        signing = aio.Signer(key).sign(message, "RS256")
        before = counted[0]
        signing.send(None)  # Hashes, and brings the request.
        assert counted[0] >= before + 5
        signing.close()

    message, thread = bytes(200_000_000), threading.Thread(target=count)
    # No thread has to give the interpreter away meanwhile.
    sys.setswitchinterval(100)
    thread.start()
    try:
        asyncio.run(main())
    finally:
        sys.setswitchinterval(interval)
        stop.set()
        thread.join()


FORKED = """
import asyncio, os, zariz
from zariz import aio
key = zariz.PrivateKey.generate(2048)
signer = aio.Signer(key)
async def work():
    return await asyncio.gather(*[signer.sign(b"%d" % i, "RS256") for i in range(50)])
expected = key.sign_batch([b"%d" % i for i in range(50)], "RS256")
def child_works():
    child = os.fork()
    if child == 0:
        os._exit(0 if asyncio.run(work()) == expected else 1)
    assert os.waitpid(child, 0)[1] == 0
async def main():
    for _ in range(5):
        task = asyncio.ensure_future(work())
        await asyncio.sleep(0.001)
        child_works()  # While the parent's requests wait and are computed.
        assert await task == expected
child_works()
assert asyncio.run(work()) == expected
child_works()
asyncio.run(main())
print("good")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_children_of_fork_have_a_queue_of_their_own() -> None:
    result = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True)
    assert result.stdout == "good\n", result.stderr


ENDED = """
import asyncio, zariz
from zariz import aio
signer = aio.Signer(zariz.PrivateKey.generate(2048))
async def main():
    tasks = [asyncio.ensure_future(signer.sign(b"m", "RS256")) for _ in range(100)]
    await asyncio.sleep(0.001)
asyncio.run(main())
"""


def test_a_program_may_end_with_requests_under_way() -> None:
    command = [sys.executable, "-X", "dev", "-W", "error", "-c", ENDED]
    result = subprocess.run(command, capture_output=True, text=True)
    assert (result.stdout, result.stderr, result.returncode) == ("", "", 0)


ENDED_MEANWHILE = """
import asyncio, sys, threading, time, zariz
from zariz import aio
signer = aio.Signer(zariz.PrivateKey.generate(2048))
given = threading.Event()
class Loop(asyncio.SelectorEventLoop):
    def call_soon(self, callback, *arguments, **more):
        if "wakeup" in getattr(callback, "__name__", ""):
            given.set()
            time.sleep(0.5)
        return super().call_soon(callback, *arguments, **more)
class Ends:
    closed = False
    def flush(self):
        time.sleep(1)  # The interpreter ends, and the thread wants to go on.
threading.Thread(target=Loop().run_until_complete, args=[signer.sign(b"m", "RS256")], daemon=True).start()
given.wait()
sys.stdout = Ends()
"""


def test_a_program_may_end_while_results_are_given() -> None:
    """Before version 3.14, Python ends other threads where they are. No function of zariz may be under them then."""
    result = subprocess.run([sys.executable, "-c", ENDED_MEANWHILE], capture_output=True, text=True)
    assert (result.stderr, result.returncode) == ("", 0)


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
def test_many_awaits_leak_nothing() -> None:
    small = zariz.PrivateKey.generate(1024)
    signer = aio.Signer(small)

    def awaits(count: int) -> None:
        for _ in range(count // 100):
            asyncio.run(signed(signer, messages(100)))

    awaits(2_000)
    gc.collect()
    before, files = resident(), len(os.listdir("/proc/self/fd"))
    awaits(10_000)
    gc.collect()
    # A signature's 128 bytes lost in each await would show, as would a loop's pair of sockets.
    assert resident() - before < 1_200_000
    assert len(os.listdir("/proc/self/fd")) <= files + 2


def issuer() -> Any:
    path = Path(__file__).parent.parent / "examples" / "issuer.py"
    spec = importlib.util.spec_from_file_location("issuer", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


async def ask(app: Any, method: str, path: str, *parts: bytes) -> tuple[int, Any]:
    """What a server does: the body comes in parts."""
    events = [{"type": "http.request", "body": part, "more_body": i + 1 < len(parts)} for i, part in enumerate(parts)]
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return events.pop(0) if events else {"type": "http.disconnect"}

    async def send(event: dict[str, Any]) -> None:
        sent.append(event)

    await app({"type": "http", "method": method, "path": path}, receive, send)
    assert [event["type"] for event in sent] == ["http.response.start", "http.response.body"]
    return sent[0]["status"], json.loads(sent[1]["body"])


def test_the_example_issues_tokens(key: zariz.PrivateKey) -> None:
    app = issuer().Issuer(key)

    async def main() -> None:
        asked = [ask(app, "POST", "/token", b'{"sub": ', b'"user %d"}' % i) for i in range(64)]
        for i, (status, answer) in enumerate(await asyncio.gather(*asked)):
            claims = jwt.decode(answer["access_token"], key.public_key.to_pem(), algorithms=["RS256"])
            assert (status, claims["sub"], answer["token_type"]) == (200, f"user {i}", "Bearer")
            assert claims["exp"] - claims["iat"] == answer["expires_in"]
        for body in (b"", b"{", b"[]", b'{"sub": 7}', b"[" * 4000, b"\xff", b"null"):
            assert (await ask(app, "POST", "/token", body))[0] == 400
        assert (await ask(app, "POST", "/token", bytes(3000), bytes(3000)))[0] == 413
        assert (await ask(app, "POST", "/token"))[0] == 400
        assert (await ask(app, "GET", "/token", b""))[0] == 404

    asyncio.run(main())


def test_the_example_refuses_when_it_is_full(key: zariz.PrivateKey, monkeypatch: pytest.MonkeyPatch) -> None:
    module = issuer()
    app = module.Issuer(key)
    # A queue that many cores cannot empty while the requests come.
    app.signer = aio.Signer(key, batcher=aio.Batcher(threads=1, capacity=3, refuse=True))

    async def statuses(count: int) -> set[int]:
        asked = [ask(app, "POST", "/token", b'{"sub": "user"}') for _ in range(count)]
        return {status for status, _ in await asyncio.gather(*asked)}

    assert asyncio.run(statuses(400)) == {200, 503}
    monkeypatch.setattr(module, "PATIENCE", 0)
    assert asyncio.run(statuses(1)) == {503}
