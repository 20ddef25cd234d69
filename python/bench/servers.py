"""The token issuer (examples/issuer.py) by zariz beside the same issuer by cryptography, under uvicorn.

    pip install uvicorn uvloop httptools
    python python/bench/servers.py [--rounds 6] [--connections 64]

Each server is a process with one worker on processor 0; this process asks from processor 1, over connections that are
kept. Servers take turns in rounds of one second, in changing order. First every connection asks as soon as it has its
answer, for the highest rate. Then requests arrive at half and at 0.8 of the slowest server's highest rate, in a
Poisson process. Their times are counted from the arrival: a request that finds no connection free waits for one. The
tables have medians of rounds, and after each the median of the ratios to cryptography in the same round.

cryptography signs in the event loop, or in threads (asyncio.to_thread). Its OpenSSL uses AVX512-IFMA by itself where
the processor has it, as zariz does. One more server signs nothing: what it takes is HTTP and JSON. This process must
not be the limit, so its own processor time is printed too.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import platform
import random
import re
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import distributions
from os import sched_setaffinity
from pathlib import Path
from statistics import median, quantiles

import uvicorn
from cryptography.hazmat.backends.openssl import backend
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.serialization import load_pem_private_key

import zariz

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "python" / "examples"))
from issuer import Issuer  # noqa: E402

KEY = ROOT / "crates" / "cli" / "keys" / "bench-2048.pem"
SERVER_CPU, CLIENT_CPU = 0, 1
# How long a turn takes, in seconds.
ROUND = 1.0
ANSWER = re.compile(rb"HTTP/1\.1 200 .*?\r\ncontent-length: (\d+)\r\n.*?\r\n\r\n", re.S)
BODY = b'{"sub":"somebody@example.org"}'
REQUEST = b"POST /token HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
REQUEST += b"content-length: %d\r\n\r\n%s" % (len(BODY), BODY)


class Cryptography(Issuer):
    """Signs in the event loop."""

    def __init__(self, key: str) -> None:
        private = load_pem_private_key(Path(key).read_bytes(), None)
        assert isinstance(private, rsa.RSAPrivateKey)
        self.private = private

    def signature(self, message: bytes) -> bytes:
        return self.private.sign(message, padding.PKCS1v15(), hashes.SHA256())

    async def sign(self, message: bytes) -> bytes:
        return self.signature(message)


class Threads(Cryptography):
    """Signs in the loop's pool of threads."""

    async def sign(self, message: bytes) -> bytes:
        return await asyncio.to_thread(self.signature, message)


class Nothing(Issuer):
    """Signs nothing."""

    async def sign(self, message: bytes) -> bytes:
        return bytes(256)


VARIANTS = {"zariz": Issuer, "cryptography": Cryptography, "cryptography, threads": Threads, "no signature": Nothing}
# The one that the others are compared with.
PEER = 1


def serve(variant: str) -> None:
    """Tells its port, serves until SIGINT, and tells the mean batch of zariz."""
    sched_setaffinity(0, {SERVER_CPU})
    app = VARIANTS[variant](str(KEY))
    config = uvicorn.Config(app, access_log=False, log_level="warning", timeout_keep_alive=3600)
    with socket.create_server(("127.0.0.1", 0)) as listener, contextlib.suppress(KeyboardInterrupt):
        print(listener.getsockname()[1], flush=True)
        uvicorn.Server(config).run([listener])
    if variant == "zariz":
        print(f"{app.signer.batcher.metrics()['mean_batch']:.1f}")


class Server:
    """A server, and connections to it."""

    def __init__(self, variant: str, connections: int) -> None:
        command = [sys.executable, __file__, "--serve", variant]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout
        address = "127.0.0.1", int(self.process.stdout.readline())
        self.connections = {of.fileno(): of for of in (socket.create_connection(address) for _ in range(connections))}
        self.parts = dict.fromkeys(self.connections, b"")
        self.epoll = select.epoll()
        for number in self.connections:
            self.epoll.register(number, select.EPOLLIN)
        # What this process computes for each token, in seconds.
        self.own = list[float]()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *error: object) -> None:
        self.process.send_signal(signal.SIGINT)
        self.said = self.process.communicate()[0].strip()

    def ask(self, number: int) -> None:
        self.connections[number].send(REQUEST)

    def answered(self, number: int) -> bool:
        """Reads from a connection: whether its answer is whole."""
        part = self.parts[number] + self.connections[number].recv(1 << 16)
        head = ANSWER.match(part)
        assert head or part and b"\r\n\r\n" not in part, f"the server answers {part!r}"
        whole = head is not None and len(part) == head.end() + int(head[1])
        self.parts[number] = b"" if whole else part
        return whole

    def processor_time(self) -> float:
        """What all threads of the server have computed, in seconds, by a clock that Linux has for each process."""
        return time.clock_gettime(~self.process.pid << 3 | 2)

    def closed(self) -> tuple[float, ...]:
        """Every connection asks as soon as it has its answer: tokens a second, and microseconds of processor time."""
        count, waiting, start = 0, len(self.connections), time.perf_counter()
        server, own = self.processor_time(), time.process_time()
        for number in self.connections:
            self.ask(number)
        while waiting:
            for number, _ in self.epoll.poll():
                if self.answered(number):
                    count += 1
                    if time.perf_counter() - start < ROUND:
                        self.ask(number)
                    else:
                        waiting -= 1
        rate = count / (time.perf_counter() - start)
        self.own.append((time.process_time() - own) / count)
        return rate, (self.processor_time() - server) / count * 1e6

    def open(self, rate: float) -> tuple[float, ...]:
        """Requests arrive one independently of another: the median time in milliseconds, and that of 99 %.

        This process looks for answers all the time, and never sleeps."""
        arrivals = [random.expovariate(rate)]
        while arrivals[-1] < ROUND:
            arrivals.append(arrivals[-1] + random.expovariate(rate))
        idle, asked, times, start = list(self.connections), dict[int, float](), list[float](), time.perf_counter()
        arrivals.reverse()
        while arrivals or asked:
            while idle and arrivals and start + arrivals[-1] <= time.perf_counter():
                number = idle.pop()
                asked[number] = start + arrivals.pop()
                self.ask(number)
            for number, _ in self.epoll.poll(0):
                if self.answered(number):
                    times.append(time.perf_counter() - asked.pop(number))
                    idle.append(number)
        return median(times) * 1e3, quantiles(times, n=100)[98] * 1e3


def table(
    servers: list[Server], rounds: int, turn: Callable[[Server], tuple[float, ...]], what: str, columns: tuple[str, ...]
) -> float:
    """Has the servers take turns, and prints the medians: the least one of the first column."""
    results = [list[tuple[float, ...]]() for _ in servers]
    for _ in range(rounds):
        for which in random.sample(range(len(servers)), len(servers)):
            results[which].append(turn(servers[which]))
    print(f"| {what} | {' | '.join(f'{name} | ratio' for name in columns)} |\n|---{'|---:' * 2 * len(columns)}|")
    for variant, ours in zip(VARIANTS, results):
        cells = [variant]
        for own, theirs in zip(zip(*ours), zip(*results[PEER])):
            digits = f"{median(own):.0f}" if median(own) >= 20 else f"{median(own):.2f}"
            cells += [digits, f"{median(a / b for a, b in zip(own, theirs)):.2f}"]
        print(f"| {' | '.join(cells)} |")
    print()
    return min(median(row[0] for row in ours) for ours in results)


def machine() -> str:
    fields = dict(re.findall(r"^(.*\w)\s*: (.*)$", Path("/proc/cpuinfo").read_text().split("\n\n")[0], re.M))
    name = "{model name}, family {cpu family} model {model} stepping {stepping}".format_map(fields)
    packages = {of.name: of.version for of in distributions()}
    found = [f"{of} {packages[of]}" for of in ("uvicorn", "uvloop", "httptools", "cryptography") if of in packages]
    engine, openssl = zariz.info()["engine"], backend.openssl_version_text()
    return f"{name}\nPython {platform.python_version()}, {', '.join(found)} with {openssl}; engine {engine} of zariz\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--serve", choices=VARIANTS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        return serve(arguments.serve)
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(Server(variant, arguments.connections)) for variant in VARIANTS]
        sched_setaffinity(0, {CLIENT_CPU})
        print(machine())
        for server in servers:
            server.closed()  # Warms up.
        what = f"{arguments.connections} connections ask at once"
        columns = "tokens a second", "µs of processor time each"
        slowest = table(servers, arguments.rounds, Server.closed, what, columns)
        for part in (0.5, 0.8):
            what, columns = f"Poisson arrivals, {part * slowest:.0f} a second", ("median, ms", "99 %, ms")
            table(servers, arguments.rounds, lambda server: server.open(part * slowest), what, columns)
    own = ", ".join(f"{median(server.own) * 1e6:.0f}" for server in servers)
    print(f"The load generator took {own} µs of its processor for each token. Mean batch of zariz: {servers[0].said}.")


if __name__ == "__main__":
    main()
