"""Threads that outlive a request, each lent to one request at a time."""

from __future__ import annotations

import functools
import os
import weakref
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any

from asgiref.sync import ThreadSensitiveContext
from django.core.cache import caches
from django.core.cache.backends.base import BaseCache
from django.db import connections

from hopless import private


class IdleThreads:
    """Threads without work, the one used last on top. A request never waits for one: where none is idle, one more is
    started, as Django does for each request.

    ``keep`` is how many stay; a thread that ends closes its database connections.
    """

    def __init__(self, keep: int) -> None:
        self.keep = keep
        self._idle: deque[ThreadPoolExecutor] = deque()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=functools.partial(_forget, weakref.ref(self)))

    def take(self) -> ThreadPoolExecutor:
        """A thread for one request."""
        try:
            return self._idle.pop()
        except IndexError:
            return ThreadPoolExecutor(max_workers=1, thread_name_prefix="hopless")

    def give_back(self, thread: ThreadPoolExecutor) -> None:
        """Takes back a thread that has nothing left to do."""
        if len(self._idle) < self.keep:
            self._idle.append(thread)
        else:
            thread.submit(connections.close_all)
            thread.shutdown(wait=False)


def _forget(threads: weakref.ref[IdleThreads]) -> None:
    """The threads of a parent do not exist in the process that it forks."""
    if (idle := threads()) is not None:
        idle._idle.clear()


class RequestThread(ThreadSensitiveContext, Executor):
    """The thread of one request, and its thread-sensitive context: a thread is borrowed at the first work.

    ``first`` runs in it before that.
    """

    def __init__(self, idle: IdleThreads) -> None:
        super().__init__()
        self.first: Callable[[], object] | None = None
        self._idle = idle
        self._thread: ThreadPoolExecutor | None = None
        self._last: Future[Any] | None = None
        self._open = False

    def __enter__(self) -> RequestThread:
        self._token = private.enter_context(self)
        return self

    def __exit__(self, *_: object) -> None:
        private.leave_context(self, self._token)
        self.release()

    @property
    def holds_connections(self) -> bool:
        """Whether its work has left a connection open, or may yet: a cancelled request may leave work in it."""
        last = self._last
        return last is not None and (self._open or last.cancelled() or not last.done())

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if self._thread is None:
            self._thread = self._idle.take()
        self._last = self._thread.submit(self._work, fn, *args, **kwargs)
        return self._last

    def _work(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        if self.first is not None:
            first, self.first = self.first, None
            first()
        try:
            return fn(*args, **kwargs)
        finally:
            self._open = _connections_are_open()

    def release(self) -> None:
        """Gives the thread back once it has done all that was submitted."""
        if (thread := self._thread) is not None and self._last is not None:
            self._thread = None
            self._last.add_done_callback(lambda last: self._done(thread, last))

    def _done(self, thread: ThreadPoolExecutor, last: Future[Any]) -> None:
        if last.cancelled():  # and what was submitted before it may still run
            last = thread.submit(lambda: None)
            last.add_done_callback(lambda _: self._idle.give_back(thread))
        else:
            self._idle.give_back(thread)


def _connections_are_open() -> bool:
    """Whether this thread has connections that the end of a request has to look after."""
    return any(map(private.is_open, private.initialised(connections))) or any(
        type(one).close is not BaseCache.close for one in private.initialised(caches)
    )
