"""The example of a token issuer under uvicorn, in a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jwt
import pytest

import zariz

EXAMPLES = Path(__file__).parent.parent / "examples"
CALLERS = 16
# Far longer than any machine needs, in seconds: then the server is killed, and those who wait for it hear so.
HANGS = 600


class Server:
    """The issuer, once it listens."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self.process, self.log = process, log
        while not (found := re.search(r"running on http://127\.0\.0\.1:(\d+)", log.read_text())):
            assert process.poll() is None, log.read_text()
            time.sleep(0.05)
        self.port = int(found[1])

    async def connect(self) -> Caller:
        return Caller(*await asyncio.open_connection("127.0.0.1", self.port))

    def ends(self) -> None:
        """Waits until it has ended, and checks that nothing went wrong."""
        # uvicorn ends by the signal that it got, when all is done; older ones end with 0.
        assert self.process.wait() in (0, -signal.SIGTERM), self.log.read_text()
        assert "Traceback" not in self.log.read_text(), self.log.read_text()


class Caller:
    """A connection that is kept."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    def send(self, body: bytes, path: str = "/token", headers: str = "", only: int | None = None) -> None:
        """Asks by POST; with only the first bytes of the body, if asked."""
        head = f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {len(body)}\r\n{headers}\r\n"
        self.writer.write(head.encode() + body[:only])

    async def head(self) -> str:
        return (await self.reader.readuntil(b"\r\n\r\n")).decode().lower()

    async def answer(self) -> tuple[int, Any]:
        head = await self.head()
        length = re.search(r"\r\ncontent-length: (\d+)\r\n", head)
        assert length, head
        return int(head.split()[1]), json.loads(await self.reader.readexactly(int(length[1])))

    async def ask(self, body: bytes, path: str = "/token") -> tuple[int, Any]:
        self.send(body, path)
        return await self.answer()

    async def close(self) -> None:
        self.writer.close()
        with contextlib.suppress(ConnectionError):
            await self.writer.wait_closed()


@pytest.fixture
def server(key: zariz.PrivateKey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    pytest.importorskip("uvicorn")
    (tmp_path / "key.pem").write_text(key.to_pem())
    monkeypatch.setenv("ISSUER_KEY", "key.pem")
    command = [sys.executable, "-X", "dev", "-m", "uvicorn", "issuer:app", "--app-dir", str(EXAMPLES)]
    options = ["--port=0", "--timeout-keep-alive=600", "--no-access-log", "--no-use-colors"]
    log = tmp_path / "log"
    with log.open("w") as file, subprocess.Popen([*command, *options], cwd=tmp_path, stderr=file) as process:
        guard = threading.Timer(HANGS, process.kill)
        guard.start()
        try:
            yield Server(process, log)
        finally:
            guard.cancel()
            process.kill()


def body(subject: str) -> bytes:
    return json.dumps({"sub": subject}).encode()


def check(key: zariz.PrivateKey, subject: str, answer: tuple[int, Any]) -> None:
    """The answer is a token for the subject."""
    assert answer[0] == 200, answer
    claims = jwt.decode(answer[1]["access_token"], key.public_key.to_pem(), algorithms=["RS256"])
    assert claims["sub"] == subject and answer[1]["token_type"] == "Bearer"


def test_callers_have_their_tokens_and_errors(key: zariz.PrivateKey, server: Server) -> None:
    async def calls(name: int) -> None:
        caller = await server.connect()
        for i in range(8):
            subject = f"user {name} {i}"
            check(key, subject, await caller.ask(body(subject)))
            # The connection is good for more after each of these.
            assert (await caller.ask((b"", b"{", b"[]", b'{"sub": 7}', b"\xff")[i % 5]))[0] == 400
            assert (await caller.ask(body(subject), f"/{i}"))[0] == 404
        # The last byte is the one too many.
        assert (await caller.ask(bytes(4097)))[0] == 413
        await caller.close()

    async def hangs_up(name: int) -> None:
        for only in (5, None):
            caller = await server.connect()
            # In the middle of its body, and before its answer.
            caller.send(body(f"gone {name}"), only=only)
            await caller.writer.drain()
            if name % 2:
                caller.writer.transport.abort()
            await caller.close()

    async def main() -> None:
        await asyncio.gather(*[act(i) for i in range(CALLERS) for act in (calls, hangs_up)])
        await calls(CALLERS)

    asyncio.run(main())
    server.process.terminate()
    server.ends()


def test_a_server_that_is_told_to_end_answers_first(key: zariz.PrivateKey, server: Server) -> None:
    async def refuses() -> None:
        """Waits until the server takes no more connections, as it does once it has heard."""
        while True:
            try:
                caller = await server.connect()
            except ConnectionRefusedError:
                return
            except ConnectionError:
                continue
            await caller.close()

    async def main() -> None:
        callers = [await server.connect() for _ in range(CALLERS)]
        idle = await server.connect()
        check(key, "idle", await idle.ask(body("idle")))
        for i, caller in enumerate(callers):
            caller.send(body(f"user {i}"), headers="expect: 100-continue\r\n", only=5)
            # The application has the request, and reads its body.
            assert (await caller.head()).split()[1] == "100"
        server.process.terminate()
        await refuses()
        assert await idle.reader.read() == b""
        for i, caller in enumerate(callers):
            caller.writer.write(body(f"user {i}")[5:])
        for i, caller in enumerate(callers):
            check(key, f"user {i}", await caller.answer())
            assert await caller.reader.read() == b""
            await caller.close()
        await idle.close()

    asyncio.run(main())
    server.ends()
