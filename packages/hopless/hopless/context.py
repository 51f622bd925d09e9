"""Isolate the context variables of a request from the server's task, as a separate task would."""

from __future__ import annotations

import asyncio
import contextvars
import types
from collections.abc import Awaitable, Coroutine, Generator
from typing import Any, TypeVar

Result = TypeVar("Result")
_has_served: contextvars.ContextVar[bool] = contextvars.ContextVar("hopless.has_served", default=False)


def isolated(serving: Coroutine[Any, Any, Result]) -> Awaitable[Result]:
    """Return an awaitable that runs a coroutine in a copy of the context.

    The server's task runs the coroutine, so no task has to be created. If this task has served a request before, or if
    the server has no asyncio task, the coroutine runs in a separate task, because code may store state for each
    ``asyncio.current_task()``.
    """
    if _has_served.get() or asyncio.current_task() is None:
        return asyncio.create_task(serving)
    _has_served.set(True)
    return _in_a_copy_of_the_context(serving)


@types.coroutine
def _in_a_copy_of_the_context(coroutine: Coroutine[Any, Any, Result]) -> Generator[Any, Any, Result]:
    run = contextvars.copy_context().run
    step, value = coroutine.send, None
    while True:
        try:
            awaited = run(step, value)
        except StopIteration as end:
            result: Result = end.value
            return result
        try:
            value = yield awaited
            step = coroutine.send
        except BaseException as error:
            value = error
            step = coroutine.throw
