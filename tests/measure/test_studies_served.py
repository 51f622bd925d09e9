"""Test studies of WebSockets and streams on real servers, from the study file to the report."""

import csv

import pytest

from loadtests import setups
from loadtests.analyse.reasons import is_setups_own
from loadtests.measure import trial as trials
from loadtests.records.run.folder import Run

pytestmark = pytest.mark.exhaustive

CONVERSATIONS = """
setups = ["uvicorn-channels", "uvicorn-websocket"]
blocks = 1
tests.connect = { rate = 40, duration = "500ms", warmup = "100ms" }
tests.echo = { rate = 100, connections = 5, duration = "500ms", warmup = "100ms" }
tests.broadcast = { rate = 20, receivers = 10, rooms = 2, duration = "500ms", warmup = "100ms" }
tests.idle = { connections = 50, duration = "500ms" }
"""
STREAMS = """
setups = [{ setup = "gunicorn-gthread", env = { THREADS = 2 } }, "uvicorn"]
blocks = 1
interleave = false
tests.stream = { streams = 5, events = 20, rate = 20, duration = "2s", warmup = "100ms" }
tests.leaving = { kind = "stream", streams = 2, events = 60, leave = "300ms", rate = 20, duration = "2s", warmup = 0.1 }
[tests.collected]
kind = "stream"
path = "/events?generator=sync"
streams = 2
events = 20
rate = 20
duration = "1s"
warmup = "100ms"
"""


@pytest.fixture
def measured(command, tmp_path):
    """Return a function that runs a study and returns its results.

    The results are the trials by setup and test, the rows of summary.csv, and all output.
    """

    def run(study):
        (tmp_path / "tiny.toml").write_text(study, encoding="utf-8")
        folder = tmp_path / "run"
        # Other programs may disturb the trials.
        _, printed, errors = command("run", tmp_path / "tiny.toml", "--output", folder, "--seed", 1, "--ignore-busy")
        assert folder.is_dir(), errors
        found = Run.open(folder)
        by_place = {(trial.label, trial.test): trial for trial in found.trials()}
        assert by_place.keys() == {(slot.label, slot.test) for slot in found.record.order}
        assert len(by_place) == len(found.record.study.entries) * len(found.record.study.tests)
        for trial in by_place.values():
            assert not is_setups_own(trial.flags), trial.log + errors
        rows = list(csv.DictReader((folder / "summary.csv").read_text(encoding="utf-8").splitlines()))
        return by_place, rows, printed + errors + (folder / "report.html").read_text(encoding="utf-8")

    found = setups.find(["uvicorn-channels", "uvicorn-websocket", "gunicorn-gthread", "uvicorn"])
    if any(map(setups.missing, found)):
        pytest.skip("the servers are not installed")
    return run


def test_conversations_deliver_all_messages(measured, monkeypatch):
    monkeypatch.setattr(trials, "STEP_SETTLED_S", 0.1)
    found, rows, said = measured(CONVERSATIONS)
    for trial in found.values():
        assert (trial.result.failed, trial.result.connections.refused, trial.result.connections.lost) == ({}, 0, 0)
    for label in ("uvicorn-channels", "uvicorn-websocket"):
        assert found[label, "connect"].result.ok == 20
        assert found[label, "echo"].result.deliveries.delivered == found[label, "echo"].result.ok == 50
        broadcast = found[label, "broadcast"].result.deliveries
        assert (broadcast.expected, broadcast.missing) == (10 * 5, 0)  # five receivers in the room
        idle = found[label, "idle"]
        assert (idle.result.connections.opened, len(idle.result.connections.steps)) == (50, 4)
        assert all(process.idle_rss_mb is not None for process in idle.processes)
    assert {row["test"] for row in rows} == {"connect", "echo", "broadcast", "idle"}
    assert "Broadcasts over WebSockets" in said


def test_collected_stream_events_are_late(measured):
    found, [row, *_], _ = measured(STREAMS)
    streams = {place: trial.result.streams for place, trial in found.items()}
    assert (streams["gunicorn-gthread", "stream"].most, streams["uvicorn", "stream"].most) == (2, 5)
    left = [streams[label, "leaving"].left for label in ("gunicorn-gthread", "uvicorn")]
    assert all(one.clients >= one.ended > 0 and one.running == 0 for one in left)
    stayed = [one for (_, test), one in streams.items() if test != "leaving"]
    assert all(one.broken == 0 and one.events >= 20 * one.whole > 0 for one in stayed)
    assert streams["uvicorn", "collected"].delay_ms["max"] > 18 * 50  # the first event arrived with the last event
    assert {"events_per_s", "memory_kb_per_stream", "view_ended_p50_ms"} <= set(row)
