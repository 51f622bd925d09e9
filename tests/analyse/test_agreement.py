"""Whether processes that share a load saw one server."""

import dataclasses

import pytest

from loadtests.analyse.validity import differing, judge
from loadtests.records import Evidence, Generator
from loadtests.workload import Load, Request

SEEN = Generator(1.0, 10.0, 50.0, p50_ms=4.0, ok=500, planned=500)


LOAD = Load("http://127.0.0.1:1", (Request("GET /"),), rate=100.0, duration_s=10.0)


@pytest.fixture
def results_of(a_result):
    def results_of(*others):
        parts = [SEEN, *(dataclasses.replace(SEEN, **other) for other in others)]
        return a_result(LOAD, generator=tuple(parts))

    return results_of


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ({}, []),
        ({"p50_ms": 4.9}, []),  # within a quarter and a millisecond
        ({"p50_ms": 5.2}, ["p50 from 4.00 to 5.20 ms"]),
        ({"p50_ms": 40.0, "planned": 99}, []),  # too few to know
        ({"p50_ms": None}, []),
        ({"ok": 350}, ["answered well: 70% to 100%"]),
        ({"ok": 400}, []),
    ],
)
def test_more_than_noise_is_told(results_of, other, says):
    assert list(differing(results_of(other))) == says


def test_fast_answers_may_differ_by_more_as_two_networks_do(results_of):
    assert list(differing(results_of({"p50_ms": 4.2}, {"p50_ms": 3.9}))) == []


def test_it_makes_a_trial_invalid(results_of):
    [flag] = [one for one in judge(Evidence(), results_of({"p50_ms": 9.0})) if one.reason == "clients_differ"]
    assert flag.severity == "invalid"
    assert "p50 from 4.00 to 9.00 ms" in flag.sentence


def test_where_there_is_none_nothing_is_said(results_of):
    assert list(differing(None)) == []
    assert list(differing(results_of())) == []
