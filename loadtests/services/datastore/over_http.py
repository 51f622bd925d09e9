"""Serve the datastore over HTTP as an ASGI application, with protobuf bodies as in the client library.

The application also answers two paths of Google's emulator, ``GET /`` to check that it runs and ``POST /reset`` to
delete all entities, and the path ``GET /counts``. The application refuses requests from web pages, because
otherwise any open page could delete or write data.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from google.protobuf.message import DecodeError
from google.rpc.status_pb2 import Status as StatusMessage

from loadtests.services.cross_origin import of_a_page
from loadtests.services.datastore.methods import METHODS, Datastore
from loadtests.services.datastore.refusals import Refusal, Status

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

PATH = re.compile(r"/v1/projects/[^/:]+:(\w+)")
PROTOBUF = "application/x-protobuf"
BY_NAME = {method.http_name: method for method in METHODS}


def application(datastore: Datastore) -> Callable[[Scope, Receive, Send], Awaitable[None]]:
    """Return the ASGI application."""

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise ValueError(f"{scope['type']} is not supported, only http")
        body = await _body(receive)
        if any(of_a_page(*header) for header in scope["headers"]):
            status, kind, answer = 403, "text/plain", b"requests from web pages are refused\n"
        else:
            status, kind, answer = await _answer(datastore, scope["method"], scope["path"], body)
        headers = [(b"content-type", kind.encode()), (b"content-length", b"%d" % len(answer))]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": answer})

    return application


async def _answer(datastore: Datastore, method: str, path: str, body: bytes) -> tuple[int, str, bytes]:
    """Return the status, content type and body of an answer."""
    if (method, path) == ("GET", "/"):
        return 200, "text/plain", b"Ok\n"
    if (method, path) == ("GET", "/counts"):
        return 200, "application/json", json.dumps(dataclasses.asdict(datastore.counts)).encode()
    if (method, path) == ("POST", "/reset"):
        datastore.reset()
        return 200, "text/plain", b"Reset\n"
    try:
        match = PATH.fullmatch(path)
        called = BY_NAME.get(match[1]) if match else None
        if method != "POST" or called is None:
            raise Refusal(Status.UNIMPLEMENTED, f"{method} {path} is not implemented")
        try:
            request = called.request.FromString(body)
        except DecodeError:
            raise Refusal(Status.INVALID_ARGUMENT, f"the body is not a {called.name}Request") from None
        response = await datastore.answer(called, request)
    except Refusal as refusal:
        message = StatusMessage(code=refusal.status.number, message=refusal.message)
        return refusal.status.http, PROTOBUF, message.SerializeToString()
    return 200, PROTOBUF, response.SerializeToString()


async def _body(receive: Receive) -> bytes:
    parts, more = [], True
    while more:
        message = await receive()
        parts.append(message.get("body", b""))
        more = message.get("more_body", False)
    return b"".join(parts)
