"""``load``: what the command line says of the requests, and what it prints of them."""

import json

import pytest
from typer.testing import CliRunner

from loadtests.cli import app
from loadtests.errors import UserError
from loadtests.measure import url as loads
from loadtests.measure.url import Asked
from loadtests.workload import Request

MIX = """
[[requests]]
name = "front [page]"
path = "/ok"
weight = 2
at = [0, 0.4]

[[requests]]
path = "/status/503"
at = [0.2]
"""


@pytest.fixture
def mix(tmp_path):
    file = tmp_path / "mix.toml"
    file.write_text(MIX)
    return file


def parse(asked, url="http://127.0.0.1:8000/", rate=None, duration=None):
    return loads.parse(url, asked, rate, None, duration, "10s", 1, False)


def test_a_request_in_full(tmp_path):
    (tmp_path / "body").write_bytes(b"\xff")
    asked = Asked("POST", ("Accept: text/html", "X-A:b:c"), f"@{tmp_path / 'body'}")
    load = parse(asked, "http://127.0.0.1:8000/a?b=1")
    assert load.origin == "http://127.0.0.1:8000"
    headers = (("Accept", "text/html"), ("X-A", "b:c"))
    assert load.requests == (Request("POST /a?b=1", "POST", "/a?b=1", headers, b"\xff"),)
    assert (load.rate, load.connections, load.duration_s) == (None, 10, 10)
    assert parse(Asked(body="text")).requests[0].body == b"text"


def test_a_fragment_is_never_sent():
    assert parse(Asked(), "http://127.0.0.1:8000/a#b").requests[0].path == "/a"


def test_a_workload_file(mix):
    load = parse(Asked(workload=mix), rate=5.0, duration="2s")
    assert [request.path for request in load.requests] == ["/ok", "/status/503"]
    assert (load.rate, load.recorded, load.duration_s) == (5, (), 2)


def test_a_replay_lasts_as_long_as_its_recording_unless_it_is_cut(mix):
    load = parse(Asked(workload=mix, speed=0.1))
    assert load.recorded == ((0, 0), (2, 1), (4, 0))
    assert (load.duration_s, load.rate) == (6, 0.5)
    cut = parse(Asked(workload=mix, speed=0.1), duration="3s")
    assert (cut.recorded, cut.duration_s) == (((0, 0), (2, 1)), 3)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (Asked("BREW"), r"^--method: is 'BREW'; allowed: GET"),
        (Asked(headers=("nonsense",)), r"^--header 'nonsense': write a name, a colon and a value"),
        (Asked(headers=("Content-Length: 1",)), r"^--header: Content-Length is set by what sends"),
        (Asked(body="@none"), r"^--body @none: none cannot be read: No such file"),
        (Asked(speed=2), r"^--speed replays a recorded workload; name its file with --workload"),
    ],
)
def test_a_mistake_gets_one_line(asked, says):
    with pytest.raises(UserError, match=says) as error:
        parse(asked)
    assert "\n" not in str(error.value)


def test_a_workload_says_all_of_the_requests(mix):
    for asked in (Asked("POST", workload=mix), Asked(headers=("A: b",), workload=mix), Asked(body="", workload=mix)):
        with pytest.raises(UserError, match="--workload names the requests"):
            parse(asked)
    with pytest.raises(
        UserError, match=r"--workload names the paths; write the URL without one: http://127.0.0.1:8000$"
    ):
        parse(Asked(workload=mix), "http://127.0.0.1:8000/a")
    with pytest.raises(UserError, match="does not go with --rate"):
        parse(Asked(workload=mix, speed=1), rate=5.0)


@pytest.mark.servers
def test_each_request_of_a_mix_is_printed(server, mix):
    command = ["load", server.url, "--workload", str(mix), "--rate", "60", "--duration", "0.5s"]
    printed = CliRunner().invoke(app, command, env={"COLUMNS": "120"}).stdout
    assert "response time by request" in printed
    assert "front [page]" in printed
    assert "GET /status/503" in printed


@pytest.mark.servers
def test_a_replay_as_json(server, mix):
    command = ["load", server.url, "--workload", str(mix), "--speed", "1", "--json"]
    result = json.loads(CliRunner().invoke(app, command).stdout)
    assert (result["planned"], result["ok"], result["errors"]) == (3, 2, {"status": 1})
    assert [row["planned"] for row in result["requests"]] == [2, 1]


def test_the_workload_command_converts(tmp_path):
    log = tmp_path / "access.log"
    log.write_text('1.2.3.4 - - [21/Nov/2026:10:00:00 +0000] "GET /a[b]?c HTTP/1.1" 200 5\n')
    printed = CliRunner().invoke(app, ["workload", "log", str(log)])
    assert (printed.exit_code, 'path = "/a[b]?c"' in printed.stdout) == (0, True)
    output = tmp_path / "site.toml"
    told = CliRunner().invoke(app, ["workload", "log", str(log), "--output", str(output), "--times"])
    assert "requests taken: 1, different ones: 1" in told.stdout
    assert [request.path for request in parse(Asked(workload=output, speed=1)).requests] == ["/a[b]?c"]
