"""zariz in Python beside gmpy2, cryptography, PyJWT and Rust: one thread each, in turns.

    python python/bench/run.py [--seconds 60] [--program target/release/zariz] [--chart FILE.svg]

The two sides of each comparison are measured one after the other, many times, in changing order. A turn of a side takes
a tenth of a second, or one call where that is longer; comparisons share the time equally. The table has medians: of each
side's rate, and of the ratios of pairs.

Ints, buffers and Arrow columns are compared with the same powers from bytes, and all processors with one. With
--program they are also compared with Rust: `zariz speed` makes the same call of the library, with as many numbers of the
same lengths. The rates in the row of scaling are those of all processors divided by those of one.
"""

from __future__ import annotations

import argparse
import html
import json
import random
import statistics
import subprocess
import time
from collections.abc import Callable
from typing import Any

import gmpy2
import jwt
import numpy
import pyarrow
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

import zariz
import zariz.arrow
import zariz.gmpy
import zariz.jwt

COUNT = 64
# How long a turn of a side takes, in seconds; one call may take longer.
TURN = 0.1
# How many pairs of turns each comparison has at least.
PAIRS = 5
# Takes a turn: seconds for each operation.
Measure = Callable[[], float]
Side = tuple[str, Measure]


def timed(call: Callable[[], Any]) -> Measure:
    """Times calls of COUNT operations."""

    def seconds() -> float:
        calls, past, start = 0, 0.0, time.perf_counter()
        while past < TURN:
            call()
            calls, past = calls + 1, time.perf_counter() - start
        return past / calls / COUNT

    return seconds


def rust(program: str, target: str, threads: int) -> Measure:
    """Has `zariz speed` time the first operation of a target, such as signing of rsa2048: by the clock, as above."""
    options = [f"--batch={COUNT}", f"--seconds={TURN}", f"--threads={threads}", "--json", "--quiet"]

    def seconds() -> float:
        rows = json.loads(subprocess.check_output([program, "speed", target, *options]))
        return 1 / float(rows[0]["ops_per_second"] * rows[0]["processor_share"])

    return seconds


def scaling(one: Measure, every: Measure) -> Measure:
    """The time on all processors, as a part of the time on one."""
    return lambda: every() / one()


def powers(bits: int) -> tuple[int, int, list[int]]:
    n = random.getrandbits(bits) | 1 << (bits - 1) | 1
    return n, random.getrandbits(bits) | 1 << (bits - 1), [random.getrandbits(bits - 1) for _ in range(COUNT)]


def comparisons(program: str | None) -> list[tuple[str, Side, Side]]:
    """What is compared, the other side, and ours. `program` is zariz in Rust."""
    out: list[tuple[str, Side, Side]] = []
    for bits in (2048, 4096):
        n, e, bases = powers(bits)
        out += [
            (
                f"powers of {bits} bits, list of ints",
                ("gmpy2.powmod_base_list", timed(lambda n=n, e=e, b=bases: gmpy2.powmod_base_list(b, e, n))),
                ("zariz.gmpy", timed(lambda n=n, e=e, b=bases: zariz.gmpy.powmod_base_list(b, e, n))),
            ),
            (
                f"powers of {bits} bits, secret exponent",
                ("gmpy2.powmod_sec", timed(lambda n=n, e=e, b=bases: [gmpy2.powmod_sec(x, e, n) for x in b])),
                ("zariz", timed(lambda m=zariz.Modulus(n), e=e, b=bases: m.pow_batch(b, e, threads=1))),
            ),
        ]
    theirs = rsa.generate_private_key(65537, 2048)
    ours = zariz.PrivateKey.load(theirs)
    messages = [b"message %d" % i for i in range(COUNT)]
    claims = [{"sub": f"user {i}", "iat": 1767312000 + i, "scope": "read write"} for i in range(COUNT)]
    pss = padding.PSS(padding.MGF1(hashes.SHA256()), 32)
    for name, pad in (("RS256", padding.PKCS1v15()), ("PS256", pss)):
        out.append(
            (
                f"{name}, RSA-2048",
                ("cryptography", timed(lambda p=pad: [theirs.sign(m, p, hashes.SHA256()) for m in messages])),
                ("zariz", timed(lambda a=name: ours.sign_batch(messages, a, threads=1))),
            )
        )
    out.append(
        (
            "tokens, RS256",
            ("PyJWT", timed(lambda: [jwt.encode(c, theirs, "RS256") for c in claims])),
            ("zariz.jwt", timed(lambda: zariz.jwt.encode_many(claims, ours, "RS256", threads=1))),
        )
    )
    n, e, bases = powers(2048)
    m, rows = zariz.Modulus(n), [b.to_bytes(256, "big") for b in bases]
    matrix = numpy.frombuffer(b"".join(rows), numpy.uint8).reshape(COUNT, 256)
    column = pyarrow.array(rows)
    exponent = e.to_bytes(256, "big")
    one = timed(lambda: m.pow_batch(matrix, exponent, threads=1))
    every = timed(lambda: m.pow_batch(matrix, exponent))
    of_bytes: Side = ("list of bytes", timed(lambda: m.pow_batch(rows, exponent, threads=1)))
    others: list[Side] = [
        ("list of ints", timed(lambda: m.pow_batch(bases, e, threads=1))),
        ("numpy", one),
        ("Arrow", timed(lambda: zariz.arrow.pow(column, m, exponent, threads=1))),
    ]
    out += [("the same powers", of_bytes, side) for side in [*others, ("numpy, all processors", every)]]
    if program:
        name, threads = "Rust call (zariz speed)", zariz.info()["threads"]
        rust_one, rust_every = rust(program, "modexp2048", 1), rust(program, "modexp2048", threads)
        out += [("the same powers", (name, rust_one), side) for side in [of_bytes, *others]]
        signing = timed(lambda: ours.sign_batch(messages, "RS256", threads=1))
        out.append(("RS256, RSA-2048", (name, rust(program, "rsa2048", 1)), ("list of bytes", signing)))
        scales: Side = ("numpy", scaling(one, every))
        out.append(("scaling to all processors", (name, scaling(rust_one, rust_every)), scales))
    return out


def measure(pairs: list[tuple[str, Side, Side]], limit: float) -> list[tuple[str, str, str, float, float, float]]:
    times: list[list[tuple[float, float]]] = [[] for _ in pairs]
    spent = [0.0] * len(pairs)
    for _, (_, theirs), (_, ours) in pairs:
        theirs(), ours()
    while sum(spent) < limit or min(map(len, times)) < PAIRS:
        # The one that has had the least time.
        place = min(range(len(pairs)), key=lambda i: (len(times[i]) >= PAIRS, spent[i]))
        (_, (_, theirs), (_, ours)), start = pairs[place], time.perf_counter()
        if len(times[place]) % 2 == 0:
            first = theirs()
            times[place].append((first, ours()))
        else:
            first = ours()
            times[place].append((theirs(), first))
        spent[place] += time.perf_counter() - start
    out = []
    for (what, (theirs_name, _), (ours_name, _)), both in zip(pairs, times):
        rates = [1 / statistics.median(side) for side in zip(*both)]
        ratio = statistics.median(a / b for a, b in both)
        out.append((what, theirs_name, ours_name, rates[0], rates[1], ratio))
    return out


def digits(number: float) -> str:
    """Three digits, or more before the point."""
    return f"{number:.0f}" if number >= 99.5 else f"{number:#.3g}"


def chart(rows: list[tuple[str, str, str, float, float, float]], machine: str) -> str:
    """Bars of the ratios to other libraries, as SVG."""
    rows = [row for row in rows if row[1].split(".")[0] in ("gmpy2", "cryptography", "PyJWT")]
    left, width, top = 408, 296, 64
    scale, bottom = width / max(row[5] for row in rows), top + 26 * len(rows)
    lines = [
        '<text x="16" y="26" font-size="17">zariz in Python: rate on one thread, times that of the other library</text>',
        f'<text x="16" y="46" fill="#666">{html.escape(machine)}</text>',
    ]
    for i, (what, theirs, _, _, _, ratio) in enumerate(rows):
        y, length = top + 26 * i, scale * ratio
        label = html.escape(f"{what}, {theirs}")
        lines.append(f'<text x="{left - 8}" y="{y + 14}" text-anchor="end">{label}</text>')
        lines.append(f'<rect x="{left}" y="{y}" width="{length:.1f}" height="20" fill="#c84600"/>')
        lines.append(f'<text x="{left + length + 6:.1f}" y="{y + 14}">{ratio:.1f}×</text>')
    for tick in range(0, int(width / scale) + 1, 1 if width / scale < 5 else 2):
        lines.append(f'<text x="{left + scale * tick:.1f}" y="{bottom + 16}" text-anchor="middle">{tick}</text>')
    one = f"{left + scale:.1f}"
    lines.append(f'<path d="M{one} {top - 4}V{bottom}" stroke="#222" stroke-dasharray="4 3"/>')
    lines.append(f'<path d="M{left} {bottom}h{width}" stroke="#222"/>')
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="760" height="{bottom + 28}" font-family="sans-serif" font-size="13" fill="#222">'
    return "\n".join([head, '<rect width="100%" height="100%" fill="white"/>', *lines, "</svg>\n"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    seconds = f"how long to measure; at least {PAIRS} pairs of turns each"
    parser.add_argument("--seconds", type=float, default=60, help=seconds)
    parser.add_argument("--program", metavar="FILE", help="the program zariz: also compare with Rust")
    parser.add_argument("--chart", help="an SVG file to write")
    parser.add_argument("--machine", default=zariz.info()["engine"], help="the processor, for the chart")
    arguments = parser.parse_args()
    info = zariz.info()
    print(f"Engine {info['engine']}; gmpy2 {gmpy2.version()}, PyJWT {jwt.__version__}. Operations in a second.\n")
    print("| what | beside | rate | zariz | rate | ratio |\n|---|---|---|---|---|---|")
    rows = measure(comparisons(arguments.program), arguments.seconds)
    for what, theirs, ours, their_rate, our_rate, ratio in rows:
        print(f"| {what} | {theirs} | {digits(their_rate)} | {ours} | {digits(our_rate)} | {digits(ratio)} |")
    if arguments.chart:
        with open(arguments.chart, "w", encoding="utf-8") as file:
            file.write(chart(rows, arguments.machine))


if __name__ == "__main__":
    main()
