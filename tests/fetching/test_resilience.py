"""Test the steps of a resilient fetch, and the circuit breaker. No threads, clocks or origins are needed."""

import asyncio
import contextlib

import circuitbreaker
import pytest
from fetching.breaker import Breaker
from fetching.resilience import MAX_RETRIES, RETRIES_PER_FETCH, Delivered, Do, Resilience
from fetching.results import Exhausted, Failed, Fetched, NotInTime, Refused

FINE = Fetched(200, "text/plain", b"fine")
MISSING = Fetched(404, "text/plain", b"not here")
BROKEN = Fetched(503, "text/plain", b"Error 503")
LATE, FULL = NotInTime(), Exhausted()


def went(resilience, *results):
    """Return the steps of a resilient fetch, and the answer that it delivers.

    ``results`` contains the result of each fetch, and of the search for a stale copy.
    """
    course, results = resilience.course(), list(results)
    steps, result = [], None
    while True:
        try:
            step = course.send(result)
        except StopIteration as end:
            return steps, end.value
        steps.append(step.what.name.lower())
        result = results.pop(0) if step.what in (Do.FETCH, Do.RECALL) else None


@pytest.fixture
def resilience():
    return Resilience(Breaker(failures=100), clock=lambda: 0.0)


@pytest.mark.parametrize(
    ("results", "steps", "delivered"),
    [
        ([FINE], "fetch keep", Delivered(FINE)),
        ([MISSING], "fetch keep", Delivered(MISSING)),
        ([BROKEN, FINE], "fetch pause fetch keep", Delivered(FINE)),
        ([Failed(), FINE], "fetch pause fetch keep", Delivered(FINE)),
        ([LATE, None], "fetch recall", Delivered(LATE)),  # no time is left for a retry
        ([FULL, None], "fetch recall", Delivered(FULL)),
        ([BROKEN, BROKEN, FINE], "fetch pause fetch recall", Delivered(FINE, stale=True)),
        ([BROKEN, BROKEN, None], "fetch pause fetch recall", Delivered(BROKEN)),
    ],
)
def test_failure_is_retried_before_stale_copy(resilience, results, steps, delivered):
    assert went(resilience, *results) == (steps.split(), delivered)


def test_one_answer_per_second_is_stored():
    now = [0.0]
    resilience = Resilience(clock=lambda: now[0])
    assert went(resilience, FINE)[0] == ["fetch", "keep"]
    now[0] = 0.9
    assert went(resilience, FINE)[0] == ["fetch"]
    now[0] = 1.0
    assert went(resilience, FINE)[0] == ["fetch", "keep"]


def test_number_of_retries_is_limited(resilience):
    retried = sum("pause" in went(resilience, BROKEN, BROKEN, None)[0] for _ in range(500))
    assert MAX_RETRIES <= retried <= MAX_RETRIES + 500 * RETRIES_PER_FETCH


def test_open_breaker_prevents_fetches():
    resilience = Resilience(Breaker(failures=2, open_s=60))
    assert went(resilience, BROKEN, BROKEN, None)[1] == Delivered(BROKEN)
    steps, delivered = went(resilience, FINE)
    assert (steps, delivered) == (["recall"], Delivered(FINE, stale=True))
    steps, delivered = went(resilience, None)
    assert steps == ["recall"]
    assert isinstance(delivered.outcome, Refused)


def test_exhausted_pool_keeps_breaker_closed():
    resilience = Resilience(Breaker(failures=1, open_s=60))
    went(resilience, Exhausted(), None)
    assert resilience.breaker.state == "closed"
    went(resilience, NotInTime(), None)
    assert resilience.breaker.state == "open"


def test_cancelled_fetch_leaves_breaker_unchanged():
    resilience = Resilience(Breaker(failures=1, open_s=60))
    course = resilience.course()
    assert next(course).what is Do.FETCH
    course.close()
    assert resilience.breaker.state == "closed"


@pytest.fixture
def clock(monkeypatch):
    """Replace the breaker's clock. Return a list with its time in seconds, which tests can change."""
    now = [100.0]
    monkeypatch.setattr(circuitbreaker, "monotonic", lambda: now[0])
    return now


def fetched(breaker, failed):
    with breaker.asking() as asked:
        asked.failed = failed


@pytest.mark.parametrize(
    ("course", "state"),
    [  # F is a failed fetch, a dot is a successful fetch, ? is a cancelled fetch, and > is a pause of 2.1 s
        ("FF.FF", "closed"),
        ("FF.FFF", "open"),
        ("FFF>F", "open"),
        ("FFF>.", "closed"),
        ("FFF>?", "half_open"),  # PyBreaker and the original library would close the breaker
        ("FFF>?F", "open"),
    ],
)
def test_breaker_opens_and_closes_after_fetches(clock, course, state):
    breaker = Breaker(failures=3, open_s=2)
    for event in course:
        if event == ">":
            clock[0] += 2.1
        elif event == "?":
            with contextlib.suppress(asyncio.CancelledError), breaker.asking():
                raise asyncio.CancelledError
        else:
            fetched(breaker, failed=event == "F")
    assert breaker.state == state


def test_earlier_fetch_does_not_close_breaker(clock):
    breaker = Breaker(failures=3, open_s=2)
    with breaker.asking() as early:
        for _ in range(3):
            fetched(breaker, failed=True)
        early.failed = False
    assert breaker.state == "open"
    with pytest.raises(Refused), breaker.asking():
        pass
