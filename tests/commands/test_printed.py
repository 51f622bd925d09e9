"""Test the output of ``check``, ``list`` and ``report``."""

import json
import re
import webbrowser

import pytest

from loadtests import files, setups
from loadtests.commands.check import print_check
from loadtests.commands.console import out
from loadtests.measure.check import Check, Difference
from loadtests.plan import study as studies
from loadtests.serve.serving import NotServing
from loadtests.setups.needs import NEEDS
from loadtests.workload import Request

ROOT, ITEMS = Request("root", path="/"), Request("items", path="/items[1]")
GUNICORN, UVICORN = PAIR = setups.find(["gunicorn", "uvicorn"])
DIFFERENT = {"differences": [Difference("uvicorn", ITEMS, "200", "500 [oops]")]}
FAILED = {"failed": [(UVICORN, NotServing("did not start", "the end of a log"))]}
BROKEN = {"websocket_cases": {"ws": (15, ["ping: silent instead of pong"]), "ws2": (15, [])}}
ERRORS = {"errors": [(ROOT, "500 text/html 'Server Error'")]}
LEFT_OUT = {
    "skipped": {"uwsgi": "it is not here"},
    "not_asked": {"gunicorn": 3},
    "unexpected": [(ROOT, 400, "; set an allowed host")],
}
ALL = [
    "uwsgi was skipped: it is not here",
    "gunicorn did not receive 3 requests, which it can't answer",
    "note: the answer to GET / has status 400, but `run` requires 200; set an allowed host",
    "uvicorn: did not start",
    "the end of a log",
    "uvicorn: GET /items[1]",
    "    gunicorn answered 200",
    "    uvicorn answered 500 [oops]",
    "ws: ping: silent instead of pong",
    "ws: 15 WebSocket cases: 1 failure",
    "ws2: 15 WebSocket cases: 0 failures",
    "2 requests to each of 2 setups: 1 difference",
]


@pytest.mark.parametrize(
    ("found", "lines"),
    [
        (Check([ROOT], [GUNICORN]), ["1 request to 1 setup: 0 differences"]),
        (Check([ROOT, ITEMS], PAIR, **DIFFERENT, **FAILED, **BROKEN, **LEFT_OUT), ALL),
        # The number of differences is omitted if the answers are errors, or if the project only has WebSockets.
        (Check([ROOT], [GUNICORN], **ERRORS), ["gunicorn: GET /: 500 text/html 'Server Error'"]),
        (Check([ROOT], websocket_cases={"ws": (15, [])}), ["ws: 15 WebSocket cases: 0 failures"]),
    ],
)
def test_check_prints_all_findings(capsys, found, lines):
    print_check(found)
    assert capsys.readouterr().out.splitlines() == lines


def test_check_is_good_without_differences():
    good = [
        Check([ROOT, ITEMS], PAIR, **found).good for found in ({}, LEFT_OUT, {"websocket_cases": {"uvicorn": (1, [])}})
    ]
    bad = [Check([ROOT], PAIR, **found).good for found in (DIFFERENT, FAILED, BROKEN, ERRORS)]
    assert (good, bad) == ([True] * 3, [False] * 4)


@pytest.fixture
def without(monkeypatch):
    """Return a function that makes a requirement, such as ``daphne``, appear missing on this machine."""

    def take(name):
        needs = {**NEEDS, name: (lambda bin: False, "somewhere else")}
        monkeypatch.setattr("loadtests.setups.needs.NEEDS", needs)

    return take


def rows(command, kind):
    return {row["name"]: row for row in json.loads(command("list", kind, "--json")[1])[kind]}


@pytest.mark.exhaustive
def test_list_shows_missing_requirements(command, without):
    without("daphne")
    found, kept = rows(command, "setups"), rows(command, "studies")
    assert (found["daphne-ipc"]["not_here"], found["waitress"]["not_here"]) == ("lacks daphne", "")
    assert "lacks daphne" in command("list", "setups")[1]
    assert re.search(r"setups, \d+ of them with missing requirements; list all: .* list setups", command("list")[1])
    assert kept["first-look"]["not_here"] == "without daphne, daphne-ipc, daphne-redis"
    assert kept["sweep"]["not_here"] == ""
    without("gunicorn")
    assert rows(command, "studies")["first-look"]["not_here"] == "its baseline gunicorn-gthread lacks gunicorn"


@pytest.mark.exhaustive
def test_list_names_are_complete(command, monkeypatch):
    monkeypatch.setattr(out, "width", 80)
    assert len(command("list")[1].splitlines()) == 3
    for kind, names in (("setups", setups.known()), ("studies", studies.names())):
        printed = command("list", kind)[1]
        assert [name for name in names if not re.search(rf"^{re.escape(name)}\s", printed, re.MULTILINE)] == []


def test_unreadable_results_are_an_error(command, monkeypatch, tmp_path):
    monkeypatch.setattr(files, "RESULTS", tmp_path / "missing")
    assert "none yet" in command("list", "runs")[1]
    monkeypatch.setattr(files, "RESULTS", tmp_path / "file")
    files.RESULTS.touch()
    code, _, errors = command("list", "runs")
    assert (code, errors.strip()) == (1, f"error: {files.RESULTS} cannot be read: Not a directory")


@pytest.fixture
def shown(monkeypatch):
    """Return the list of addresses that the command tries to open. Each attempt fails, as without a browser."""
    addresses = []
    monkeypatch.setattr(webbrowser, "open", addresses.append)
    return addresses


def test_report_only_writes_with_rebuild(build_run, shown, command):
    run = build_run(labels=("gunicorn",), blocks=1)
    before = set(run.path.rglob("*"))
    code, printed, _ = command("report", run.path)
    assert (code, set(run.path.rglob("*"))) == (0, before)
    assert printed.strip().endswith("The page: not written yet. Write it with --rebuild, or open it with --open")
    assert command("report", run.path, "--rebuild")[0] == 0
    assert (run.path / "summary.csv").exists()
    assert command("report", run.path, "--open")[1].strip().endswith(f"or open {run.path / 'report.html'} yourself")
