"""Provide clients that call the WebSocket applications directly, like an ASGI server."""

import asyncio
import contextlib
import os

import django
import pytest
from django.test import override_settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "testproject.settings.base")
django.setup()

from asgiref.testing import ApplicationCommunicator  # noqa: E402

MEMORY = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}


class Socket:
    """A client's WebSocket connection to an ASGI application."""

    def __init__(self, application, path, origin="http://localhost:8000", subprotocols=()):
        headers = [(b"host", b"localhost:8000"), *([(b"origin", origin.encode())] if origin else [])]
        scope = {"type": "websocket", "path": path, "headers": headers, "subprotocols": list(subprotocols)}
        self.communicator = ApplicationCommunicator(application, {**scope, "query_string": b"", "root_path": ""})

    async def open(self):
        """Return the application's answer to the handshake."""
        await self.communicator.send_input({"type": "websocket.connect"})
        return await self.event()

    async def event(self):
        return await self.communicator.receive_output(5)

    async def say(self, text=None, binary=None):
        """Send a message, and return the answer."""
        await self.communicator.send_input({"type": "websocket.receive", "text": text, "bytes": binary})
        return await self.heard()

    async def heard(self):
        event = await self.event()
        assert event["type"] == "websocket.send"
        return event["text"] if event.get("text") is not None else event["bytes"]

    async def close(self):
        with contextlib.suppress(asyncio.CancelledError):
            await self.communicator.send_input({"type": "websocket.disconnect", "code": 1000})
            await self.communicator.wait(5)


@pytest.fixture(autouse=True)
def settings():
    with override_settings(CHANNEL_LAYERS=MEMORY, ALLOWED_HOSTS=["localhost", "[::1]", ".example.com"]):
        yield


@pytest.fixture
def channels():
    from channels.routing import URLRouter
    from realtime.origins import AllowedOrigins
    from realtime.routing import routes

    return AllowedOrigins(URLRouter(routes))


@pytest.fixture
def bare():
    from realtime.bare import rooms, websocket

    yield websocket
    assert rooms == {}


@pytest.fixture(params=["channels", "bare"])
def application(request):
    return request.getfixturevalue(request.param)


@pytest.fixture
def connect(at_end):
    """Return a coroutine function that opens a socket until the end of the test.

    The function returns the socket and the application's answer.
    """

    async def connect(application, path, **more):
        socket = Socket(application, path, **more)
        answer = await socket.open()
        at_end.append(socket.close)
        return socket, answer

    return connect
