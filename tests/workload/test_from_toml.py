"""Test workload files and the requests in a study: one request, several, a file, or a recording.

A workload is the same after writing and reading. Errors contain the file and the key.
"""

import hashlib
import json
import os

import pytest

from loadtests.errors import UserError
from loadtests.plan import study
from loadtests.workload import Request, Workload, from_toml
from loadtests.workload.request import BodyFile
from loadtests.workload.write import to_toml

GOOD = """
[[requests]]
path = "/"
at = [0, 1.5, 2]

[[requests]]
name = "log in"
method = "POST"
path = "/login/?next=/"
headers = { "Content-Type" = "application/json", X-Twice = ["1", "2"] }
body = '{"a": 1}'
status = 302
at = [1]
"""
HEADERS = (("Content-Type", "application/json"), ("X-Twice", "1"), ("X-Twice", "2"))


@pytest.fixture
def file(tmp_path):
    def write(text):
        path = tmp_path / "mine.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_recorded_times_determine_the_weights(file):
    front, login = from_toml.read(file(GOOD)).requests
    assert front == Request("GET /", weight=3)
    assert login == Request("log in", "POST", "/login/?next=/", HEADERS, b'{"a": 1}', status=302)


@pytest.mark.parametrize(
    "workload",
    [
        Workload((Request("GET /"), Request('odd "name" \\ é', "PUT", "/a", (), b"\xff", 0.25, 404))),
        Workload((Request("a", headers=(("X", "1"), ("Y", 'q"\t'), ("X", "2"))),)),
        Workload((Request("a", "POST", body="\x7f\x00é\u2028".encode()),), ((0.0, 1e-06, 12345.678901),)),
    ],
)
def test_written_file_is_read_back(file, workload):
    read = from_toml.read(file(to_toml(workload, ("a comment", "another"))))
    assert read.at == workload.at
    for found, request in zip(read.requests, workload.requests, strict=True):
        assert sorted(found.headers) == sorted(request.headers)
        assert {**found.to_dict(), "headers": []} == {**request.to_dict(), "headers": []}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[requests]]\n[[requests]]", r"two requests have the name 'GET /'. Rename one"),
        ("[[requests]]\nbody = 'a'\nbody_base64 = 'YQ=='", r"body and body_base64 can't be combined"),
        ("[[requests]]\nbody_base64 = '!'", r"requests\[1\].body_base64: is not base64"),
        ("[[requests]]\nbody_file = 'none'", r"requests\[1\].body_file: none cannot be read: No such file"),
        ("[[requests]]\nat = ['now']", r"requests\[1\].at\[1\]: must be a number of at least 0"),
    ],
)
def test_file_mistake_is_clear_error(file, text, says):
    with pytest.raises(UserError, match=says) as error:
        from_toml.read(file(text))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("pipe", "it is not a regular file"),
        (".", "Is a directory"),
        ("vast", "it is larger than 32 MB"),
        ("a\\u0000b", "its name contains a null character"),
    ],
)
def test_body_file_has_a_limit(file, tmp_path, name, why):
    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / "vast").open("wb") as vast:
        vast.truncate(10**12)
    with pytest.raises(UserError, match=rf"requests\[1\].body_file: .* cannot be read: {why}"):
        from_toml.read(file(f'[[requests]]\nmethod = "POST"\nbody_file = "{name}"'))


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
EVENLY = "rate = 10\nduration = '5s'\n"
REPLAYED = "workload = 'recorded.toml'\npace = 'recorded'\n"


@pytest.fixture
def load(tmp_path):
    """Return a function that returns a study whose only test is defined by these lines.

    The study's folder contains a recorded workload.
    """
    (tmp_path / "recorded.toml").write_text(WORKLOAD)
    (tmp_path / "plain.toml").write_text("[[requests]]\n")
    (tmp_path / "body.bin").write_bytes(b"\xff")

    def read(lines, kind="latency"):
        file = tmp_path / "mine.toml"
        file.write_text(f'setups = ["gunicorn"]\n[tests.{kind}]\n{lines}\n')
        return study.load(str(file))

    return read


def test_keys_define_the_request(load, tmp_path):
    [test] = load(EVENLY + "method = 'PUT'\nheaders = {X = '1'}\nbody_file = 'body.bin'\nstatus = 204").tests
    file = BodyFile(str(tmp_path / "body.bin"), 1, hashlib.sha256(b"\xff").hexdigest())
    assert test.requests == (Request("PUT /", "PUT", "/", (("X", "1"),), b"\xff", status=204, body_file=file),)


def test_replay_is_complete_in_run_record(load):
    found = load(REPLAYED + "speed = 2")
    [test] = found.tests
    assert test.pace.recorded == ((0, 0), (0.5, 0), (1, 1), (1.5, 0))
    assert (test.pace.speed, test.pace.rate, test.pace.duration_s) == (2, 2, 2)
    kept = study.from_dict(json.loads(json.dumps(found.to_dict())))
    assert kept.tests[0].requests[1].body is None  # only the body's own file contains the body
    assert kept.with_bodies() == found


def test_body_file_may_be_moved(load, tmp_path):
    (tmp_path / "moved.bin").write_bytes(b"\xff")
    (tmp_path / "other.bin").write_bytes(b"\xfe")
    names = ("body.bin", "moved.bin", "other.bin")
    first, moved, other = (load(f"{EVENLY}body_file = '{name}'").tests[0] for name in names)
    assert first.same_as(moved)
    assert first.exact_description == moved.exact_description
    assert not first.same_as(other)
    assert first.exact_description != other.exact_description


@pytest.mark.parametrize(
    ("kind", "lines", "says"),
    [
        ("latency", EVENLY + "requests = []", r"mine.toml: tests.latency.requests: must be a list that is not empty"),
        ("latency", EVENLY + "requests = [{}]\nworkload = 'a'", r"requests: can't be combined with workload"),
        ("latency", EVENLY + "workload = 'no.toml'", r"tests.latency.workload: no.toml cannot be read: No such file"),
        ("latency", "pace = 'recorded'\nworkload = 'plain.toml'", r"pace: is 'recorded', but it was not recorded"),
        ("latency", EVENLY + REPLAYED, r"rate: is not a known key"),
        ("latency", REPLAYED + "speed = -1", r"speed: must be a number above 0"),
    ],
)
def test_study_mistake_is_clear_error(load, kind, lines, says):
    with pytest.raises(UserError, match=says) as error:
        load(lines, kind)
    assert "\n" not in str(error.value)
