"""A token issuer for any ASGI server: `ISSUER_KEY=key.pem uvicorn issuer:app` (also hypercorn, granian).

    POST /token  {"sub": "alice"}  ->  {"access_token": "eyJ…", "token_type": "Bearer", "expires_in": 3600}

The requests of all connections share batches. Who may ask for whom is not decided here: put this behind what
authenticates callers.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from base64 import urlsafe_b64encode
from collections.abc import Awaitable, Callable
from typing import Any

import zariz
from zariz import aio

LIFETIME = 3600
MAX_BODY = 4096
# The most seconds that a request waits for its signature.
PATIENCE = 10

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


def base64url(data: bytes) -> bytes:
    return urlsafe_b64encode(data).rstrip(b"=")


HEADER = base64url(b'{"alg":"RS256","typ":"JWT"}')


class Refused(Exception):
    """A request that gets no token: the status and the reason."""


class Issuer:
    """The application. Servers call it once for each request."""

    def __init__(self, key: Any) -> None:
        # When too many wait, callers hear so at once.
        self.signer = aio.Signer(key, batcher=aio.Batcher(refuse=True))

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            # Servers go on without the other protocols when an application refuses them so.
            raise NotImplementedError(f"this serves http, not {scope['type']}")
        try:
            if (scope["method"], scope["path"]) != ("POST", "/token"):
                raise Refused(404, "ask by POST /token")
            status, answer = 200, await self.token(await read(receive))
        except Refused as refused:
            status, answer = refused.args[0], {"error": refused.args[1]}
        content = json.dumps(answer).encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(content)),
            (b"cache-control", b"no-store"),
        ]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": content})

    async def token(self, body: bytes) -> dict[str, Any]:
        """The answer to a body."""
        try:
            subject = json.loads(body)["sub"]
        except (ValueError, LookupError, TypeError, RecursionError):
            subject = None
        if not isinstance(subject, str):
            raise Refused(400, 'the body is not {"sub": "…"}')
        now = int(time.time())
        payload = json.dumps({"sub": subject, "iat": now, "exp": now + LIFETIME}).encode()
        signed = HEADER + b"." + base64url(payload)
        try:
            async with asyncio.timeout(PATIENCE):
                signature = await self.sign(signed)
        except (zariz.Error, TimeoutError):
            raise Refused(503, "too many requests wait; try again later") from None
        token = signed + b"." + base64url(signature)
        return {"access_token": token.decode(), "token_type": "Bearer", "expires_in": LIFETIME}

    async def sign(self, message: bytes) -> bytes:
        """The signature of RS256. What signs otherwise has another one."""
        return await self.signer.sign(message, "RS256")


async def read(receive: Receive) -> bytes:
    """The whole body, if it is not too long."""
    body, more = b"", True
    while more:
        event = await receive()
        if event["type"] == "http.disconnect":
            raise Refused(400, "the caller is gone")
        body += event.get("body", b"")
        more = event.get("more_body", False)
        if len(body) > MAX_BODY:
            raise Refused(413, f"the body is longer than {MAX_BODY} bytes")
    return body


if "ISSUER_KEY" in os.environ:
    app = Issuer(os.environ["ISSUER_KEY"])
