"""Set up Django with the tests' project, and provide a client that calls ASGI applications."""

import asyncio
import os

import pytest

os.environ["DJANGO_SETTINGS_MODULE"] = "tests.project.settings"

import django

django.setup()

from django.core.management import call_command
from hopless import get_asgi_application


@pytest.fixture(scope="session", autouse=True)
def database():
    call_command("migrate", verbosity=0)


@pytest.fixture(params=[{}, {"whole": True}, {"idle_threads": 0}], ids=["ours", "whole", "no idle threads"])
def app(request):
    return get_asgi_application(**request.param)


def run(*coroutines):
    async def main():
        return [await one for one in coroutines]

    return asyncio.run(main())


async def ask(app, path, method="GET", headers=(), body=b"", gone_after=None, sending=None):
    """Send a request to an application, and return the status, headers and body of its answer, or None.

    The client disconnects after ``gone_after``: a number of seconds, or a function that blocks until the client
    disconnects. ``sending`` is awaited with each message that the application sends.
    """
    where, _, query = path.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "scheme": "http",
        "method": method,
        "path": where,
        "raw_path": where.encode(),
        "query_string": query.encode(),
        "headers": [(b"host", b"testserver"), *headers],
    }
    sent, asked = [], False

    async def receive():
        nonlocal asked
        if not asked:
            asked = True
            return {"type": "http.request", "body": body}
        if callable(gone_after):
            await asyncio.to_thread(gone_after)
        else:
            await asyncio.sleep(3600 if gone_after is None else gone_after)
        return {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)
        if sending is not None:
            await sending(message)

    await app(scope, receive, send)
    if not sent:
        return None
    return sent[0]["status"], sorted(sent[0]["headers"]), b"".join(one.get("body", b"") for one in sent[1:])
