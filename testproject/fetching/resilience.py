"""Make fetches resilient with retries within a budget, a circuit breaker, and an old copy if the origin fails.

``course`` yields the next step and receives its result. ``run`` executes the steps in a thread, ``arun`` in a
coroutine.
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
PAUSE_S = (0.05, 0.15)  # Seconds before a retry. The pause is random, so that retries don't arrive together.
# At most a tenth of the fetches are retries, because more retries could double the load of an overloaded origin.
RETRIES_PER_FETCH = 0.1
MAX_RETRIES = 10.0  # The maximum number of saved retries.
COPY = "fetching.copy"  # The key in Django's cache.
COPY_GOOD_S = 600
COPIED_EVERY_S = 1.0  # a process saves at most one answer in this time

Outcome = Fetched | FetchError


class Do(enum.Enum):
    """The kinds of steps. FETCH returns an Outcome, and RECALL a Fetched or None. The other steps have no result."""

    FETCH = enum.auto()
    PAUSE = enum.auto()
    RECALL = enum.auto()
    KEEP = enum.auto()


@dataclasses.dataclass(frozen=True)
class Step:
    """One step: a pause in seconds, an answer to store, or an action without further data."""

    what: Do
    seconds: float = 0.0
    fetched: Fetched | None = None


@dataclasses.dataclass(frozen=True)
class Delivered:
    """The answer to the view's client. ``stale`` marks a copy of an earlier answer."""

    outcome: Outcome
    stale: bool = False


Course = Generator[Step, Any, Delivered]


class Budget:
    """Limit the number of retries."""

    def __init__(self) -> None:
        self._saved = MAX_RETRIES
        self._lock = threading.Lock()

    def earn(self) -> None:
        """Count a fetch."""
        with self._lock:
            self._saved = min(MAX_RETRIES, self._saved + RETRIES_PER_FETCH)

    def spend(self) -> bool:
        """Spend a retry, and return whether the budget had a retry left."""
        with self._lock:
            there = self._saved >= 1.0
            self._saved -= there
        return there


class Resilience:
    """The circuit breaker and the retry budget of a process, and the time of its last copy."""

    def __init__(self, breaker: Breaker | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self.breaker = breaker or Breaker()
        self.budget = Budget()
        self._clock = clock
        self._copied_at = -COPIED_EVERY_S

    def course(self) -> Course:
        """Yield the steps of a fetch."""
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
    """Return whether the outcome is an error, or has a status of 500 or more."""
    return isinstance(outcome, FetchError) or outcome.status >= 500


def of_origin(outcome: Outcome) -> bool:
    """Return whether the outcome is evidence about the origin. An exhausted pool of the client isn't evidence."""
    return not isinstance(outcome, FetchError) or outcome.kind in ("timeout", "failed")


def again(outcome: Outcome) -> bool:
    """Return whether a retry can help. After a timeout, no time is left for a retry."""
    return isinstance(outcome, (Fetched, Failed))


@functools.cache
def of_process() -> Resilience:
    """Return the state of this process."""
    return Resilience()


def run(course: Course, client: ThreadClient, cache: Any) -> Delivered:
    """Execute the steps in this thread."""
    with closing(course):
        result = None
        while True:
            try:
                step = course.send(result)
            except StopIteration as end:
                return end.value
            result = _done(step, client, cache)


async def arun(course: Course, client: LoopClient, cache: Any) -> Delivered:
    """Execute the steps in this coroutine. If the coroutine is cancelled, the breaker receives no result."""
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
