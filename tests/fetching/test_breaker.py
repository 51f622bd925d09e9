"""The circuit breaker, and what is reported to it."""

import asyncio
import contextlib

import circuitbreaker
import pytest
from fetching.breaker import Breaker
from fetching.results import Refused


@pytest.fixture
def clock(monkeypatch):
    """The seconds of the library's clock, in a list."""
    now = [100.0]
    monkeypatch.setattr(circuitbreaker, "monotonic", lambda: now[0])
    return now


def fetched(breaker, failed):
    with breaker.asking() as asked:
        asked.failed = failed


def opened(clock):
    breaker = Breaker(failures=3, open_s=2)
    for _ in range(3):
        fetched(breaker, failed=True)
    assert breaker.state == "open"
    return breaker


def test_it_opens_after_failures_in_a_row(clock):
    breaker = Breaker(failures=3, open_s=2)
    for failed in (True, True, False, True, True):
        fetched(breaker, failed)
    assert breaker.state == "closed"
    fetched(breaker, failed=True)
    with pytest.raises(Refused), breaker.asking():
        pass


def test_after_a_while_one_at_a_time_is_let_through(clock):
    breaker = opened(clock)
    clock[0] += 2.1
    with breaker.asking() as trying:
        with pytest.raises(Refused), breaker.asking():
            pass
        trying.failed = True
    assert breaker.state == "open"
    clock[0] += 2.1
    fetched(breaker, failed=False)
    assert breaker.state == "closed"


def test_a_fetch_that_is_cancelled_says_nothing(clock):
    """With PyBreaker, and with the library as it is, this would close the breaker."""
    breaker = opened(clock)
    clock[0] += 2.1
    with contextlib.suppress(asyncio.CancelledError), breaker.asking():
        raise asyncio.CancelledError
    assert breaker.state == "half_open"
    fetched(breaker, failed=True)  # and another may try
    assert breaker.state == "open"


def test_the_library_itself_would_take_it_for_a_success(clock):
    """Why outcomes alone are reported to it: once this fails, fetching.breaker can do with less."""
    circuit = circuitbreaker.CircuitBreaker(1, 2, expected_exception=ValueError, name="x")
    with contextlib.suppress(ValueError), circuit:
        raise ValueError
    assert circuit.state == "open"
    with contextlib.suppress(asyncio.CancelledError), circuit:
        raise asyncio.CancelledError
    assert circuit.state == "closed"


def test_what_began_before_it_opened_says_nothing_after(clock):
    breaker = Breaker(failures=3, open_s=2)
    with breaker.asking() as early:
        for _ in range(3):
            fetched(breaker, failed=True)
        early.failed = False
    assert breaker.state == "open"
    with pytest.raises(Refused), breaker.asking():
        pass


def test_our_own_exhausted_pool_says_nothing_of_the_origin(clock):
    breaker = Breaker(failures=1, open_s=2)
    fetched(breaker, failed=None)
    assert breaker.state == "closed"
