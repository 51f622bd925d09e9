"""Test the output of ``check``, ``list`` and ``report``."""

import json
import re
import tempfile
import webbrowser
from collections import Counter

import pytest

from loadtests import files, setups
from loadtests.commands.check import print_check
from loadtests.engines import node
from loadtests.measure.check import Check, Difference
from loadtests.plan import study as studies
from loadtests.records.run import folder
from loadtests.serve.serving import NotServing
from loadtests.setups.needs import NEEDS
from loadtests.workload import Request

ROOT, ITEMS = Request("root", path="/"), Request("items", path="/items[1]")
GUNICORN, UVICORN = PAIR = setups.find(["gunicorn", "uvicorn"])
DIFFERENT = {"differences": [Difference("uvicorn", ITEMS, "200", "500 [oops]")]}
FAILED = {"failed": [(UVICORN, NotServing("did not start", "the end of a log"))]}
UNDELIVERED = {"websocket_failures": {"gunicorn": [], "uvicorn": ["/ws/chat/: nothing came"]}}
BROKEN = {"websocket_cases": {"ws": (15, ["ping: silent instead of pong"]), "ws2": (15, [])}}
ERRORS = {"errors": [(ROOT, "500 text/html 'Server Error'")]}
LEFT_OUT = {
    "skipped": {"uwsgi": "it is not here"},
    "not_asked": {"gunicorn": Counter({"it cannot": 1, "it will not": 2})},
    "unexpected": [(ROOT, 400, "; set an allowed host")],
}
ALL = [
    "uwsgi was skipped: it is not here",
    "gunicorn did not receive 1 request: it cannot",
    "gunicorn did not receive 2 requests: it will not",
    "note: the answer to GET / has status 400, but `run` requires 200; set an allowed host",
    "uvicorn: did not start",
    "the end of a log",
    "uvicorn: GET /items[1]",
    "    gunicorn answered 200",
    "    uvicorn answered 500 [oops]",
    "gunicorn: delivered a message over its WebSockets",
    "uvicorn: /ws/chat/: nothing came",
    "ws: ping: silent instead of pong",
    "ws: 15 WebSocket cases: 1 failure",
    "ws2: 15 WebSocket cases: 0 failures",
    "2 requests to each of 2 setups: 1 difference",
]


@pytest.mark.parametrize(
    ("found", "lines"),
    [
        (Check([ROOT], [GUNICORN]), ["1 request to 1 setup: 0 differences"]),
        (Check([ROOT, ITEMS], PAIR, **DIFFERENT, **FAILED, **UNDELIVERED, **BROKEN, **LEFT_OUT), ALL),
        # The number of differences is omitted if the answers are errors, or if the project only has WebSockets.
        (Check([ROOT], [GUNICORN], **ERRORS), ["gunicorn: GET /: 500 text/html 'Server Error'"]),
        (Check([ROOT], websocket_cases={"ws": (15, [])}), ["ws: 15 WebSocket cases: 0 failures"]),
    ],
)
def test_check_prints_all_findings(capsys, found, lines):
    print_check(found)
    assert capsys.readouterr().out.splitlines() == lines


def test_brief_check_counts_skipped_setups(capsys):
    print_check(Check([ROOT], PAIR, skipped={"uwsgi": "it is not here"}), every=False)
    assert capsys.readouterr().out.splitlines()[0] == "1 setup skipped (--all shows the reasons)"
    good = [
        Check([ROOT, ITEMS], PAIR, **found).good for found in ({}, LEFT_OUT, {"websocket_failures": {"uvicorn": []}})
    ]
    bad = [Check([ROOT], PAIR, **found).good for found in (DIFFERENT, FAILED, UNDELIVERED, BROKEN, ERRORS)]
    assert (good, bad) == ([True] * 3, [False] * 5)


@pytest.fixture
def without(monkeypatch):
    """Return a function that makes a requirement, such as ``daphne``, appear missing on this machine."""

    def take(name):
        needs = {**NEEDS, name: (lambda bin: False, "somewhere else")}
        monkeypatch.setattr("loadtests.setups.needs.NEEDS", needs)

    return take


def rows(command, kind):
    return {row["name"]: row for row in json.loads(command("list", kind, "--json")[1])[kind]}


def test_list_shows_all_or_one_kind(command):
    listing = {kind: rows(command, kind).keys() for kind in ("setups", "studies", "engines")}
    assert {"gunicorn", "daphne-redis", "daphne-ipc", "daphne", "uvicorn"} <= listing["setups"]
    assert {"first-look", "2016"} <= listing["studies"]
    assert list(listing["engines"]) == ["openloop", "loadtest", "locust"]
    assert command("list", "engines")[1].startswith("engines\nname")


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


def test_engines_without_node_cannot_run(command, monkeypatch):
    node.require.cache_clear()
    monkeypatch.setenv("PATH", "/nowhere")
    assert "node is not on PATH" in rows(command, "engines")["openloop"]["not_here"]
    assert rows(command, "studies")["first-look"]["not_here"] == "engine openloop can't run"
    node.require.cache_clear()


def test_names_are_complete_in_80_columns(cli):
    cli.env |= {"COLUMNS": "80", "FORCE_COLOR": "1"}
    code, printed, _ = cli.run("list")
    assert code == 0
    assert len(printed.splitlines()) <= 20
    printed = "".join(cli.run("list", kind)[1] for kind in ("setups", "studies", "runs"))
    for name in [*setups.known(), *studies.names(), *(path.name for path in folder.runs())]:
        assert re.search(rf"^(\x1b\[\S*m)?{re.escape(name)}\s", printed, re.MULTILINE), name


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


def test_open_option_shows_temporary_page(build_run, monkeypatch, shown, command, tmp_path):
    run = build_run(labels=("gunicorn",), blocks=1)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    before = set(run.path.rglob("*"))
    code, printed, _ = command("report", run.path, "--open")
    assert (code, set(run.path.rglob("*"))) == (0, before)
    [page] = temporary.glob("report-*/*.html")
    assert printed.strip().endswith(f"Set BROWSER, or open {page} yourself")
    assert shown == [page.as_uri()]
    assert page.read_text(encoding="utf-8").lstrip().startswith("<!doctype html>")


def test_report_only_writes_with_rebuild(build_run, shown, command):
    run = build_run(labels=("gunicorn",), blocks=1)
    before = set(run.path.rglob("*"))
    code, printed, _ = command("report", run.path)
    assert (code, set(run.path.rglob("*"))) == (0, before)
    assert printed.strip().endswith("The page: not written yet. Write it with --rebuild, or open it with --open")
    assert command("report", run.path, "--rebuild")[0] == 0
    assert (run.path / "summary.csv").exists()
    assert command("report", run.path, "--open")[1].strip().endswith(f"or open {run.path / 'report.html'} yourself")
