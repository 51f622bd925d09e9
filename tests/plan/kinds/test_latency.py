"""When the requests of a latency test are due."""

import dataclasses

import pytest

from loadtests.errors import UserError
from loadtests.plan import study as studies
from loadtests.plan.schedule import schedule
from loadtests.workload import Feature


def study(**test):
    table = {
        "setups": ["gunicorn", "uvicorn"],
        "blocks": 2,
        "tests": {"latency": {"rate": 300, "duration": "1s", **test}},
    }
    return studies.parse(table, "s", "s.toml")


def load(test, seed=0):
    return test.load("http://127.0.0.1:1", test.requests, (), None, seed)


def test_arrivals_are_random_unless_a_study_says_otherwise():
    [test] = study().tests
    assert test.description == "GET / at 300 requests per second, at random moments"
    assert Feature.RANDOM_ARRIVALS in load(test).features
    [even] = study(arrivals="even").tests
    assert even.description == "GET / at 300 requests per second"
    assert load(even).arrival_seed is None
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
    assert Feature.RANDOM_ARRIVALS not in load(test).features
    assert dataclasses.replace(parsed).with_requests(test.requests).tests[0].pace.arrivals == "random"
    with pytest.raises(UserError, match="arrivals: is not a key here"):
        studies.parse({"setups": ["gunicorn"], "tests": {"latency": {**table, "arrivals": "even"}}}, "s", "s.toml")
