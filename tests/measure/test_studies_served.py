"""Test a study of streams on real servers, from the study file to the summary."""

import pytest

from loadtests.records.run.folder import Run
from loadtests.trials.reasons import is_setups_own

pytestmark = pytest.mark.exhaustive

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


def test_collected_stream_events_are_late(command, tmp_path):
    study, folder = tmp_path / "tiny.toml", tmp_path / "run"
    study.write_text(STREAMS, encoding="utf-8")
    # Other programs may disturb the trials.
    errors = command("run", study, "--output", folder, "--seed", 1, "--ignore-busy")[2]
    assert folder.is_dir(), errors
    trials = Run.open(folder).trials()
    assert not [trial.log + errors for trial in trials if is_setups_own(trial.flags)]
    streams = {(trial.label, trial.test): trial.result.streams for trial in trials}
    assert (streams["gunicorn-gthread", "stream"].most, streams["uvicorn", "stream"].most) == (2, 5)
    left = [streams[label, "leaving"].left for label in ("gunicorn-gthread", "uvicorn")]
    assert all(one.clients >= one.ended > 0 and one.running == 0 for one in left)
    stayed = [one for (_, test), one in streams.items() if test != "leaving"]
    assert all(one.broken == 0 and one.events >= 20 * one.whole > 0 for one in stayed)
    assert streams["uvicorn", "collected"].delay_ms["max"] > 18 * 50  # the first event arrived with the last event
    columns = (folder / "summary.csv").read_text(encoding="utf-8").splitlines()[0].split(",")
    assert {"events_per_s", "memory_kb_per_stream", "view_ended_p50_ms"} <= set(columns)
