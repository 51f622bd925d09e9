"""Limit how many requests run synchronous code at the same time."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hopless.threads import RequestThread


class Job:
    """A function that a request submitted, and the future for the function's result."""

    def __init__(self, fn: Callable[[], Any]) -> None:
        self.future: Future[Any] = Future()
        self._fn = fn

    def run(self) -> None:
        """Call the function, unless the request was cancelled while it waited."""
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            result = self._fn()
        except BaseException as error:
            self.future.set_exception(error)
        else:
            self.future.set_result(result)


class ThreadLimit:
    """Let a limited number of requests run synchronous code, and let the other requests wait in order.

    A request counts only while its synchronous code runs, so an asynchronous view that waits doesn't use a place. A
    request that already has a thread precedes requests that haven't started, because it may hold a database connection.

    Args:
        number: The maximum number of requests that run synchronous code at the same time.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self._free = number
        self._lock = threading.Lock()
        self._resumed: deque[RequestThread] = deque()
        self._new: deque[RequestThread] = deque()

    @property
    def waiting(self) -> int:
        """The number of requests that wait for a place."""
        with self._lock:
            return sum(bool(_not_cancelled(thread)) for thread in (*self._resumed, *self._new))

    def submit(self, thread: RequestThread, job: Job) -> Future[Any]:
        """Run a job in a request's thread as soon as the request has a place."""
        with self._lock:
            if not thread.running and (thread.waiting or not self._free):
                if not thread.waiting:
                    (self._resumed if thread.worker else self._new).append(thread)
                thread.waiting.append(job)
                return job.future
            if not thread.running:
                self._free -= 1
            self._start(thread, job)
        return job.future

    def is_queued(self, thread: RequestThread) -> bool:
        """Return whether a request waits for a place. A request leaves the queue if its jobs are cancelled."""
        with self._lock:
            return bool(_not_cancelled(thread))

    def _start(self, thread: RequestThread, job: Job) -> None:
        thread.running += 1
        thread.take().submit(self._run, thread, job)

    def _run(self, thread: RequestThread, job: Job) -> None:
        job.run()
        with self._lock:
            thread.running -= 1
            if not thread.running:
                self._give_place_to_next()

    def _give_place_to_next(self) -> None:
        while queue := self._resumed or self._new:
            thread = queue.popleft()
            jobs, thread.waiting = _not_cancelled(thread), []
            for job in jobs:
                self._start(thread, job)
            if jobs:
                return
        self._free += 1


def _not_cancelled(thread: RequestThread) -> list[Job]:
    return [job for job in thread.waiting if not job.future.cancelled()]
