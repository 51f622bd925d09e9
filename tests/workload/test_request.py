"""What is no request, and no workload, is refused in one line; what is one is kept whole."""

import json

import pytest

from loadtests.errors import UserError
from loadtests.workload import Request, Workload


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"name": ""}, r"^name: is ''"),
        ({"name": "a\nb"}, r"^name: "),
        ({"method": "get"}, r"^method: is 'get'; allowed: GET, HEAD, POST"),
        ({"method": "BREW"}, r"^method: is 'BREW'"),
        ({"name": "GET /\r\n", "path": "/\r\n"}, r"^path: .*percent-encoded"),
        ({"name": "G\nT /", "method": "G\nT"}, r"^method: is 'G\\nT'"),
        ({"path": "async/"}, r"^path: is 'async/'; it must begin with '/'"),
        ({"path": "/a b"}, r"^path: .*percent-encoded"),
        ({"path": "/é"}, r"^path: .*percent-encoded"),
        ({"path": "/#top"}, r"^path: .*without a fragment"),
        ({"headers": (("X Y", "1"),)}, r"^headers: 'X Y' is not a header's name"),
        ({"headers": (("X", "a\r\nb"),)}, r"^headers: X: "),
        ({"headers": (("X", "日"),)}, r"^headers: X: its value is not .*Latin-1 text$"),
        ({"headers": (("Content-Length", "3"),)}, r"^headers: Content-Length is set by what sends"),
        ({"headers": (("Host", "a"), ("host", "b"))}, r"^headers: Host is there twice"),
        ({"weight": 0}, r"^weight: is 0; a number above 0"),
        ({"weight": -1}, r"^weight: is -1"),
        ({"weight": float("nan")}, r"^weight: is nan"),
        ({"weight": float("inf")}, r"^weight: is inf"),
        ({"status": 101}, r"^status: is 101"),
    ],
)
def test_what_is_no_request(values, says):
    with pytest.raises(UserError, match=says) as error:
        Request(**{"name": "a", **values})
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("body", [None, b"", b"text", "é".encode(), b"\xff\x00"])
def test_a_request_is_kept_whole_as_json(body):
    request = Request("a", "POST", "/a?b=%20", (("X", "1"), ("X", "2")), body, 2.5, 201)
    assert Request.from_dict(json.loads(json.dumps(request.to_dict()))) == request


A, B = Request("a"), Request("b")


@pytest.mark.parametrize(
    ("requests", "at", "says"),
    [
        ((), (), "at least one"),
        ((A, Request("a", path="/other")), (), "two have the name 'a'"),
        (tuple(Request(str(number)) for number in range(501)), (), "there are 501; at most 500"),
        ((A, B), ((1.0,), ()), "all or none"),
        ((A,), ((-1.0,),), "0 or more"),
        ((A,), ((float("nan"),),), "0 or more"),
        ((A,), (tuple(map(float, range(100_001))),), "at most 100,000 can be replayed"),
    ],
)
def test_what_is_no_workload(requests, at, says):
    with pytest.raises(UserError, match=says) as error:
        Workload(requests, at)
    assert "\n" not in str(error.value)


def test_a_replay_begins_at_once_and_lasts_a_mean_gap_longer():
    replay = Workload((A, B), ((10.0, 13.0), (11.0, 12.0))).replay()
    assert replay.sends == ((0, 0), (1, 1), (2, 1), (3, 0))
    assert (replay.duration_s, replay.rate) == (4, 1)
    assert replay.until(2) == ((0, 0), (1, 1))


def test_a_replay_can_be_faster_or_slower():
    workload = Workload((A,), ((0.0, 4.0),))
    assert workload.replay(2).sends == ((0, 0), (2, 0))
    assert workload.replay(0.5).duration_s == 16
    for speed in (0, -1, float("nan"), float("inf")):
        with pytest.raises(UserError, match=r"speed: is .*above 0"):
            workload.replay(speed)


def test_what_was_not_recorded_cannot_be_replayed():
    with pytest.raises(UserError, match="was not recorded"):
        Workload((A,)).replay()
