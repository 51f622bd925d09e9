"""The same endpoints as an ASGI application without Channels, consumers or a layer: what the server alone costs.

Rooms are within one process. A receiver has a queue of as many messages as a channel layer's has by default, and what
does not fit is lost to it, as with a layer: one that reads slowly holds up nobody else.
"""

import asyncio
import contextlib
import re

from .origins import allowed
from .words import JOINED, OK, ROOM, SUBPROTOCOL

CAPACITY = 100

rooms = {}


async def echo(room, receive, send):
    """Sends back each message until the client goes."""
    while (event := await receive())["type"] == "websocket.receive":
        await send({**event, "type": "websocket.send"})


async def join(room, receive, send):
    """Passes on what is published in the room."""
    queue = asyncio.Queue(CAPACITY)
    members = rooms.setdefault(room, set())
    members.add(queue)
    await send({"type": "websocket.send", "text": JOINED})
    passing_on = asyncio.create_task(pass_on(queue, send))
    try:
        while (await receive())["type"] == "websocket.receive":
            pass
    finally:
        passing_on.cancel()
        members.discard(queue)
        if not members and rooms.get(room) is members:
            del rooms[room]
        await asyncio.gather(passing_on, return_exceptions=True)


async def pass_on(queue, send):
    """Sends what comes into a receiver's queue. Servers raise OSError once the client has gone."""
    with contextlib.suppress(OSError):
        while True:
            await send({"type": "websocket.send", "text": await queue.get()})


async def publish(room, receive, send):
    """Puts each text into the queue of everybody in the room."""
    while (event := await receive())["type"] == "websocket.receive":
        for queue in rooms.get(room, ()):
            with contextlib.suppress(asyncio.QueueFull):
                queue.put_nowait(event.get("text"))
        await send({"type": "websocket.send", "text": OK})


ENDPOINTS = [
    (re.compile("/ws/echo/"), echo),
    (re.compile(f"/ws/rooms/{ROOM}/"), join),
    (re.compile(f"/ws/publish/{ROOM}/"), publish),
]


async def websocket(scope, receive, send):
    """The ASGI application."""
    await receive()  # websocket.connect
    for path, endpoint in ENDPOINTS:
        if (match := path.fullmatch(scope["path"])) and allowed(scope):
            offered = SUBPROTOCOL in scope["subprotocols"]
            await send({"type": "websocket.accept", "subprotocol": SUBPROTOCOL if offered else None})
            with contextlib.suppress(OSError):
                await endpoint(match.groupdict().get("room"), receive, send)
            return
    await send({"type": "websocket.close"})  # before it is accepted: 403
