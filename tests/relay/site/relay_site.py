"""What the workers of test_processes.py run: Django, and two paths that tell the tests what happened.

`/handled?ID` notes the id; `/hold?ID` notes it and answers once the file release-ID is there. Both answer with the
worker's process id. Notes are lines of the file handled-PID. All files are in RELAY_NOTES.
"""

import asyncio
import os
from pathlib import Path

from channels_relay.worker import RelayHandler

NOTES = Path(os.environ["RELAY_NOTES"])
django = RelayHandler()


def note(id):
    with open(NOTES / f"handled-{os.getpid()}", "a") as notes:
        notes.write(f"{id}\n")


async def released(id):
    # The event loop sees what came before the file first: what was sent to a worker by then, it knows when it goes on.
    while not (NOTES / f"release-{id}").exists():  # noqa: ASYNC110  (files have no events)
        await asyncio.sleep(0.01)


async def application(scope, receive, send):
    if scope["path"] not in ("/handled", "/hold"):
        await django(scope, receive, send)
        return
    id = scope["query_string"].decode()
    note(id)
    if scope["path"] == "/hold":
        await released(id)
    body = str(os.getpid()).encode()
    headers = [(b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})
