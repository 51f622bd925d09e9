"""What both benchmarks of the layers run: child processes on given cores, a Redis, and the layers by name."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from loadtests.cleanup import folders, program
from loadtests.cleanup.program import running
from loadtests.errors import UserError
from loadtests.measure.layers.rounds import IPC, MEMORY, PIPES, PUBSUB, REDIS
from loadtests.setups import redis

READY = "ready"  # what a child prints once it answers
REDIS_STARTS_WITHIN_S = 10.0


def module(name: str, *arguments: object) -> list[str]:
    """The command that runs a module of this package."""
    return [sys.executable, "-m", f"loadtests.measure.layers.{name}", *map(str, arguments)]


def line(process: subprocess.Popen[str], name: str) -> str:
    """The next line that a process of the layer called ``name`` prints. Raises UserError where it ends instead."""
    return program.line(process, f"{name} could not be measured")


@contextlib.contextmanager
def address(name: str, cores: Sequence[int]) -> Iterator[str]:
    """Where the layer called ``name`` is reached: a path in memory, as a deployment's would be, or the URL of a
    Redis."""
    with folders.private("layers", memory=True) as folder:
        if name in (REDIS, PUBSUB):
            with redis_server(folder, cores) as url:
                yield url
        else:
            yield str(folder / "exchange")


@contextlib.contextmanager
def redis_server(folder: Path, cores: Sequence[int]) -> Iterator[str]:
    """The URL of a Redis: REDIS_URL if set, else one of our own on a Unix socket in ``folder``, without persistence.

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
        end = time.monotonic() + REDIS_STARTS_WITHIN_S
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


def channel_layer(name: str, address: str) -> Any:
    """The channel layer called ``name`` at its address."""
    if name == MEMORY:
        from channels.layers import InMemoryChannelLayer

        return InMemoryChannelLayer()
    if name == PIPES:
        from loadtests.measure.layers.bare_pipes import BarePipes

        return BarePipes(address)
    if name == IPC:
        from channels_ipc.core import IPCChannelLayer

        return IPCChannelLayer(path=address)
    from channels_redis.core import RedisChannelLayer
    from channels_redis.pubsub import RedisPubSubChannelLayer

    # The layer blocks for five seconds in BZPOPMIN, and redis-py 8 gives up after five; it also raises beyond 100
    # connections, which is not what is measured here.
    layer = {REDIS: RedisChannelLayer, PUBSUB: RedisPubSubChannelLayer}[name]
    return layer(hosts=[{"address": address, "socket_timeout": None, "max_connections": 1000}])
