"""Test the values of requests, workloads, loads and users.

Invalid values are one-line errors, valid values are restored from JSON, and due times are correct.
"""

import itertools
import json
import math

import pytest

from loadtests.errors import UserError
from loadtests.workload import Load, Request, Users, Workload

NOT_ENCODED = "^path: .*percent-encoded"


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"name": ""}, r"^name: must be a line of text, not ''"),
        ({"method": "G\nT"}, r"^method: must be one of GET, .*, not 'G\\nT'"),
        ({"path": "async/"}, r"^path: must start with '/', not 'async/'"),
        ({"path": "/\r\n"}, NOT_ENCODED),
        ({"headers": (("X Y", "1"),)}, r"^headers: 'X Y' is not a valid header name"),
        ({"headers": (("X", "a\r\nb"),)}, r"^headers: X: "),
        ({"headers": (("Content-Length", "3"),)}, r"^headers: Content-Length is set by the load generator"),
        ({"headers": (("Host", "a"), ("host", "b"))}, r"^headers: Host occurs twice"),
        ({"weight": 0}, r"^weight: must be a number above 0 .*, not 0$"),
        ({"weight": math.nan}, r"^weight: must be a number above 0 .*, not nan$"),
        ({"status": 101}, r"^status: must be a final status from 200 to 599, not 101"),
    ],
)
def test_invalid_request_is_refused(values, says):
    with pytest.raises(UserError, match=says) as error:
        Request(**{"name": "a", **values})
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("body", [None, b"", b"text", "é".encode(), b"\xff\x00"])
def test_request_is_restored_from_json(body):
    request = Request("a", "POST", "/a?b=%20", (("X", "1"), ("X", "2")), body, 2.5, 201)
    assert Request.from_dict(json.loads(json.dumps(request.to_dict()))) == request


A, B = Request("a"), Request("b")


@pytest.mark.parametrize(
    ("requests", "at", "says"),
    [
        ((), (), "at least one"),
        ((A, Request("a", path="/other")), (), "two requests have the name 'a'"),
        (tuple(Request(str(number)) for number in range(501)), (), "must contain at most 500 requests, not 501"),
        ((A, B), ((1.0,), ()), "Add or remove times"),
        ((A,), ((-1.0,),), "0 or more"),
        ((A,), (tuple(map(float, range(100_001))),), "At most 100,000 can be replayed"),
    ],
)
def test_invalid_workload_is_refused(requests, at, says):
    with pytest.raises(UserError, match=says) as error:
        Workload(requests, at)
    assert "\n" not in str(error.value)


def test_replay_speed_changes_its_times():
    replay = Workload((A, B), ((10.0, 13.0), (11.0, 12.0))).replay()
    assert replay.sends == ((0, 0), (1, 1), (2, 1), (3, 0))
    assert (replay.duration_s, replay.rate) == (4, 1)
    workload = Workload((A,), ((0.0, 4.0),))
    assert workload.replay(2).sends == ((0, 0), (2, 0))
    assert workload.replay(0.5).duration_s == 16
    for speed in (0, -1, math.nan, math.inf):
        with pytest.raises(UserError, match=r"speed: must be .*above 0"):
            workload.replay(speed)
    with pytest.raises(UserError, match="was not recorded"):
        Workload((A,)).replay()


URL = "http://127.0.0.1:8000/"


@pytest.mark.parametrize(
    "values",
    [
        *({"rate": rate} for rate in (0, -1, math.nan, math.inf, 1e7)),
        *({"duration_s": seconds} for seconds in (0, -5, math.nan, math.inf)),
        {"connections": 100_000},
        {"processes": 11},  # more than the 10 connections of a closed loop
        {"rate": 1, "duration_s": 2, "processes": 3},
        {"rate": 1e6, "duration_s": 3600},
    ],
)
def test_invalid_load_is_refused(values):
    with pytest.raises(UserError) as caught:
        Load.of_url(URL, **values)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "says"),
    [
        *(
            (url, "is not a URL for a load")
            for url in ("", "localhost:8000", "ftp://a/", "http://", "http://a:port/", "http://a/a b", "http://ä/")
        ),
        ("http://ada:hunter2@a/", "^http://a/ contains a login. Send it in the header"),
    ],
)
def test_invalid_target_is_refused(url, says):
    with pytest.raises(UserError, match=says):
        Load.of_url(url)


@pytest.mark.parametrize(
    ("rate", "duration_s", "planned"), [(300, 10, 3000), (0.1, 30, 3), (100, 1.01, 101), (3, 0.5, 2), (1, 0.1, 1)]
)
def test_requests_are_due_before_end(rate, duration_s, planned):
    assert Load.of_url(URL, rate=rate, duration_s=duration_s).planned == planned


def users(**who):
    return Users("journey.py", "/", **{"think_s": (1.0, 2.0), **who})


def test_users_arrive_evenly_during_ramp():
    assert users(users=4).starts(2.0, 10.0, seed=1) == [(0, 0.0), (1, 0.5), (2, 1.0), (3, 1.5)]
    assert users(users=2).starts(0.0, 10.0, seed=1) == [(0, 0.0), (1, 0.0)]


def test_new_users_arrive_randomly_by_seed():
    starts = users(arrivals=10.0).starts(5.0, 20.0, seed=1)
    numbers, moments = zip(*starts, strict=True)
    assert numbers == tuple(range(250))
    assert list(moments) == sorted(moments)
    assert sum(moment < 5.0 for moment in moments) == 50
    assert all(moment < 25.0 for moment in moments)
    gaps = {round(after - before, 6) for before, after in itertools.pairwise(moments)}
    assert len(gaps) > 200
    assert starts == users(arrivals=10.0).starts(5.0, 20.0, seed=1)
    assert starts != users(arrivals=10.0).starts(5.0, 20.0, seed=2)


@pytest.mark.parametrize(
    ("who", "says"),
    [
        ({}, "either a number of users or an arrival rate"),
        ({"users": 0}, "number of users must be from 1 to 20,000, not 0"),
        ({"arrivals": 0.0}, "must be over 0, not 0"),
        ({"users": 1, "think_s": (2.0, 1.0)}, "shortest first, not 2 to 1"),
        ({"users": 1, "think_s": (0.0, math.nan)}, "the think time must be from 0"),
        ({"arrivals": 100_000.0}, "100000 users/s for 3610 s are more than 1,000,000"),  # raised before times are drawn
    ],
)
def test_invalid_users_are_refused(who, says):
    with pytest.raises(UserError, match=says):
        users(**who).starts(10.0, 3600.0, seed=1)
