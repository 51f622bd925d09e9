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


class BorrowedThread(Executor):
    """The thread of one request: none until there is work for it. ``first`` runs in it before its first work."""

    def __init__(self, idle: IdleThreads) -> None:
        self.first: Callable[[], None] = lambda: None
        self._idle = idle
        self._thread: ThreadPoolExecutor | None = None
        self._last: Future[Any]

    @property
    def used(self) -> bool:
        """Whether there was work for it."""
        return self._thread is not None

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        work = functools.partial(fn, *args, **kwargs)
        if self._thread is None:
            self._thread = self._idle.take()
            self._last = self._thread.submit(_in_order, self.first, work)
        else:
            self._last = self._thread.submit(work)
        return self._last

    def release(self) -> None:
        """Gives the thread back once it has done all that was submitted: a cancelled request may leave work in it."""
        if (thread := self._thread) is not None:
            self._thread = None
            self._last.add_done_callback(lambda last: self._done(thread, last))

    def _done(self, thread: ThreadPoolExecutor, last: Future[Any]) -> None:
        if last.cancelled():  # and what was submitted before it may still run
            last = thread.submit(lambda: None)
            last.add_done_callback(lambda _: self._idle.give_back(thread))
        else:
            self._idle.give_back(thread)


def _in_order(first: Callable[[], None], work: Callable[[], Any]) -> Any:
    first()
    return work()


class RequestThread(ThreadSensitiveContext):
    """The thread-sensitive context of one request, in a thread that is borrowed at its first synchronous work."""

    def __init__(self, idle: IdleThreads) -> None:
        self.thread = BorrowedThread(idle)
        super().__init__(executor=self.thread)

    async def __aexit__(self, *exc_info: Any) -> None:
        await super().__aexit__(*exc_info)  # type: ignore[no-untyped-call]
        private.let_late_tasks_hop(self)
        self.thread.release()
