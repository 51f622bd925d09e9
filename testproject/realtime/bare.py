"""Implement the endpoints without Channels, consumers or a layer, to measure the cost of the server.

Rooms exist within one process. Each receiver has a queue with the default capacity of a channel layer. As with a layer,
new messages for a full queue are lost, so a slow receiver doesn't delay other receivers.
"""

import asyncio
import contextlib
import re

from .origins import allowed
from .words import JOINED, OK, ROOM, SUBPROTOCOL

CAPACITY = 100

rooms = {}


async def echo(room, receive, send):
    """Send back each message until the client disconnects."""
    while (event := await receive())["type"] == "websocket.receive":
        await send({**event, "type": "websocket.send"})


async def join(room, receive, send):
    """Send the room's messages to the client."""
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
    """Send the messages in a receiver's queue. Servers raise OSError after the client has disconnected."""
    with contextlib.suppress(OSError):
        while True:
            await send({"type": "websocket.send", "text": await queue.get()})


async def publish(room, receive, send):
    """Put each text into the queue of each member of the room."""
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
    """Serve WebSockets as an ASGI application."""
    await receive()  # websocket.connect
    for path, endpoint in ENDPOINTS:
        if (match := path.fullmatch(scope["path"])) and allowed(scope):
            offered = SUBPROTOCOL in scope["subprotocols"]
            await send({"type": "websocket.accept", "subprotocol": SUBPROTOCOL if offered else None})
            with contextlib.suppress(OSError):
                await endpoint(match.groupdict().get("room"), receive, send)
            return
    await send({"type": "websocket.close"})  # closing before accepting answers 403
