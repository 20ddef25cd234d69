"""zariz beside gmpy2, cryptography and PyJWT: one process, one thread each, in turns.

    python python/bench/run.py [--seconds 60] [--chart FILE.svg]

The two sides of each comparison are measured one after the other, many times, in changing order. The table has medians:
of each side's rate, and of the ratios of the pairs. Beside each other's libraries stand ints, buffers and Arrow columns
against the same powers from bytes, and all processors against one.
"""

from __future__ import annotations

import argparse
import random
import statistics
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

COUNT = 256
Side = tuple[str, Callable[[], Any]]


def powers(bits: int) -> tuple[int, int, list[int]]:
    n = random.getrandbits(bits) | 1 << (bits - 1) | 1
    return n, random.getrandbits(bits) | 1 << (bits - 1), [random.getrandbits(bits - 1) for _ in range(COUNT)]


def comparisons() -> list[tuple[str, Side, Side]]:
    """What is compared, the other side, and ours."""
    out: list[tuple[str, Side, Side]] = []
    for bits in (2048, 4096):
        n, e, bases = powers(bits)
        out += [
            (
                f"powers of {bits} bits, list of ints",
                ("gmpy2.powmod_base_list", lambda n=n, e=e, b=bases: gmpy2.powmod_base_list(b, e, n)),
                ("zariz.gmpy", lambda n=n, e=e, b=bases: zariz.gmpy.powmod_base_list(b, e, n)),
            ),
            (
                f"powers of {bits} bits, secret exponent",
                ("gmpy2.powmod_sec", lambda n=n, e=e, b=bases: [gmpy2.powmod_sec(x, e, n) for x in b]),
                ("zariz", lambda m=zariz.Modulus(n), e=e, b=bases: m.pow_batch(b, e, threads=1)),
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
                ("cryptography", lambda p=pad: [theirs.sign(m, p, hashes.SHA256()) for m in messages]),
                ("zariz", lambda a=name: ours.sign_batch(messages, a, threads=1)),
            )
        )
    out.append(
        (
            "tokens, RS256",
            ("PyJWT", lambda: [jwt.encode(c, theirs, "RS256") for c in claims]),
            ("zariz.jwt", lambda: zariz.jwt.encode_many(claims, ours, "RS256", threads=1)),
        )
    )
    n, e, bases = powers(2048)
    m, rows = zariz.Modulus(n), [b.to_bytes(256, "big") for b in bases]
    matrix = numpy.frombuffer(b"".join(rows), numpy.uint8).reshape(COUNT, 256)
    column = pyarrow.array(rows)
    exponent = e.to_bytes(256, "big")
    of_bytes: Side = ("list of bytes", lambda: m.pow_batch(rows, exponent, threads=1))
    out += [
        ("the same powers", of_bytes, ("list of ints", lambda: m.pow_batch(bases, e, threads=1))),
        ("the same powers", of_bytes, ("numpy", lambda: m.pow_batch(matrix, exponent, threads=1))),
        ("the same powers", of_bytes, ("Arrow", lambda: zariz.arrow.pow(column, m, exponent, threads=1))),
        ("the same powers", of_bytes, ("numpy, all processors", lambda: m.pow_batch(matrix, exponent))),
    ]
    return out


def seconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def measure(pairs: list[tuple[str, Side, Side]], limit: float) -> list[tuple[str, str, str, float, float, float]]:
    times: list[list[tuple[float, float]]] = [[] for _ in pairs]
    for _, (_, theirs), (_, ours) in pairs:
        theirs(), ours()
    start, turn = time.perf_counter(), 0
    while time.perf_counter() - start < limit or turn < 5:
        for place, (_, (_, theirs), (_, ours)) in enumerate(pairs):
            if turn % 2 == 0:
                first = seconds(theirs)
                times[place].append((first, seconds(ours)))
            else:
                first = seconds(ours)
                times[place].append((seconds(theirs), first))
        turn += 1
    out = []
    for (what, (theirs_name, _), (ours_name, _)), both in zip(pairs, times):
        rates = [COUNT / statistics.median(side) for side in zip(*both)]
        ratio = statistics.median(a / b for a, b in both)
        out.append((what, theirs_name, ours_name, rates[0], rates[1], ratio))
    return out


def chart(rows: list[tuple[str, str, str, float, float, float]]) -> str:
    """Bars of the ratios, as SVG."""
    most, lines = max(row[5] for row in rows), []
    for i, (what, theirs, ours, _, _, ratio) in enumerate(rows):
        y, width = 24 * i + 8, 300 * ratio / most
        lines.append(f'<text x="392" y="{y + 12}" text-anchor="end">{what}: {ours} / {theirs}</text>')
        lines.append(f'<rect x="400" y="{y}" width="{width:.1f}" height="16" fill="#4477aa"/>')
        lines.append(f'<text x="{406 + width:.1f}" y="{y + 12}">{ratio:.2f}</text>')
    height = 24 * len(rows) + 16
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="760" height="{height}" font-family="sans-serif" font-size="11">'
    return "\n".join([head, '<rect width="100%" height="100%" fill="white"/>', *lines, "</svg>\n"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60, help="how long to measure; at least five turns are made")
    parser.add_argument("--chart", help="an SVG file to write")
    arguments = parser.parse_args()
    info = zariz.info()
    print(f"Engine {info['engine']}; gmpy2 {gmpy2.version()}, PyJWT {jwt.__version__}. Operations in a second.\n")
    print("| what | beside | rate | zariz | rate | ratio |\n|---|---|---|---|---|---|")
    rows = measure(comparisons(), arguments.seconds)
    for what, theirs, ours, their_rate, our_rate, ratio in rows:
        print(f"| {what} | {theirs} | {their_rate:.0f} | {ours} | {our_rate:.0f} | {ratio:.2f} |")
    if arguments.chart:
        with open(arguments.chart, "w", encoding="utf-8") as file:
            file.write(chart(rows))


if __name__ == "__main__":
    main()
