"""Count the hops and threads of requests to an ASGI application: ``python count_hops.py MODULE PATH...``.

``MODULE`` contains the ``application``. The program requests each path three times before it counts, and prints JSON.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import runpy
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

counted = runpy.run_path(str(Path(__file__).parents[1] / "tests" / "counting.py"))["counted"]


async def ask(application: Any, path: str) -> None:
    """Request a path.

    Raises:
        SystemExit: If the status isn't 200.
    """
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET", "scheme": "http",
        "path": path, "raw_path": path.encode(), "query_string": b"", "headers": [(b"host", b"127.0.0.1")],
    }  # fmt: skip
    coming = asyncio.Queue[Any]()
    coming.put_nowait({"type": "http.request", "body": b""})
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    await application(scope, coming.get, send)
    if not sent or sent[0]["status"] != 200:
        sys.exit(f"{path} must return status 200, but the answer is {sent[:1]}")


async def main() -> None:
    module, *paths = sys.argv[1:]
    sys.path[0] = ""
    application = import_module(module).application
    found = {}
    for path in paths:
        for _ in range(3):
            await ask(application, path)
        with counted() as counts:
            await ask(application, path)
        found[path] = dataclasses.asdict(counts)
    print(json.dumps(found))


if __name__ == "__main__":
    asyncio.run(main())
