"""The steps of a resilient fetch, without threads, clocks or an origin."""

import pytest
from fetching.breaker import Breaker
from fetching.resilience import MOST_RETRIES, RETRIES_PER_FETCH, Budget, Delivered, Do, Resilience
from fetching.results import Exhausted, Failed, Fetched, NotInTime, Refused

FINE = Fetched(200, "text/plain", b"fine")
MISSING = Fetched(404, "text/plain", b"not here")
BROKEN = Fetched(503, "text/plain", b"Error 503")


def went(resilience, *results):
    """The steps of a fetch whose fetches come to these results, in words, and what is delivered; ``copy`` is kept."""
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


@pytest.mark.parametrize("answer", [FINE, MISSING], ids=["200", "404"])
def test_an_answer_is_delivered_and_kept(resilience, answer):
    assert went(resilience, answer) == (["fetch", "keep"], Delivered(answer))


def test_no_more_than_one_answer_a_second_is_kept():
    now = [0.0]
    resilience = Resilience(clock=lambda: now[0])
    assert went(resilience, FINE)[0] == ["fetch", "keep"]
    now[0] = 0.9
    assert went(resilience, FINE)[0] == ["fetch"]
    now[0] = 1.0
    assert went(resilience, FINE)[0] == ["fetch", "keep"]


@pytest.mark.parametrize("first", [BROKEN, Failed()], ids=["503", "failed"])
def test_what_failed_quickly_is_tried_once_more(resilience, first):
    assert went(resilience, first, FINE) == (["fetch", "pause", "fetch", "keep"], Delivered(FINE))


@pytest.mark.parametrize("first", [NotInTime(), Exhausted()], ids=["timeout", "exhausted"])
def test_what_took_all_the_time_is_not(resilience, first):
    assert went(resilience, first, None) == (["fetch", "recall"], Delivered(first))


def test_where_the_origin_fails_a_copy_is_delivered_and_marked(resilience):
    steps, delivered = went(resilience, BROKEN, BROKEN, FINE)
    assert steps == ["fetch", "pause", "fetch", "recall"]
    assert delivered == Delivered(FINE, stale=True)


def test_without_a_copy_the_failure_is_delivered(resilience):
    assert went(resilience, BROKEN, BROKEN, None)[1] == Delivered(BROKEN)


def test_retries_are_a_tenth_of_the_fetches_at_most(resilience):
    retried = sum("pause" in went(resilience, BROKEN, BROKEN, None)[0] for _ in range(500))
    assert MOST_RETRIES <= retried <= MOST_RETRIES + 500 * RETRIES_PER_FETCH


def test_saved_retries_have_an_end():
    budget = Budget()
    for _ in range(1000):
        budget.earn()
    assert sum(budget.spend() for _ in range(100)) == MOST_RETRIES


def test_an_open_breaker_asks_nobody():
    resilience = Resilience(Breaker(failures=2, open_s=60))
    assert went(resilience, BROKEN, BROKEN, None)[1] == Delivered(BROKEN)
    steps, delivered = went(resilience, FINE)
    assert (steps, delivered) == (["recall"], Delivered(FINE, stale=True))
    steps, delivered = went(resilience, None)
    assert steps == ["recall"]
    assert isinstance(delivered.outcome, Refused)


def test_an_exhausted_pool_does_not_open_it():
    resilience = Resilience(Breaker(failures=1, open_s=60))
    went(resilience, Exhausted(), None)
    assert resilience.breaker.state == "closed"
    went(resilience, NotInTime(), None)
    assert resilience.breaker.state == "open"


def test_a_course_that_is_broken_off_tells_the_breaker_nothing():
    resilience = Resilience(Breaker(failures=1, open_s=60))
    course = resilience.course()
    assert next(course).what is Do.FETCH
    course.close()
    assert resilience.breaker.state == "closed"
