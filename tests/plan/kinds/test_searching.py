"""Searches for a capacity, over WebSockets and in users: what they count, and within which objective."""

import pytest

from loadtests.errors import UserError
from loadtests.plan import kinds
from loadtests.plan import study as studies
from loadtests.plan.kinds.journey import CAPACITY_ARRIVALS, CAPACITY_USERS
from loadtests.plan.schedule import planned_seconds, schedule
from loadtests.workload import Feature
from tests.fixtures.conversations import SEARCHES, conversing
from tests.fixtures.studies import a_test, load_of

KINDS = tuple(SEARCHES)


@pytest.mark.parametrize(
    ("kind", "does", "counts", "objective"),
    [
        ("connect-capacity", "connect", "connections", "p99<50ms, errors<0.1%"),
        ("echo-capacity", "echo", "messages", "p99<50ms, errors<0.1%"),
        ("broadcast-capacity", "broadcast", "deliveries", "lag p99<100ms, missing<0.01%, errors<0.1%"),
    ],
)
def test_each_searches_for_what_it_counts(kind, does, counts, objective):
    test = conversing(kind)
    found, plan = test.search
    assert (str(found), plan.counts, test.kind.cost_unit.plural) == (objective, counts, counts)
    assert (plan.short_s, plan.long_s) == (1, 2)
    assert test.decisive.unit == f"{counts}/s"
    assert [one.name for one in kinds.every_metric() if one is test.decisive]
    assert (test.fixed_rate, test.can_interleave) == (None, False)
    load = load_of(test)
    assert (load.conversation.does, load.arrival_seed, load.duration_s) == (does, 7, 1)
    assert "request" not in f"{test.description} {test.condition} {test.kind.heading} {test.kind.about}"


def test_the_rates_of_a_broadcast_are_of_deliveries():
    test = conversing("broadcast-capacity")  # 20 receivers in two rooms: ten deliveries of each message
    load = load_of(test)
    assert (test.pace.start_rate, load.rate, load.connections) == (2000, 200, 1)
    assert load.counts_each == 10
    assert load.timeout_s == 2  # what a probe too many has lost is not waited for longer
    patient = conversing("broadcast-capacity", objective="lag p99<5s")
    assert load_of(patient).timeout_s == 10
    plan = test.search[1]
    assert plan.requests == 10 * 1000  # a p99 takes a thousand messages, however many receivers each has
    assert plan.probe_s(2000.0, 1.0) == 5.0
    with pytest.raises(UserError, match="needs 100,000 deliveries in a probe, which at 100 deliveries/s"):
        conversing("broadcast-capacity", receivers=100, rooms=1, start_rate=100)


def test_one_may_be_coarser_and_is_another_then():
    assert conversing("echo-capacity").search[1].precision == 0.03
    coarse = conversing("echo-capacity", precision=0.1)
    assert coarse.search[1].precision == 0.1
    assert not coarse.same_as(conversing("echo-capacity"))


@pytest.mark.parametrize("kind", KINDS)
def test_another_objective_asks_something_else(kind):
    other = "lag p95<100ms" if kind == "broadcast-capacity" else "p95<50ms"
    assert conversing(kind).same_as(conversing(kind, probe="5s"))
    assert not conversing(kind).same_as(conversing(kind, objective=other))
    assert not conversing(kind).same_as(conversing(kind, size=100))


def test_the_study_knows_a_p99_in_each_of_its_probes():
    study = studies.load("websocket-capacity")
    assert {test.kind.name for test in study.tests} == set(KINDS)
    for test in study.tests:
        assert [limit.key for limit in test.search[0].limits] == ["p99"]
        assert test.search[1].probe_s(test.pace.start_rate, 0.0) <= 10


def parsed(where="s.toml", **keys):
    return a_test("journey-capacity", where=where, **{**keys})


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
    _, plan = parsed(model="arrivals", probe="5s").search
    assert plan.probe_s(1.0, 5.0) == pytest.approx(1000 / 18.5, abs=0.1)
    _, plan = parsed(think=["1s", "1s"], probe="5s").search
    assert plan.probe_s(20.0, 5.0) == pytest.approx(1000 / (20 * 18.5 / 8.75), abs=0.1)
    (tmp_path / "mine.py").touch()
    _, plan = parsed(str(tmp_path / "s.toml"), journey="mine.py", probe="5s").search
    assert plan.probe_s(1.0, 5.0) == 5.0  # how many requests it makes is not known


def test_it_takes_an_engine_that_can_stop_and_knows_when_users_were_ready():
    test = parsed()
    assert test.engine == "locust"
    assert test.pace.engine_features == {Feature.EARLY_STOP, Feature.RESPONSE_TIME}
    assert load_of(test).features == {Feature.JOURNEYS}


def test_the_study_that_ships_takes_about_33_minutes():
    study = studies.load("users")
    assert planned_seconds(study, schedule(study, seed=1)) == pytest.approx(33 * 60, rel=0.05)
