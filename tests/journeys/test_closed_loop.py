"""The arithmetic of the closed loop, on a server and users that are simulated: no clock but the simulation's.

What the injector tells of is put together as the engine does it; next to it stands what the server counted by itself.
"""

import heapq
import itertools
import random

import pytest

from loadtests.analyse import validity
from loadtests.engines.merge_journeys import merge_journeys
from loadtests.journeys.injector.recorder import Recorder
from loadtests.journeys.steps import Step
from loadtests.records import Evidence
from loadtests.workload import Users

RAMP_S, HOLD_S = 20.0, 200.0
STEPS = 6  # of a journey; every second one is thought about
THINK_S = (1.0, 2.0)


class Simulation:
    """Some users, who ask a server that answers one at a time and takes ``answer_s`` for each, on average. An injector
    that is ``late_s`` late sends each request so much after it was due. ``answers`` are the moments of the server's."""

    def __init__(self, users, answer_s, late_s=0.0):
        self.recorder = Recorder(RAMP_S, RAMP_S + HOLD_S)
        self.answer_s, self.late_s = answer_s, late_s
        self.chance = random.Random(2016)
        self.free = 0.0
        self.answers = []
        turns = itertools.count()
        starts = [RAMP_S * number / users for number in range(users)]
        waiting = [(start, next(turns), self.walk(start)) for start in starts]
        while waiting:
            _, _, user = heapq.heappop(waiting)
            if (due := next(user, None)) is not None:
                heapq.heappush(waiting, (due, next(turns), user))

    def walk(self, ready):
        """A user, from journey to journey; gives the moments in which it is to be led on."""
        while True:
            begun = ready
            self.recorder.begins(begun)
            for number in range(STEPS):
                if number % 2:
                    thought, ready = ready, ready + self.chance.uniform(*THINK_S)
                    self.recorder.thinks(thought, ready)
                    yield ready
                if ready >= self.recorder.end:
                    return
                step = Step("page", "GET", ready, ready + self.late_s)
                yield step.sent
                self.recorder.sent(step)
                self.free = max(self.free, step.sent) + self.chance.expovariate(1 / self.answer_s)
                ready = self.free
                self.answers.append(ready)
                yield ready
                self.recorder.answered(step, ready, None)
            self.recorder.ended(begun, ready, None)

    def result(self, users):
        end = self.recorder.end
        took = {"cpu_s": 1.0, "wall_s": HOLD_S, "peak_rss_mb": 1.0}
        part = self.recorder.measured(end + 60) | {"generator": took, "machine": ""}
        who = Users("questionnaire", "/", THINK_S, users)
        return merge_journeys("locust", who, [part], ())

    @property
    def answered_per_s(self):
        held = sum(self.recorder.begin <= moment < self.recorder.end for moment in self.answers)
        return held / HOLD_S


# From a server that has nothing to do to one that is asked for five times what it can.
@pytest.mark.parametrize(("users", "answer_s"), [(1, 0.01), (64, 0.001), (64, 0.01), (64, 0.02), (200, 0.02)])
def test_the_arithmetic_agrees_with_what_the_server_counted_within_two_percent(users, answer_s):
    simulation = Simulation(users, answer_s)
    found = simulation.result(users).journeys
    assert found.expected_per_s == pytest.approx(1000 * users / (found.think_ms + found.wait_ms))
    assert found.expected_per_s == pytest.approx(simulation.answered_per_s, rel=0.02)
    assert found.ended_per_s == pytest.approx(simulation.answered_per_s, rel=1e-9)
    assert reasons(simulation.result(users)) == set()


def test_what_users_think_and_wait_for_is_what_they_did():
    found = Simulation(1, 0.01).result(1).journeys
    assert found.think_ms == pytest.approx(750, rel=0.05)  # one and a half seconds, before every second request
    assert found.wait_ms == pytest.approx(10, rel=0.2)


def test_a_server_that_is_asked_for_more_than_it_can_is_asked_for_less():
    # 64 users who think for 750 ms a request: of a server that answers 50 a second the loop makes 50, and no more.
    found = Simulation(64, 0.02).result(64).journeys
    assert found.expected_per_s == pytest.approx(50, rel=0.03)
    assert found.wait_ms > 400


def test_an_injector_that_is_late_does_not_agree_and_that_is_said():
    simulation = Simulation(64, 0.001, late_s=0.05)
    result = simulation.result(64)
    assert result.journeys.disagreement == pytest.approx(0.05 / 0.75, rel=0.1)
    assert "loop_disagrees" in reasons(result)


def reasons(result):
    found = validity.judge(Evidence(), result)
    return {flag.reason for flag in found if flag.reason == "loop_disagrees"}
