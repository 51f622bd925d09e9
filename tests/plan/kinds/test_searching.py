"""Searches for a capacity over WebSockets: what they count, and within which objective."""

import pytest

from loadtests.errors import UserError
from loadtests.plan import kinds
from loadtests.plan.study import load as study_of
from tests.fixtures.conversations import SEARCHES, conversing
from tests.fixtures.studies import load_of

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


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        ("connect-capacity", {"connections": 3}),
        ("connect-capacity", {"objective": "p99<50ms, missing<1%"}),
        ("echo-capacity", {"objective": "lag p99<50ms"}),
        ("echo-capacity", {"rate": 10}),
        ("echo-capacity", {"start_rate": 0}),
        ("broadcast-capacity", {"objective": "p99<50ms"}),
        ("broadcast-capacity", {"objective": "missing<1%"}),
        ("broadcast-capacity", {"duration": "1s"}),
    ],
)
def test_a_wrong_key_is_refused(kind, wrong):
    with pytest.raises(UserError):
        conversing(kind, **wrong)


def test_the_study_knows_a_p99_in_each_of_its_probes():
    study = study_of("websocket-capacity")
    assert {test.kind.name for test in study.tests} == set(KINDS)
    for test in study.tests:
        assert [limit.key for limit in test.search[0].limits] == ["p99"]
        assert test.search[1].probe_s(test.pace.start_rate, 0.0) <= 10
