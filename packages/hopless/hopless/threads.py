"""Keep threads between requests and lend each thread to one request at a time."""

from __future__ import annotations

import functools
import os
import weakref
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any, ClassVar

from asgiref.sync import ThreadSensitiveContext
from django.db import connections

from hopless import private
from hopless.limit import Job, ThreadLimit


class Worker(ThreadPoolExecutor):
    """A thread with its database connections.

    Attributes:
        requests: The number of requests for which the thread has worked.
        open_connections: The number of database connections that the last work left open.
        has_connections: Whether the last work left connections, open or closed.
        clean: Whether the last work left no transaction behind.
    """

    def __init__(self) -> None:
        super().__init__(max_workers=1, thread_name_prefix="hopless")
        self.requests = 0
        self.open_connections = 0
        self.has_connections = False
        self.clean = True

    def inspect(self) -> None:
        """Record the state of this thread's connections. Call this method in the thread."""
        found = private.connections_of_thread().values()
        self.open_connections = sum(map(private.is_open, found))
        self.clean = all(map(private.is_clean, found))
        self.has_connections = bool(found)

    def end(self) -> None:
        """End the thread after its submitted work, and close its connections."""
        self.submit(connections.close_all)
        self.shutdown(wait=False)


class Threads:
    """The threads of one application. The idle thread that was used last is reused first.

    A request never waits in ``take``, because another thread is started if all threads are busy.

    Args:
        keep: The maximum number of idle threads.
        max_requests: The number of requests after which a thread is replaced, or 0 for no limit.
        max_threads: The maximum number of requests that run synchronous code at the same time, or None for no limit.
    """

    every: ClassVar[weakref.WeakSet[Threads]] = weakref.WeakSet()

    def __init__(self, keep: int, max_requests: int = 0, max_threads: int | None = None) -> None:
        self.limit = None if max_threads is None else ThreadLimit(max_threads)
        self.started = 0
        self.busy: set[Worker] = set()
        self.idle: deque[Worker] = deque()
        self._keep = keep
        self._max_requests = max_requests
        self.every.add(self)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=functools.partial(_forget, weakref.ref(self)))

    def take(self) -> Worker:
        """Return a thread for one request."""
        try:
            worker = self.idle.pop()
        except IndexError:
            worker = Worker()
            self.started += 1
        worker.requests += 1
        self.busy.add(worker)
        return worker

    def give_back(self, worker: Worker) -> None:
        """Keep a thread that has no work left, unless enough threads are idle or the thread must be replaced."""
        if len(self.idle) < self._keep and (not self._max_requests or worker.requests < self._max_requests):
            self.busy.discard(worker)
            self.idle.append(worker)
        else:
            self.discard(worker)

    def discard(self, worker: Worker) -> None:
        """End a thread that no other request may use."""
        self.busy.discard(worker)
        worker.end()


def _forget(reference: weakref.ref[Threads]) -> None:
    """Forget the threads of the parent process, which don't exist in a forked process."""
    if (threads := reference()) is not None:
        threads.idle.clear()
        threads.busy.clear()
        threads.started = 0
        if threads.limit is not None:
            threads.limit = ThreadLimit(threads.limit.number)


class RequestThread(ThreadSensitiveContext, Executor):
    """The thread of one request, and the request's thread-sensitive context.

    The first work of the request takes a thread, and the end of the request gives the thread back.

    Args:
        threads: The application's threads, from which the request takes one.

    Attributes:
        first: A function that the thread calls before its first work.
        complete: Whether the request ended normally. If not, the thread ends, because a middleware may not have cleaned
            up.
        finishing: Whether the response has been sent. The work after the response is short, so it doesn't wait for the
            limit.
        worker: The thread, or None before the first work.
        running: The number of jobs that run or wait in the thread, if the number of threads is limited.
        waiting: The jobs that wait until the limit has a place for the request.
    """

    def __init__(self, threads: Threads) -> None:
        super().__init__()
        self.first: Callable[[], object] | None = None
        self.complete = False
        self.finishing = False
        self.worker: Worker | None = None
        self.running = 0
        self.waiting: list[Job] = []
        self._threads = threads
        self._last: Future[Any] | None = None
        self._claimed = False

    def __enter__(self) -> RequestThread:
        self._token = private.enter_context(self)
        return self

    def __exit__(self, *_: object) -> None:
        private.leave_context(self, self._token)
        self.release()

    def claim(self) -> bool:
        """Return True only to the first caller, the request itself. A nested request must not claim the thread, too."""
        first, self._claimed = not self._claimed, True
        return first

    @property
    def needs_closing(self) -> bool:
        """Whether the thread has a connection, or unfinished work that may create one."""
        if (last := self._last) is None or self._needs_no_thread():
            return False
        worker = self.worker
        return worker is None or worker.has_connections or last.cancelled() or not last.done()

    def finish(self, close: Callable[[], object]) -> None:
        """Close the response in the thread, and forget the state of connections that aren't kept."""
        close()
        private.forget_closed_connections()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run a function in the request's thread, after the functions that were submitted before."""
        limit = self._threads.limit
        if limit is None or (self.finishing and not limit.is_queued(self)):
            self._last = self.take().submit(self._work, fn, *args, **kwargs)
        else:
            self._last = limit.submit(self, Job(functools.partial(self._work, fn, *args, **kwargs)))
        return self._last

    def take(self) -> Worker:
        """Return the request's thread. The first call takes an idle thread of the application or starts a thread."""
        if self.worker is None:
            self.worker = self._threads.take()
        return self.worker

    def _work(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        if self.first is not None:
            first, self.first = self.first, None
            first()
        try:
            return fn(*args, **kwargs)
        finally:
            self.take().inspect()

    def release(self) -> None:
        """Give the thread back at the end of the request.

        The thread ends instead if the request didn't end normally, if it left work behind, or if it left a connection
        in a transaction. The next request must not see what such a request left in the thread.
        """
        last = self._last
        if last is None or self._needs_no_thread():
            return
        worker = self.worker
        if worker is None or last.cancelled() or not last.done():
            self.submit(_nothing).add_done_callback(self._discard)
        elif self.complete and worker.clean:
            self._threads.give_back(worker)
        else:
            self._threads.discard(worker)

    def _needs_no_thread(self) -> bool:
        """Return whether the request has no thread and doesn't wait for a thread."""
        limit = self._threads.limit
        queued = limit is not None and limit.is_queued(self)
        return not queued and self.worker is None  # check the queue first, because another thread can start the request

    def _discard(self, _: Future[Any]) -> None:
        self._threads.discard(self.take())


def _nothing() -> None:
    """Do nothing. This job ends after the work that a request left behind."""
