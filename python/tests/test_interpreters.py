"""What an interpreter can do to a native module: a second one, its end, threads that change what is read, references."""

from __future__ import annotations

import contextlib
import gc
import random
import subprocess
import sys
import threading
import weakref
from typing import Any

import pytest

import zariz
from public import ODD, called, calls
from test_hostile import Fails
from zariz import aio

SECOND = """
import sys, zariz
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
program = '''
try:
    import zariz
    print("imported")
except ImportError as error:
    print("refused")
'''
run = getattr(interpreters, "exec", None) or interpreters.run_string
made = 0
for arguments, more in (((), {}), (("legacy",), {}), ((), {"isolated": False})):
    try:
        second = interpreters.create(*arguments, **more)
    except TypeError:
        continue  # Other versions have other settings.
    made += 1
    run(second, program)
    interpreters.destroy(second)
try:
    zariz.Modulus(4)
except zariz.InvalidModulus:
    print("good", made)
"""


def test_a_second_interpreter_is_refused() -> None:
    """It would share classes and exceptions with the first, also after the end of either."""
    result = subprocess.run([sys.executable, "-W", "ignore", "-c", SECOND], capture_output=True, text=True)
    *refused, good = result.stdout.splitlines() or [result.stderr]
    assert good == f"good {len(refused)}" and set(refused) == {"refused"}, result.stdout + result.stderr


ENDED = """
import sys, threading, time, zariz
m, key = zariz.Modulus((1 << 4253) - 1), zariz.PrivateKey.generate(1024)
calls = {
    "powers": lambda: m.pow_batch([3] * 100, 1 << 4000, threads=2),
    "signatures": lambda: key.sign_batch([b"m"] * 500, "RS256"),
    "one": lambda: key.sign(b"m", "RS256"),
    "keys": lambda: zariz.PrivateKey.generate_many(1024, 2),
    "loading": lambda: zariz.PrivateKey.load(key.to_pem()),
}
started = threading.Semaphore(0)
def work():
    started.release()
    while True:
        calls[sys.argv[1]]()
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
for _ in range(4):
    started.acquire()
class Ends:
    closed = False
    def flush(self):
        time.sleep(0.3)  # The interpreter ends, and the threads want to go on.
sys.stdout = Ends()
"""


@pytest.mark.parametrize("call", ["powers", "signatures", "one", "keys", "loading"])
def test_a_program_may_end_while_daemon_threads_compute(call: str) -> None:
    result = subprocess.run([sys.executable, "-c", ENDED, call], capture_output=True, text=True)
    assert (result.stderr, result.returncode) == ("", 0)


class Changes:
    """An int whose every use changes what another call may be reading, and starts calls of its own."""

    def __init__(self, shared: list[Any], data: bytearray) -> None:
        self.shared, self.data, self.m = shared, data, zariz.Modulus(ODD)

    def __index__(self) -> int:
        chosen = random.randrange(7)
        if chosen == 0:
            self.shared.clear()
        elif chosen == 1:
            self.shared.extend([5, b"a", self])
        elif chosen == 2:
            with contextlib.suppress(BufferError):  # It is being read.
                self.data.extend(bytes(random.randrange(5000)))
        elif chosen == 3:
            with contextlib.suppress(BufferError):
                self.data.clear()
        elif chosen == 4:
            self.m.pow_batch([3] * 3, 5, progress=lambda _: gc.collect(0))
        elif chosen == 5:
            raise LookupError("chosen")
        return 5


def test_right_results_under_a_load_of_hostile_calls(key: zariz.PrivateKey) -> None:
    """Threads read lists and buffers that others change; other threads' results are right all the while."""
    m, shared, data = zariz.Modulus(ODD), list[Any](), bytearray(b"3")
    stop, failures = threading.Event(), list[BaseException]()

    def hostile_calls() -> None:
        values = [shared, data, Changes(shared, data), [Changes(shared, data)] * 9, [data] * 9, [3, 5], 7]
        arguments = [values, values, [None, print, lambda _: shared.clear()]]
        for _ in range(400):
            a, b, progress = map(random.choice, arguments)
            call = random.choice([m.pow_batch, m.pow_batch_vartime, lambda a, b, **more: zariz.mul_many(ODD, a, b, **more)])
            try:
                call(a, b, threads=random.choice([1, 3]), progress=None if progress is print else progress)
                key.sign_batch(a, "RS256")
            except (TypeError, zariz.Error, LookupError):
                pass

    def truth() -> None:
        messages, powers = [b"%d" % i for i in range(20)], [pow(i, 77, ODD) for i in range(20)]
        signatures = key.sign_batch(messages, "RS256")
        while not stop.is_set():
            assert key.sign_batch(messages, "RS256") == signatures
            assert m.pow_batch(range(20), 77) == powers

    def guarded(work: Any) -> None:
        try:
            work()
        except BaseException as error:
            failures.append(error)

    attackers = [threading.Thread(target=guarded, args=[hostile_calls]) for _ in range(4)]
    others = [threading.Thread(target=guarded, args=[truth]) for _ in range(2)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in attackers + others:
            thread.start()
        for thread in attackers:
            thread.join()
        stop.set()
        for thread in others:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not failures


def test_cycles_are_collected(key: zariz.PrivateKey) -> None:
    """An inbox holds futures, which may hold it."""

    class Future:
        inbox: aio.Inbox

    future, batcher = Future(), aio.Batcher(threads=1)
    future.inbox = aio.Inbox()
    future.inbox.sign(batcher, key, future, b"m", "RS256", False)
    gone = weakref.ref(future)
    del future
    gc.collect()
    assert gone() is None


@pytest.mark.skipif(not hasattr(sys, "gettotalrefcount"), reason="needs a debug build of Python")
def test_no_reference_is_lost(key: zariz.PrivateKey) -> None:
    """For good arguments and bad ones."""

    def grown(function: Any, arguments: dict[str, Any], times: int) -> int:
        gc.collect()
        before = sys.gettotalrefcount()  # type: ignore[attr-defined]
        for _ in range(times):
            with contextlib.suppress(Exception):
                called(function, arguments)
        gc.collect()
        return int(sys.gettotalrefcount()) - before  # type: ignore[attr-defined]

    for name, (function, arguments) in calls(key).items():
        if "generate" in name:
            continue  # Too slow.
        if "progress" in arguments:
            arguments["progress"] = int
        # No arrays of other libraries: those are compiled without the count.
        values: list[Any] = [None, "text", [None], [1, b"a"], -1, Fails()]
        for bad in [{}, *({argument: value} for argument in arguments for value in values)]:
            given = arguments | bad
            grown(function, given, 3)
            # One reference or object lost in each call would show.
            assert min(grown(function, given, 20) for _ in range(3)) < 15, (name, bad.keys(), type([*bad.values(), 0][0]))
