"""A load that makes no sense is refused in one line."""

import math

import pytest

from loadtests.errors import UserError
from loadtests.workload import Load

URL = "http://127.0.0.1:8000/"


@pytest.mark.parametrize(
    "values",
    [
        {"rate": 0},
        {"rate": -1},
        {"rate": math.nan},
        {"rate": math.inf},
        {"rate": 1e7},
        {"duration_s": 0},
        {"duration_s": -5},
        {"duration_s": math.nan},
        {"duration_s": math.inf},
        {"timeout_s": 0},
        {"connections": 0},
        {"connections": 100_000},
        {"processes": 0},
        {"processes": 11},  # more than the 10 connections of a closed loop
        {"rate": 1, "duration_s": 2, "processes": 3},
        {"rate": 1e6, "duration_s": 3600},
    ],
)
def test_nonsense_is_refused(values):
    with pytest.raises(UserError) as caught:
        Load.of_url(URL, **values)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    ["", "localhost:8000", "ftp://127.0.0.1/", "http://", "http://host:port/", "http://127.0.0.1/a b", "http://ä/"],
)
def test_no_url(url):
    with pytest.raises(UserError, match="is not a URL that can be loaded"):
        Load.of_url(url)


def test_a_user_in_a_url_is_not_dropped_in_silence():
    with pytest.raises(UserError, match=r"^http://127.0.0.1/ is asked for with a user's name; send it as a header"):
        Load.of_url("http://ada:hunter2@127.0.0.1/")


@pytest.mark.parametrize(
    ("rate", "duration_s", "planned"), [(300, 10, 3000), (0.1, 30, 3), (100, 1.01, 101), (3, 0.5, 2), (1, 0.1, 1)]
)
def test_planned_are_the_requests_due_before_the_end(rate, duration_s, planned):
    assert Load.of_url(URL, rate=rate, duration_s=duration_s).planned == planned
