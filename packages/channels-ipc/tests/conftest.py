"""Provide channel layers in a temporary directory, and other processes that use the directory."""

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from channels_ipc.core import IPCChannelLayer

PACKAGE = Path(__file__).parents[1]

PRELUDE = """
import asyncio, os, sys, time
from channels.exceptions import ChannelFull
from channels_ipc.core import IPCChannelLayer
layer = IPCChannelLayer(path=os.environ["LAYER"], capacity=int(os.environ.get("CAPACITY", "100")))
"""


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine function in a new event loop."""
    if not asyncio.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


@pytest.fixture
def path() -> Iterator[Path]:
    parent = "/dev/shm" if os.path.isdir("/dev/shm") else None
    directory = Path(tempfile.mkdtemp(prefix="test-ipc-", dir=parent))
    yield directory / "layer"
    shutil.rmtree(directory)


@pytest.fixture
def make_layer(path: Path) -> Iterator[Callable[..., IPCChannelLayer]]:
    """Return a function that creates layers, which are closed after the test."""
    made = []

    def make(**config: Any) -> IPCChannelLayer:
        made.append(IPCChannelLayer(**{"path": path, **config}))
        return made[-1]

    yield make
    for layer in made:
        asyncio.run(layer.close())


@pytest.fixture
def layer(make_layer: Callable[..., IPCChannelLayer]) -> IPCChannelLayer:
    return make_layer(capacity=3, expiry=60)


@pytest.fixture
def start(path: Path) -> Iterator[Callable[..., "subprocess.Popen[str]"]]:
    """Return a function that runs Python code in another process, which is killed after the test.

    In the code, ``layer`` is a layer with the same path.
    """
    started = []

    def start(code: str, *arguments: object, capacity: int = 100, **options: Any) -> "subprocess.Popen[str]":
        started.append(
            subprocess.Popen(
                [sys.executable, "-c", PRELUDE + textwrap.dedent(code), *map(str, arguments)],
                env={
                    **os.environ,
                    "PYTHONPATH": str(PACKAGE),
                    "LAYER": str(path),
                    "CAPACITY": str(capacity),
                },
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                **options,
            )
        )
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def receive_now() -> Callable[[IPCChannelLayer, str], Awaitable[dict[str, Any] | None]]:
    """Return a function that receives a message without waiting, and returns None if there is no message.

    The function relies on the first check of ``receive()``, which finds messages that have been sent.
    """

    async def receive(layer: IPCChannelLayer, channel: str) -> dict[str, Any] | None:
        received = asyncio.create_task(layer.receive(channel))
        await asyncio.sleep(0)
        if received.done():
            return received.result()
        received.cancel()
        await asyncio.gather(received, return_exceptions=True)
        return None

    return receive


@pytest.fixture
def nothing_comes(receive_now: Callable[..., Any]) -> Callable[[IPCChannelLayer, str], Awaitable[None]]:
    """Return a function that checks that a channel contains no message."""

    async def check(layer: IPCChannelLayer, channel: str) -> None:
        assert await receive_now(layer, channel) is None

    return check


@pytest.fixture
def soon() -> Callable[["asyncio.Task[Any]"], Awaitable[Any]]:
    """Return a function that returns the result of a task after a few iterations of the event loop.

    Waiting receivers only check their channels each second, so a task that is done earlier was woken by the sender.
    """

    async def result(task: "asyncio.Task[Any]") -> Any:
        for _ in range(10):
            await asyncio.sleep(0)
        assert task.done()
        return task.result()

    return result
