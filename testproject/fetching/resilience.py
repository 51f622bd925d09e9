"""Resilient fetches: a retry within a budget, a circuit breaker, a stale copy where the origin fails.

``course`` yields the next step and is sent its result; ``run`` does the steps in a thread, ``arun`` in a coroutine.
"""

import asyncio
import dataclasses
import enum
import functools
import random
import threading
import time
from collections.abc import Callable, Generator
from contextlib import closing
from typing import Any

from fetching.breaker import Breaker
from fetching.clients import LoopClient, ThreadClient
from fetching.results import Failed, Fetched, FetchError, Refused

ATTEMPTS = 2
PAUSE_S = (0.05, 0.15)  # before a retry, random, so that not all come back at once
# Retries are a tenth of the fetches at most: they would double the load of an overloaded origin.
RETRIES_PER_FETCH = 0.1
MOST_RETRIES = 10.0  # that are saved up
COPY = "fetching.copy"  # in Django's cache
COPY_GOOD_S = 600
COPIED_EVERY_S = 1.0  # a process keeps no more than one answer a second

Outcome = Fetched | FetchError


class Do(enum.Enum):
    """A kind of step, whose result is an Outcome, nothing, a Fetched or None, nothing."""

    FETCH = enum.auto()
    PAUSE = enum.auto()
    RECALL = enum.auto()
    KEEP = enum.auto()


@dataclasses.dataclass(frozen=True)
class Step:
    """A step: how long to pause, what to keep."""

    what: Do
    seconds: float = 0.0
    fetched: Fetched | None = None


@dataclasses.dataclass(frozen=True)
class Delivered:
    """The answer to our client; ``stale``: a copy of an earlier one."""

    outcome: Outcome
    stale: bool = False


Course = Generator[Step, Any, Delivered]


class Budget:
    """The budget of retries."""

    def __init__(self) -> None:
        self._saved = MOST_RETRIES
        self._lock = threading.Lock()

    def earn(self) -> None:
        """Counts a fetch."""
        with self._lock:
            self._saved = min(MOST_RETRIES, self._saved + RETRIES_PER_FETCH)

    def spend(self) -> bool:
        """Takes a retry; False where none is left."""
        with self._lock:
            there = self._saved >= 1.0
            self._saved -= there
        return there


class Resilience:
    """The state of a process: its breaker, its budget and its copy."""

    def __init__(self, breaker: Breaker | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self.breaker = breaker or Breaker()
        self.budget = Budget()
        self._clock = clock
        self._copied_at = -COPIED_EVERY_S

    def course(self) -> Course:
        """The steps of one fetch."""
        self.budget.earn()
        for attempt in range(1, ATTEMPTS + 1):
            outcome = yield from self._asked()
            if not failed(outcome):
                if self._to_be_kept():
                    yield Step(Do.KEEP, fetched=outcome)
                return Delivered(outcome)
            if attempt == ATTEMPTS or not again(outcome) or not self.budget.spend():
                break
            yield Step(Do.PAUSE, seconds=random.uniform(*PAUSE_S))
        copy = yield Step(Do.RECALL)
        return Delivered(outcome) if copy is None else Delivered(copy, stale=True)

    def _asked(self) -> Generator[Step, Any, Outcome]:
        try:
            with self.breaker.asking() as asked:
                outcome = yield Step(Do.FETCH)
                if of_origin(outcome):
                    asked.failed = failed(outcome)
        except Refused as refused:
            return refused
        return outcome

    def _to_be_kept(self) -> bool:
        now = self._clock()
        if now - self._copied_at < COPIED_EVERY_S:
            return False
        self._copied_at = now
        return True


def failed(outcome: Outcome) -> bool:
    """True for an error, and for a status of 500 or more."""
    return isinstance(outcome, FetchError) or outcome.status >= 500


def of_origin(outcome: Outcome) -> bool:
    """True where it says something about the origin; our own exhausted pool does not."""
    return not isinstance(outcome, FetchError) or outcome.kind in ("timeout", "failed")


def again(outcome: Outcome) -> bool:
    """True where a retry may help: after a quick end. After a time-out the time is spent."""
    return isinstance(outcome, (Fetched, Failed))


@functools.cache
def of_process() -> Resilience:
    """This process's state."""
    return Resilience()


def run(course: Course, client: ThreadClient, cache: Any) -> Delivered:
    """Does the steps in this thread."""
    with closing(course):
        result = None
        while True:
            try:
                step = course.send(result)
            except StopIteration as end:
                return end.value
            result = _done(step, client, cache)


async def arun(course: Course, client: LoopClient, cache: Any) -> Delivered:
    """Does the steps in this coroutine. If it is cancelled the course ends, and the breaker hears nothing."""
    with closing(course):
        result = None
        while True:
            try:
                step = course.send(result)
            except StopIteration as end:
                return end.value
            result = None
            if step.what is Do.FETCH:
                try:
                    result = await client.fetch()
                except FetchError as error:
                    result = error
            elif step.what is Do.PAUSE:
                await asyncio.sleep(step.seconds)
            elif step.what is Do.RECALL:
                result = await cache.aget(COPY)
            else:
                await cache.aset(COPY, step.fetched, COPY_GOOD_S)


def _done(step: Step, client: ThreadClient, cache: Any) -> Any:
    if step.what is Do.FETCH:
        try:
            return client.fetch()
        except FetchError as error:
            return error
    if step.what is Do.PAUSE:
        return time.sleep(step.seconds)
    if step.what is Do.RECALL:
        return cache.get(COPY)
    return cache.set(COPY, step.fetched, COPY_GOOD_S)
