"""Test the check that a server is ready, at the start and after an overload."""

import itertools

import pytest

from loadtests.observe.processes import Usage
from loadtests.serve import health
from loadtests.serve.health import CALM_ANSWERS, STILL_LOOKS
from loadtests.serve.http import Answer


class Worn:
    """A server that drops the connection for the first requests, and answers all later requests."""

    def __init__(self, bad=0):
        self.bad = bad
        self.asked = 0

    def __call__(self):
        self.asked += 1
        if self.asked <= self.bad:
            raise ConnectionResetError


@pytest.mark.parametrize("bad", [0, 2])
def test_calm_server_answers_consecutive_requests(bad):
    ask = Worn(bad)
    assert health.calm_down(ask, idle_s=10.0)
    assert ask.asked == bad + CALM_ANSWERS


def test_calm_is_relative_to_idle_time(monkeypatch):
    clock = itertools.count(step=1.0)  # each request takes a second
    monkeypatch.setattr(health.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(health.time, "sleep", lambda seconds: None)
    ask = Worn()
    idle_s = health.seconds_to_answer(ask)
    assert idle_s == 1.0
    assert health.calm_down(ask, idle_s)
    assert not health.calm_down(ask, 0.01)


@pytest.mark.parametrize(
    ("status", "own", "why"),
    [
        (200, False, None),
        (404, False, "status 404"),
        (404, True, None),  # a user's project may return any status
        (500, True, None),  # a user's view may fail
        (502, True, "status 502"),  # a proxy answers 502 until the server is ready
        (None, True, "refused"),
    ],
)
def test_health_depends_on_status(status, own, why):
    def ask():
        if status is None:
            raise ConnectionRefusedError("refused")
        return Answer(status, "", b"")

    assert health.unhealthy(ask, own) == why


@pytest.mark.parametrize(
    ("moments", "at_rest"),
    [
        ([{1: 2.0, 2: 1.0}] * (STILL_LOOKS + 1), True),
        ([{1: 2.0, 2: 1.0}] * STILL_LOOKS, False),
        ([{1: 2.0, 2: 0.05 * look} for look in range(20)], False),  # one worker is still starting
        ([{1: 2.0}] * STILL_LOOKS + [{1: 2.0, 2: 0.0}] * STILL_LOOKS, False),  # one worker has just started
    ],
)
def test_idle_setup_uses_no_cpu(moments, at_rest):
    """Each moment maps the pids of processes to their CPU seconds."""
    usages = iter(
        {pid: Usage("web", "python", pid, cpu_s, 1.0, 1.0, 0) for pid, cpu_s in moment.items()} for moment in moments
    )
    stillness = health.Stillness(lambda: next(usages))
    assert [stillness.reached() for _ in moments] == [False] * (len(moments) - 1) + [at_rest]
