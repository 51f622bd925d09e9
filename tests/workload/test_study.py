"""What a test of a study asks: one request, several, a file of them, a recording."""

import hashlib
import json

import pytest

from loadtests.errors import UserError
from loadtests.plan import study
from loadtests.workload import Request
from loadtests.workload.request import BodyFile

WORKLOAD = """
[[requests]]
path = "/a"
at = [10, 11, 13]

[[requests]]
path = "/b"
method = "POST"
body_file = "body.bin"
at = [12]
"""


@pytest.fixture
def load(tmp_path):
    """A function: the one test of a study whose table holds these lines, in a folder with a recorded workload."""
    (tmp_path / "recorded.toml").write_text(WORKLOAD)
    (tmp_path / "plain.toml").write_text("[[requests]]\n")
    (tmp_path / "body.bin").write_bytes(b"\xff")

    def read(lines, kind="latency"):
        file = tmp_path / "mine.toml"
        file.write_text(f'setups = ["gunicorn"]\n[tests.{kind}]\n{lines}\n')
        return study.load(str(file))

    return read


EVENLY = "rate = 10\nduration = '5s'\n"


def test_one_request_in_full(load, tmp_path):
    [test] = load(EVENLY + "method = 'PUT'\nheaders = {X = '1'}\nbody_file = 'body.bin'\nstatus = 204").tests
    file = BodyFile(str(tmp_path / "body.bin"), 1, hashlib.sha256(b"\xff").hexdigest())
    assert test.requests == (Request("PUT /", "PUT", "/", (("X", "1"),), b"\xff", status=204, body_file=file),)


@pytest.mark.parametrize(
    ("kind", "lines"), [("latency", EVENLY), ("throughput", "duration = '5s'\n"), ("capacity", "probe = '1s'\n")]
)
def test_every_kind_of_test_takes_a_mix(load, kind, lines):
    [test] = load(lines + "requests = [{weight = 3}, {path = '/b'}]", kind).tests
    assert [(request.name, request.weight) for request in test.requests] == [("GET /", 3), ("GET /b", 1)]


def test_a_replay_has_the_times_and_the_mean_rate_of_the_recording(load):
    [test] = load("workload = 'recorded.toml'\npace = 'recorded'\nspeed = 2").tests
    assert test.pace.recorded == ((0, 0), (0.5, 0), (1, 1), (1.5, 0))
    assert (test.pace.speed, test.pace.rate, test.pace.duration_s) == (2, 2, 2)


def test_run_json_holds_all_of_it(load):
    found = load("workload = 'recorded.toml'\npace = 'recorded'")
    kept = study.from_dict(json.loads(json.dumps(found.to_dict())))
    assert kept.tests[0].requests[1].body is None  # which its file has
    assert kept.with_bodies() == found


def test_where_the_file_of_a_body_is_makes_no_other_test(load, tmp_path):
    lines = EVENLY + "body_file = '{}'"
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "body.bin").write_bytes(b"\xff")
    (tmp_path / "other.bin").write_bytes(b"\xfe")
    first, moved, other = (load(lines.format(name)).tests[0] for name in ("body.bin", "below/body.bin", "other.bin"))
    assert first.same_as(moved)
    assert first.exact_description == moved.exact_description
    assert not first.same_as(other)
    assert first.exact_description != other.exact_description


@pytest.mark.parametrize(
    ("kind", "lines", "says"),
    [
        ("latency", EVENLY + "requests = []", r"mine.toml: tests.latency.requests: is \[\]; a list that is not empty"),
        ("latency", EVENLY + "requests = [{weight = 0}]", r"tests.latency.requests\[1\].weight: is 0"),
        ("latency", EVENLY + "requests = [{}]\npath = '/'", r"tests.latency.path: is not a key here; .*requests"),
        ("latency", EVENLY + "requests = [{}]\nworkload = 'a'", r"requests: is given together with workload"),
        (
            "latency",
            EVENLY + "workload = 'none.toml'",
            r"tests.latency.workload: none.toml cannot be read: No such file",
        ),
        ("latency", EVENLY + "method = 'BREW'", r"tests.latency.method: is 'BREW'; one of 'DELETE', 'GET'"),
        ("latency", EVENLY + "path = '/a b'", r"tests.latency.path: .*percent-encoded"),
        ("latency", EVENLY + 'path = "/a\\r\\nX: y"', r"tests.latency.path: .*percent-encoded"),
        ("latency", EVENLY + "speed = 2", r"tests.latency.speed: is not a key here; .*pace"),
        ("latency", EVENLY + "pace = 'fast'", r"tests.latency.pace: is 'fast'; 'even' or 'recorded' is needed"),
        ("latency", "pace = 'recorded'\nworkload = 'plain.toml'", r"pace: is 'recorded', but it was not recorded"),
        ("latency", "pace = 'recorded'", r"pace: is 'recorded', but it was not recorded"),
        ("latency", EVENLY + "workload = 'recorded.toml'\npace = 'recorded'", r"rate: is not a key here"),
        ("latency", "pace = 'recorded'\nspeed = -1\nworkload = 'recorded.toml'", r"speed: is -1; a number above 0"),
        ("throughput", "pace = 'recorded'\nworkload = 'recorded.toml'", r"pace: is 'recorded'; 'even' is needed"),
    ],
)
def test_a_mistake_gets_one_line(load, kind, lines, says):
    with pytest.raises(UserError, match=says) as error:
        load(lines, kind)
    assert "\n" not in str(error.value)
