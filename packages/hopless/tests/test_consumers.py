"""Test that consumers of Channels only hop before a message if a database connection is open."""

import asyncio
import logging

import pytest

channels = pytest.importorskip("channels")

from channels import consumer
from channels.generic.websocket import AsyncWebsocketConsumer
from django.contrib.auth.models import User
from hopless import consumers

from tests.counting import counted


class Echo(AsyncWebsocketConsumer):
    async def receive(self, text_data=None, bytes_data=None):
        if text_data == "count":
            text_data = str(await User.objects.acount())
        await self.send(text_data)


def hops_of(*messages):
    """Send messages over a WebSocket connection, and return the number of hops for each message."""

    async def main():
        received = asyncio.Queue()
        answers = asyncio.Queue()
        await received.put({"type": "websocket.connect"})
        task = asyncio.create_task(Echo.as_asgi()({"type": "websocket"}, received.get, answers.put))
        await answers.get()
        found = []
        for message in messages:
            with counted() as counts:
                await received.put({"type": "websocket.receive", "text": message})
                await answers.get()
            found.append(counts.hops)
        task.cancel()
        return found

    return asyncio.run(main())


@pytest.fixture
def installed(monkeypatch):
    monkeypatch.setattr(consumer, "aclose_old_connections", consumer.aclose_old_connections)
    monkeypatch.setattr(consumers, "_opened", type(consumers._opened)())
    consumers.install()


def test_stock_channels_hops_before_every_message():
    assert hops_of("a", "b") == [1, 1]


def test_no_hops_without_database_connection(installed):
    assert hops_of("a", "b") == [0, 0]


def test_consumer_hops_with_open_connection(installed):
    from django.db import connections

    assert hops_of("a", "count", "b") == [0, 1, 1]

    def close():
        connections.close_all()

    async def main():
        from asgiref.sync import sync_to_async

        await sync_to_async(close)()

    asyncio.run(main())


def test_unsupported_channels_version_is_unchanged(monkeypatch, caplog):
    monkeypatch.delattr(consumer, "aclose_old_connections")
    with caplog.at_level(logging.WARNING, "hopless"):
        consumers.install()
    assert "its consumers are unchanged" in caplog.text
    assert not hasattr(consumer, "aclose_old_connections")
