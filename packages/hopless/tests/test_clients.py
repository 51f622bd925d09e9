"""Test clients that disconnect, servers that stop, and request bodies in several parts."""

import asyncio
import sys
import threading
from contextlib import suppress

import pytest
from django.core.asgi import get_asgi_application as djangos
from django.db import connections
from django.db.backends.signals import connection_created
from django.test import override_settings
from hopless import get_asgi_application

from tests.conftest import ask, run
from tests.project.urls import later, stop


@pytest.mark.parametrize("path", ["/async/slow/", "/slow/"])
def test_disconnected_client_leaves_others_unaffected(app, path):
    gone, after = run(ask(app, path, gone_after=0.05), ask(app, "/ok/"))
    assert gone is None or gone[0] == 200  # synchronous views can't be cancelled, so the answer may still be sent
    assert after[2] == b"ok"


def test_disconnection_cancels_the_view(app):
    later.pop("cancelled", None)
    assert run(ask(app, "/waits-for-ever/", gone_after=0.01)) == [None]
    assert later["cancelled"]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="asyncio.timeout")
def test_timeout_and_disconnection_are_distinguished(app):
    """Check that a timeout in the view and a disconnection are distinguished, because both cancel the same task."""
    in_time, gone = run(ask(app, "/times-out/?after=0.01"), ask(app, "/times-out/?after=60", gone_after=0.01))
    assert in_time[2] == b"in time"
    assert gone is None


@pytest.mark.parametrize("make", [djangos, get_asgi_application])
def test_connection_opened_after_disconnection_is_closed(make):
    app = make()
    opened = []

    def remember(connection, **_):
        opened.append(connection)

    async def main():
        later["asking"] = threading.Event()
        stop.clear()
        request = asyncio.create_task(ask(app, "/asks-late/", gone_after=later["asking"].wait))
        await asyncio.to_thread(later["asking"].wait)
        await asyncio.sleep(0.05)
        stop.set()
        await request

    connection_created.connect(remember)
    connections.settings["default"]["CONN_MAX_AGE"] = 0
    try:
        asyncio.run(main())
    finally:
        connections.settings["default"]["CONN_MAX_AGE"] = 600
        connection_created.disconnect(remember)
    assert [one.connection for one in opened] == [None]


def test_stopping_server_cancels_the_request(app):
    """Check that the view's cleanup code runs before the request ends, and that no task is left."""
    later.pop("cancelled", None)

    async def main():
        request = asyncio.create_task(ask(app, "/waits-for-ever/"))
        await asyncio.sleep(0.05)
        request.cancel()
        with suppress(asyncio.CancelledError):
            await request
        assert request.cancelled()
        assert later["cancelled"]
        await asyncio.sleep(0)
        return len(asyncio.all_tasks())

    assert asyncio.run(main()) == 1


def test_disconnection_closes_streaming_response(app):
    later.pop("closed", None)
    [answer] = run(ask(app, "/streams-for-ever/", gone_after=0.05))
    assert answer[2].startswith(b"part,part,")
    assert later["closed"]


@pytest.mark.parametrize("path", ["/post/", "/async/post/"])
def test_body_in_parts_is_joined(app, path):
    parts = [b"a=", b"x" * 100_000, b"y" * 3_000_000, b"&csrfmiddlewaretoken=" + b"a" * 32]

    async def main(app):
        coming = iter(parts)
        sent = []

        async def receive():
            part = next(coming, None)
            if part is None:
                await asyncio.sleep(60)
            return {"type": "http.request", "body": part, "more_body": part is not parts[-1]}

        async def send(message):
            sent.append(message)

        form = b"application/x-www-form-urlencoded"
        headers = [(b"host", b"testserver"), (b"content-type", form), (b"cookie", b"csrftoken=" + b"a" * 32)]
        headers.append((b"content-length", str(sum(map(len, parts))).encode()))
        await app({"type": "http", "method": "POST", "path": path, "headers": headers}, receive, send)
        return sent[0]["status"], b"".join(message.get("body", b"") for message in sent[1:])

    with override_settings(DATA_UPLOAD_MAX_MEMORY_SIZE=10_000_000):
        assert asyncio.run(main(app)) == asyncio.run(main(djangos())) == (200, b"x" * 100_000 + b"y" * 3_000_000)


def test_incomplete_request_gets_no_answer(app):
    async def receive():
        return {"type": "http.disconnect"}

    sent = []
    run(app({"type": "http", "method": "GET", "path": "/", "headers": []}, receive, sent.append))
    assert sent == []


def test_other_protocols_are_refused(app):
    with pytest.raises(ValueError, match="Django can only handle ASGI/HTTP connections, not websocket"):
        run(app({"type": "websocket"}, None, None))
