"""Implement the endpoints with python-socketio, next to Django: the dialect `socket.io` of docs/websockets.rst."""

import socketio

HEARTBEAT_S = 20  # the interval of the other dialects, because the default would be 25 s

# By default, the server accepts the origins of its host. Rooms exist within one process.
server = socketio.AsyncServer(
    async_mode="asgi", transports=["websocket"], ping_interval=HEARTBEAT_S, ping_timeout=HEARTBEAT_S
)


@server.event
async def echo(sid, payload):
    await server.emit("echo", payload, to=sid)


@server.event
async def join(sid, room):
    await server.enter_room(sid, room)
    return "joined"


@server.event
async def publish(sid, room, payload):
    await server.emit("message", payload, room=room)
    return "ok"
