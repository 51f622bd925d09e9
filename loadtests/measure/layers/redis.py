"""The Redis that channels_redis is measured with."""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from loadtests.errors import UserError
from loadtests.measure.layers.children import running
from loadtests.setups import redis

START_TIMEOUT_S = 10.0


@contextlib.contextmanager
def serving(folder: Path, cores: Sequence[int]) -> Iterator[str]:
    """The URL of a Redis: REDIS_URL if set, else one of our own on a Unix socket in ``folder``, keeping nothing.

    Raises UserError where there is none, or it does not start.
    """
    if url := os.environ.get("REDIS_URL"):
        yield url
        return
    binary = redis.executable()
    if binary is None:
        raise UserError("no Redis to measure: set REDIS_URL, or install redis-server, or run 'make setup'")
    path = folder / "redis.sock"
    options = ["--port", "0", "--unixsocket", str(path), "--save", "", "--appendonly", "no", "--dir", str(folder)]
    with running([binary, *options], cores) as server:
        end = time.monotonic() + START_TIMEOUT_S
        while not _answers(path):
            if server.poll() is not None or time.monotonic() > end:
                raise UserError(f"redis-server did not start on {path}")
            time.sleep(0.02)
        yield f"unix://{path}"


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(str(path))
            client.sendall(b"PING\r\n")
            return client.recv(16).startswith(b"+PONG")
        except OSError:
            return False
