"""Signatures and decryptions to await: the requests of all tasks are computed in batches.

>>> import asyncio
>>> from zariz import PrivateKey, aio
>>> key = PrivateKey.generate(2048)
>>> signer = aio.Signer(key)
>>> async def main():
...     return await asyncio.gather(*[signer.sign(b"%d" % i, "RS256") for i in range(64)])
>>> signatures = asyncio.run(main())
>>> signatures == [key.sign(b"%d" % i, "RS256") for i in range(64)]
True

The requests that a loop's tasks make in one turn, and those that come while others are computed, share batches; no
request waits for a timer. Worker threads compute, and never wait for the interpreter. A task that is cancelled takes its
request back. Any number of loops in any threads may use one signer, and children of `fork` too. For Unix, and loops that
have `add_reader`, as asyncio's own have there.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from . import _keys
from ._zariz import Batcher, Inbox

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["Batcher", "Signer"]


class _Process:
    """What one process shares: the inboxes of its loops, and the batcher of signers that are given none."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.inboxes: WeakKeyDictionary[asyncio.AbstractEventLoop, Inbox] = WeakKeyDictionary()


_process = _Process()
_batcher = Batcher()


def _forked() -> None:
    # The lock may be held by a thread that is not here, and the loops are the parent's.
    global _process
    _process = _Process()


os.register_at_fork(after_in_child=_forked)


def _inbox(loop: asyncio.AbstractEventLoop) -> Inbox:
    process = _process
    with process.lock:
        inbox = process.inboxes.get(loop)
        if inbox is None:
            for other in [other for other in process.inboxes if other.is_closed()]:
                del process.inboxes[other]
            inbox = Inbox()
            loop.add_reader(inbox.fileno(), _settle, inbox)
            process.inboxes[loop] = inbox
        return inbox


def _settle(inbox: Inbox) -> None:
    """Gives the results that are there to their futures: to all of them, also if one fails."""
    failure: BaseException | None = None
    for future, result in inbox.drain():
        try:
            if not future.done():
                future.set_result(result) if isinstance(result, bytes) else future.set_exception(result)
        except BaseException as error:
            failure = error
    if failure is not None:
        raise failure


class Signer:
    """A private key whose operations are awaited: a `PrivateKey`, or what `PrivateKey.load` takes.

    `batcher` is the queue: by default one that all signers of this process share, with a thread for each processor.
    """

    def __init__(self, key: Any, *, batcher: Batcher | None = None) -> None:
        self._key = _keys.private(key)
        self._batcher = _batcher if batcher is None else batcher

    def __repr__(self) -> str:
        return f"<zariz.aio.Signer with {self._key!r}>"

    @property
    def batcher(self) -> Batcher:
        """The queue, with its metrics."""
        return self._batcher

    async def sign(self, message: Buffer, algorithm: str, *, prehashed: bool = False) -> bytes:
        """Signs a message, as `PrivateKey.sign` does, with its errors.

        A request that is not computed, since the queue is full and refuses, is a `zariz.Error`.
        """
        return await self._result(lambda inbox: inbox.sign, message, algorithm, prehashed)

    async def decrypt(
        self, ciphertext: Buffer, padding: str = "RSA-OAEP-256", *, label: bytes | None = None
    ) -> bytes:
        """Decrypts a ciphertext, as `PrivateKey.decrypt` does, with its errors."""
        return await self._result(lambda inbox: inbox.decrypt, ciphertext, padding, label)

    async def _result(self, ask: Callable[[Inbox], Callable[..., int]], *arguments: Any) -> bytes:
        loop = asyncio.get_running_loop()
        inbox = _inbox(loop)
        future: asyncio.Future[bytes] = loop.create_future()
        request = ask(inbox)(self._batcher, self._key, future, *arguments)
        try:
            return await future
        except BaseException:
            inbox.withdraw(request)
            raise
