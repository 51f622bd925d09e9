"""Provide a front or a worker with an in-memory layer. The tests simulate the other side."""

import asyncio
import os
from collections import deque

import django
import pytest
from channels.layers import InMemoryChannelLayer

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "testproject.settings.base")
django.setup()

from channels_relay.front import RelayFront  # noqa: E402  (needs the settings)
from channels_relay.messages import CONTROL, REPLIES, REQUESTS, WORKERS  # noqa: E402
from channels_relay.options import Options  # noqa: E402
from channels_relay.worker import RelayWorker  # noqa: E402


class Layer(InMemoryChannelLayer):
    """An in-memory layer whose calls raise the errors in ``send_failures`` and ``receive_failures`` in turn."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.send_failures = deque()
        self.receive_failures = deque()

    async def send(self, channel, message):
        if self.send_failures:
            raise self.send_failures.popleft()
        await super().send(channel, message)

    async def receive(self, channel):
        if channel == REQUESTS and self.receive_failures:
            raise self.receive_failures.popleft()
        return await super().receive(channel)


class Client:
    """An HTTP client, as a server presents it to an ASGI application."""

    def __init__(self, app, body=b"", chunk=8192, headers=(), **scope):
        self.sent = []
        self.leaves = asyncio.Event()
        pieces = [body[at : at + chunk] for at in range(0, len(body), chunk)] or [b""]
        self.unread = deque(
            {"type": "http.request", "body": piece, "more_body": number < len(pieces) - 1}
            for number, piece in enumerate(pieces)
        )
        self.scope = {
            "type": "http",
            "path": "/",
            "headers": [(b"host", b"127.0.0.1"), *headers],
            "state": {"of": "the server"},
            **scope,
        }
        self.done = asyncio.create_task(app(self.scope, self.receive, self.send))

    async def receive(self):
        if self.unread:
            return self.unread.popleft()
        await self.leaves.wait()
        return {"type": "http.disconnect"}

    async def send(self, message):
        self.sent.append(message)

    @property
    def status(self):
        return self.sent[0]["status"]

    @property
    def body(self):
        return b"".join(message["body"] for message in self.sent[1:])

    @property
    def complete(self):
        return bool(self.sent) and not self.sent[-1].get("more_body", True)


class Bench:
    """A layer with fronts and workers. The methods simulate the front or the workers if a test doesn't start them."""

    def __init__(self, timeout=5.0, **layer):
        self.layer = Layer(**layer)
        self.options = Options(timeout=timeout)
        self._tasks = []

    def front(self, **options):
        return RelayFront(self.layer, Options(**{"timeout": self.options.timeout, **options}))

    def start(self, application):
        """Start a worker that runs the application. Return the worker and its task."""
        worker = RelayWorker(application, self.layer, self.options)
        task = asyncio.create_task(worker.run())
        self._tasks.append(task)
        return worker, task

    async def request_of(self, front, **kwargs):
        """Send a client's request to the front. Return the message that a worker receives, and the client."""
        client = Client(front, **kwargs)
        return await self.next_message(REQUESTS), client

    async def next_message(self, channel):
        return await asyncio.wait_for(self.layer.receive(channel), 5)

    async def join_workers(self):
        """Return a channel in the workers' group, which receives the messages to all workers."""
        channel = await self.layer.new_channel(CONTROL)
        await self.layer.group_add(WORKERS, channel)
        return channel

    async def replies(self):
        return await self.layer.new_channel(REPLIES)

    async def is_empty(self, channel):
        """Return whether the channel is still empty after all ready tasks have run."""
        for _ in range(50):
            await asyncio.sleep(0)
        return channel not in self.layer.channels or self.layer.channels[channel].empty()


@pytest.fixture
def bench(request):
    """Return a bench whose arguments come from the test's parameter."""
    return Bench(**getattr(request, "param", {}))
