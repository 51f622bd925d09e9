"""Cancel a request if its client disconnects before the answer."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from django.core.exceptions import RequestAborted


class UntilClientGoes:
    """Cancel the task in this context if the client disconnects, and leave the context without an exception.

    Listening starts when the task waits for the first time, so a view that never waits can't be cancelled.

    Args:
        listen: A function that waits until the client disconnects, and then raises RequestAborted. If the function
            raises another exception, the context manager raises this exception, too.
    """

    def __init__(self, listen: Callable[[], Awaitable[None]]) -> None:
        self._listen = listen
        self._listening: asyncio.Task[None] | None = None
        self._found: Exception | None = None

    def __enter__(self) -> UntilClientGoes:
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        self._cancelled_before = _cancelling(task)
        self._beginning = asyncio.get_running_loop().call_soon(self._begin)
        return self

    @property
    def client_is_gone(self) -> bool:
        """Whether the client has disconnected."""
        return isinstance(self._found, RequestAborted)

    @property
    def view_has_cancelled(self) -> bool:
        """Whether the view has cancelled its own task, which takes effect at the task's next wait."""
        return _cancelling(self._task) > self._cancelled_before

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
        self._listening = None  # so that the task's traceback doesn't create a reference cycle
        if self._found is None:
            return False
        if sys.version_info >= (3, 11):
            self._task.uncancel()
        if not self.client_is_gone:
            raise self._found
        return kind is asyncio.CancelledError and _cancelling(self._task) <= self._cancelled_before


def _cancelling(task: asyncio.Task[Any]) -> int:
    """Return how many cancellations of a task are pending. Python 3.10 doesn't count them."""
    return task.cancelling() if sys.version_info >= (3, 11) else 0
