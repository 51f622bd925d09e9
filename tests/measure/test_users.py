"""The search for how many users are borne, on users who are arithmetic: no server, no clock."""

import math

import pytest

from loadtests.measure.capacity import find
from loadtests.plan import objective as objectives
from loadtests.plan.objective import SearchPlan
from loadtests.records import Second
from loadtests.records.result import NOTHING
from loadtests.workload import Load, Users
from tests.fixtures.results import good_result

OBJECTIVE = objectives.parse("p99<500ms, failures<0.1%")


def load(users=10, arrivals=None):
    who = Users("questionnaire", "/", (1.0, 1.0), None if arrivals else users, arrivals)
    return Load.of_url("http://127.0.0.1:1/", users=who, arrival_seed=1, connections=10)


def searched(load, sustained, requests_each, unsent=0.0, **plan):
    """The search, on a server on which p99 is over the objective as soon as there are more users than it sustains. Each
    makes that many requests a second. With a share ``unsent`` as a probe is stopped, too much fails at once."""
    asked = []

    def run(probe, watch, should_stop):
        users = probe.users.users or probe.users.arrivals
        asked.append(users)
        p99 = 100.0 if users <= sustained else 2000.0
        sent = max(1, round(users * requests_each))
        errors = sent if unsent and users > sustained else 0
        seconds = [Second(t, sent, sent, sent - errors, errors, 5.0, p99) for t in range(int(probe.duration_s))]
        made = []
        for second in seconds:
            made.append(second)
            watch(second)
            if should_stop():
                break
        total = sent * len(made)
        short = math.ceil(unsent * total) if len(made) < len(seconds) else 0
        return good_result(
            probe,
            planned=total,
            **dict.fromkeys(("sent", "completed", "ok"), total - short),
            duration_s=float(len(made)),
            response_time_ms={**NOTHING, "p50": 5.0, "p99": p99},
            timeline=tuple(made),
        )

    ticks = iter(range(10**6))
    plan = SearchPlan(**{"start_rate": 10.0, "short_s": 5.0, "long_s": 10.0, "precision": 0.05, **plan})
    return find(load, OBJECTIVE, plan, run, clock=lambda: float(next(ticks))), asked


@pytest.mark.parametrize("sustained", [1, 2, 3, 7, 37, 250])
def test_the_most_users_are_found_as_a_whole_number(sustained):
    found, asked = searched(load(), sustained, 5.0, unit="users", whole=True)
    assert sustained / 1.05 - 0.5 <= found.capacity.rate <= sustained
    assert all(isinstance(users, int) for users in asked)
    assert found.capacity.limited_by == "server"
    assert found.capacity.sentence == f"{found.capacity.rate:.0f} users within the objective"
    assert len(asked) < 30


@pytest.mark.parametrize(("unsent", "limited_by"), [(0.001, "server"), (0.01, "server"), (0.1, "generator")])
def test_what_was_on_its_way_when_a_probe_was_stopped_is_not_the_generators_limit(unsent, limited_by):
    found, _ = searched(load(), 37, 50.0, unsent, unit="users", whole=True)
    assert found.capacity.limited_by == limited_by


def test_a_server_that_sustains_nobody_has_no_capacity():
    found, asked = searched(load(), 0, 5.0, unit="users", whole=True)
    assert found.capacity.rate is None
    assert min(asked) == 1
    assert found.capacity.sentence == "no rate is within the objective, not even 1 users"


def test_the_highest_rate_of_new_users():
    found, _ = searched(load(arrivals=1.0), 6.2, 18.5, unit="new users/s", min_rate=0.1)
    assert found.capacity.rate == pytest.approx(6.2, rel=0.06)
    assert found.capacity.sentence.endswith(" new users/s within the objective")


@pytest.mark.parametrize("requests_each", [0.2, 40.0])
def test_however_many_requests_a_journey_makes_a_probe_is_lost_by_its_share_of_them(requests_each):
    found, _ = searched(load(), 20, requests_each, unit="users", whole=True)
    assert found.capacity.rate in (19, 20)
