"""Searches for a capacity, over WebSockets and in users: what they count, and within which objective."""

import pytest

from loadtests.plan import kinds
from loadtests.plan import study as studies
from loadtests.plan.kinds.journey import CAPACITY_ARRIVALS, CAPACITY_USERS
from loadtests.plan.schedule import planned_seconds, schedule
from loadtests.workload import Feature
from tests.fixtures.conversations import SEARCHES, conversing
from tests.fixtures.studies import a_test, load_of


@pytest.mark.parametrize(
    ("kind", "counts", "objective", "other"),
    [
        ("connect-capacity", "connections", "p99<50ms, errors<0.1%", "p95<50ms"),
        ("echo-capacity", "messages", "p99<50ms, errors<0.1%", "p95<50ms"),
        ("broadcast-capacity", "deliveries", "lag p99<100ms, missing<0.01%, errors<0.1%", "lag p95<100ms"),
    ],
)
def test_each_searches_for_what_it_counts(kind, counts, objective, other):
    test = conversing(kind)
    found, plan = test.search
    assert (str(found), plan.counts, test.kind.cost_unit.plural) == (objective, counts, counts)
    assert (plan.short_s, plan.long_s) == (1, 2)
    assert test.decisive.unit == f"{counts}/s"
    assert [one.name for one in kinds.every_metric() if one is test.decisive]
    assert (test.fixed_rate, test.can_interleave) == (None, False)
    load = load_of(test)
    assert (load.conversation.does, load.arrival_seed, load.duration_s) == (kind.removesuffix("-capacity"), 7, 1)
    assert "request" not in f"{test.description} {test.condition} {test.kind.heading} {test.kind.about}"
    assert test.same_as(conversing(kind, probe="5s"))
    for another in ({"objective": other}, {"size": 100}, {"precision": 0.1}):
        assert not test.same_as(conversing(kind, **another))


def test_the_rates_of_a_broadcast_are_of_deliveries():
    test = conversing("broadcast-capacity")  # 20 receivers in two rooms: ten deliveries of each message
    load = load_of(test)
    assert (test.pace.start_rate, load.rate, load.connections) == (2000, 200, 1)
    assert load.counts_each == 10
    assert load.timeout_s == 2  # what a probe too many has lost is not waited for longer
    assert load_of(conversing("broadcast-capacity", objective="lag p99<5s")).timeout_s == 10
    plan = test.search[1]
    assert plan.requests == 10 * 1000  # a p99 takes a thousand messages, however many receivers each has
    assert plan.probe_s(2000.0, 1.0) == 5.0


def test_one_may_be_coarser():
    assert conversing("echo-capacity").search[1].precision == 0.03
    assert conversing("echo-capacity", precision=0.1).search[1].precision == 0.1


def test_the_studies_that_ship_know_a_p99_in_each_of_their_probes_and_take_as_long_as_they_say():
    sockets, users = studies.load("websocket-capacity"), studies.load("users")
    assert {test.kind.name for test in sockets.tests} == set(SEARCHES)
    for test in sockets.tests:
        assert [limit.key for limit in test.search[0].limits] == ["p99"]
        assert test.search[1].probe_s(test.pace.start_rate, 0.0) <= 10
    assert planned_seconds(users, schedule(users, seed=1)) == pytest.approx(33 * 60, rel=0.05)


def parsed(where="s.toml", **keys):
    return a_test("journey-capacity", where=where, **keys)


def test_how_many_users_is_a_whole_number():
    test = parsed(start_rate=20, max_rate=1000, think=["250ms", "500ms"], probe="5s")
    objective, plan = test.search
    assert str(objective) == "p99<500ms, errors<0.1%"
    assert (plan.first_rate, plan.max_rate, plan.unit, plan.whole) == (20, 1000, "users", True)
    assert load_of(test).users.users == 20
    assert test.decisive is CAPACITY_USERS
    assert test.description == (
        "the journey questionnaire at /questionnaire/, the most users within p99<500ms, failures<0.1%, "
        "thinking for 0.25 to 0.5 s"
    )
    # It takes an engine that can stop and knows when users were ready.
    assert test.engine == "locust"
    assert test.pace.engine_features == {Feature.EARLY_STOP, Feature.RESPONSE_TIME}
    assert load_of(test).features == {Feature.JOURNEYS}


def test_new_users_come_at_a_rate():
    test = parsed(model="arrivals", start_rate=0.5)
    _, plan = test.search
    assert (plan.first_rate, plan.unit, plan.whole) == (0.5, "new users/s", False)
    assert (load_of(test).users.users, load_of(test).users.arrivals) == (None, 0.5)
    assert test.decisive is CAPACITY_ARRIVALS
    assert "the highest rate of new users within" in test.description


def test_each_probe_has_other_users_and_as_many_connections():
    first = load_of(parsed(injectors=2), seed=7)
    probe = first.probing(41.0, 8.0, 3)
    assert (probe.users.users, probe.connections, probe.duration_s, probe.rate) == (41, 41, 8.0, None)
    assert probe.arrival_seed not in (None, first.arrival_seed, first.probing(41.0, 8.0, 4).arrival_seed)
    assert first.probing(1.0, 8.0, 3).connections == 2  # one for each process
    coming = load_of(parsed(model="arrivals")).probing(2.5, 8.0, 0)
    assert (coming.users.arrivals, coming.rate) == (2.5, None)


def test_a_probe_is_long_enough_for_the_percentile_where_that_is_known(tmp_path):
    (tmp_path / "mine.py").touch()

    def probe_s(rate, **keys):
        return parsed(str(tmp_path / "s.toml"), probe="5s", **keys).search[1].probe_s(rate, 5.0)

    assert probe_s(1.0, model="arrivals") == pytest.approx(1000 / 18.5, abs=0.1)
    assert probe_s(20.0, think=["1s", "1s"]) == pytest.approx(1000 / (20 * 18.5 / 8.75), abs=0.1)
    assert probe_s(1.0, journey="mine.py") == 5.0  # how many requests it makes is not known
