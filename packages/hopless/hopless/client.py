"""A client that goes before it is answered: its request is cancelled."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from django.core.exceptions import RequestAborted


class UntilClientGoes:
    """Cancels the task that enters this if the client goes, and ends without an exception, like ``asyncio.timeout``.

    ``listen`` waits until then, and raises RequestAborted; what else it raises, leaving this raises. It is called once
    the task has to wait for something: a view that never waits has nothing to be cancelled in.
    """

    def __init__(self, listen: Callable[[], Awaitable[None]]) -> None:
        self._listen = listen
        self._listening: asyncio.Task[None] | None = None
        self._found: Exception | None = None

    def __enter__(self) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        self._cancelled_before = _cancelling(task)
        self._beginning = asyncio.get_running_loop().call_soon(self._begin)

    def _begin(self) -> None:
        self._listening = asyncio.create_task(self._wait())

    async def _wait(self) -> None:
        try:
            await self._listen()
        except Exception as error:
            self._found = error
            self._task.cancel()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        self._beginning.cancel()
        if self._listening is None:
            return False
        self._listening.cancel()
        self._listening = None  # else its traceback would be a cycle, for the garbage collector to find
        if self._found is None:
            return False
        if sys.version_info >= (3, 11):
            self._task.uncancel()
        if not isinstance(self._found, RequestAborted):
            raise self._found
        return kind is asyncio.CancelledError and _cancelling(self._task) <= self._cancelled_before


def _cancelling(task: asyncio.Task[Any]) -> int:
    """How many have asked a task to end. Python 3.10 does not count them."""
    return task.cancelling() if sys.version_info >= (3, 11) else 0
