"""Metrics by name: their directions and their words."""

import pytest

from loadtests.plan.kinds import every_metric, metric


def test_every_metric_is_found_by_its_name():
    for one in every_metric():
        assert metric(one.name) is one


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("web_cpu_ms_per_request", "CPU per request, web"),
        ("redis_uncharged_cpu_ms_per_request", "CPU per request, redis, not charged"),
    ],
)
def test_a_role_has_a_metric_of_its_own_charged_or_not(name, label):
    assert (metric(name).name, metric(name).label) == (name, label)


def test_an_unknown_name_has_no_guessed_direction():
    with pytest.raises(ValueError, match="unknown metric 'speed'; known are p50_ms, "):
        metric("speed")


def test_a_time_is_called_what_the_engine_knows():
    assert metric("p99_ms").in_words("service time") == "p99 service time"
    assert metric("rps").in_words("service time") == "requests per second"


def test_a_unit_is_said_once():
    assert metric("p99_ms").with_unit("p99 response time") == "p99 response time, ms"
    assert metric("rps").with_unit("requests per second") == "requests per second"
    assert metric("capacity_rps").with_unit("capacity") == "capacity, requests/s"


def test_what_nobody_asked_a_question_about_is_asked_in_plain_words():
    assert metric("memory_peak_mb").topic == "peak memory"
    assert metric("memory_peak_mb").verb == "has the least"
    assert metric("requests_per_cpu_s").verb == "has the most"
