"""When requests are due."""

import dataclasses

import pytest

from loadtests.errors import UserError
from loadtests.plan import study as studies
from loadtests.plan.schedule import schedule
from loadtests.workload import Feature
from tests.fixtures.studies import a_test, load_of


def study():
    tests = {"latency": {"rate": 300, "duration": "1s"}}
    return studies.parse({"setups": ["gunicorn", "uvicorn"], "blocks": 2, "tests": tests}, "s", "s.toml")


@pytest.mark.parametrize(
    ("kind", "keys", "sent"),
    [
        ("latency", {"rate": 300, "duration": "1s"}, "GET / at 300 requests per second"),
        ("capacity", {}, "GET / at the highest rate within p99<50ms"),
    ],
)
def test_arrivals_are_random_unless_a_study_says_otherwise(kind, keys, sent):
    test, even = a_test(kind, **keys), a_test(kind, **keys, arrivals="even")
    assert (test.description, load_of(test).arrival_seed) == (f"{sent}, at random moments", 7)
    assert (even.description, load_of(even).arrival_seed) == (sent, None)
    assert Feature.RANDOM_ARRIVALS in load_of(test).features
    assert not test.same_as(even)


def test_all_setups_of_a_block_get_the_same_moments_and_another_block_gets_others():
    chances = {}
    for slot in schedule(study(), seed=1):
        chances.setdefault(slot.block, set()).add(slot.load_seed(1))
    first, second = chances.values()
    assert len(first) == len(second) == 1
    assert first != second
    assert first != {schedule(study(), seed=2)[0].load_seed(2)}


def test_a_replay_is_due_when_it_was_recorded():
    table = {"pace": "recorded", "requests": [{"at": [0, 0.5]}]}
    parsed = studies.parse({"setups": ["gunicorn"], "tests": {"latency": table}}, "s", "s.toml")
    [test] = parsed.tests
    assert test.pace.record()["arrivals"] == "recorded"
    assert Feature.RANDOM_ARRIVALS not in load_of(test).features
    assert dataclasses.replace(parsed).with_requests(test.requests).tests[0].pace.arrivals == "random"
    with pytest.raises(UserError, match="arrivals: is not a key here"):
        studies.parse({"setups": ["gunicorn"], "tests": {"latency": {**table, "arrivals": "even"}}}, "s", "s.toml")
