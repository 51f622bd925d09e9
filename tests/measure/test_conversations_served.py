"""A study of WebSockets on real servers, from the file to the report: nothing is lost that should come."""

import csv

import pytest

from loadtests import setups
from loadtests.analyse.reasons import is_setups_own
from loadtests.measure import trial as trials
from loadtests.records.run.folder import Run

pytestmark = pytest.mark.exhaustive

STUDY = """
setups = ["uvicorn-channels", "uvicorn-websocket"]
blocks = 1

[tests.connect]
rate = 40
duration = "500ms"
warmup = "100ms"

[tests.echo]
rate = 100
connections = 5
duration = "500ms"
warmup = "100ms"

[tests.broadcast]
rate = 20
receivers = 10
rooms = 2
duration = "500ms"
warmup = "100ms"

[tests.idle]
connections = 50
duration = "500ms"
"""
RESTARTED = """
setups = ["uvicorn-websocket"]
blocks = 1

[tests.rejoin]
connections = 20
jitter = "200ms"
"""


installed = pytest.mark.skipif(
    any(setups.missing(setup) for setup in setups.find(["uvicorn-channels", "uvicorn-websocket"])),
    reason="the servers are not installed",
)


@installed
def test_a_study_of_websockets_from_its_file_to_its_report(command, tmp_path, monkeypatch):
    monkeypatch.setattr(trials, "STEP_SETTLED_S", 0.1)
    file = tmp_path / "tiny.toml"
    file.write_text(STUDY, encoding="utf-8")
    # A busy machine may spoil trials.
    _, _, errors = command("run", file, "--output", tmp_path / "run", "--seed", 1, "--anyway")
    run = Run.open(tmp_path / "run")
    assert run.trials(), errors
    assert {(trial.label, trial.test) for trial in run.trials()} == {
        (entry.label, test.name) for entry in run.record.study.entries for test in run.record.study.tests
    }
    for trial in run.trials():
        assert not is_setups_own(trial.flags), trial.log
        assert (trial.result.failed, trial.result.connections.refused, trial.result.connections.lost) == ({}, 0, 0)
    by_test = {trial.test: trial for trial in run.trials()}
    assert by_test["connect"].result.ok == 20
    assert by_test["echo"].result.deliveries.delivered == by_test["echo"].result.ok == 50
    broadcast = by_test["broadcast"].result.deliveries
    assert (broadcast.expected, broadcast.missing) == (10 * 5, 0)  # each to the five receivers of its room
    assert by_test["idle"].result.connections.opened == 50
    assert len(by_test["idle"].result.connections.steps) == 4
    assert all(process.idle_rss_mb is not None for process in by_test["idle"].processes)
    with (tmp_path / "run" / "summary.csv").open(encoding="utf-8", newline="") as text:
        assert {row["test"] for row in csv.DictReader(text)} == {"connect", "echo", "broadcast", "idle"}
    assert "Broadcasts over WebSockets" in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")


@installed
def test_a_server_is_restarted_and_all_come_back(command, tmp_path):
    file = tmp_path / "restarted.toml"
    file.write_text(RESTARTED, encoding="utf-8")
    _, printed, errors = command("run", file, "--output", tmp_path / "run", "--seed", 1, "--anyway")
    assert (tmp_path / "run").is_dir(), errors
    trial = Run.open(tmp_path / "run").trials()[-1]
    assert not is_setups_own(trial.flags), trial.log
    held, found = trial.result.connections, trial.result.connections.rejoined
    assert (held.opened, held.refused, held.lost) == (21, 0, 0)
    assert (found.lost, found.back, trial.processes) == (20, 20, ())
    assert found.published > 0
    assert 0 < found.down_s <= found.all_back_s
    assert f"20 of 20 connections back after {found.all_back_s:.1f} s" in errors + printed
    with (tmp_path / "run" / "summary.csv").open(encoding="utf-8", newline="") as text:
        [row] = csv.DictReader(text)
    assert float(row["all_back_s"]) > 0
    assert "cpu_ms_per_connection" not in row or row["cpu_ms_per_connection"] == ""
    assert "Coming back after a restart" in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
