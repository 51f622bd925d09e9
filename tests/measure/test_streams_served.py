"""A study of streams on real servers, from the file to the report: a thread streams to one, an event loop to all."""

import csv

import pytest

from loadtests import setups
from loadtests.analyse.reasons import is_setups_own
from loadtests.records.run.folder import Run

pytestmark = pytest.mark.exhaustive

STUDY = """
setups = [{ setup = "gunicorn-gthread", env = { THREADS = 2 } }, "uvicorn"]
blocks = 1
interleave = false

[tests.stream]
streams = 5
events = 20
rate = 20
duration = "2s"
warmup = "100ms"

[tests.leaving]
kind = "stream"
streams = 2
events = 60
leave = "300ms"
rate = 20
duration = "2s"
warmup = "100ms"

[tests.collected]
kind = "stream"
path = "/events?generator=sync"
streams = 2
events = 20
rate = 20
duration = "1s"
warmup = "100ms"
"""


@pytest.mark.skipif(
    any(setups.missing(setup) for setup in setups.find(["gunicorn-gthread", "uvicorn"])),
    reason="the servers are not installed",
)
def test_a_thread_streams_to_one_and_what_django_collects_is_late(command, tmp_path):
    file = tmp_path / "tiny.toml"
    file.write_text(STUDY, encoding="utf-8")
    output = tmp_path / "run"
    # A busy machine may spoil trials.
    _, printed, errors = command("run", file, "--output", output, "--seed", 1, "--anyway")
    found = {(trial.label, trial.test): trial for trial in Run.open(output).trials()}
    assert not any(is_setups_own(trial.flags) for trial in found.values()), errors + printed
    streams = {place: trial.result.streams for place, trial in found.items()}
    assert (streams["gunicorn-gthread", "stream"].most, streams["uvicorn", "stream"].most) == (2, 5)
    assert len(streams) == 6
    left = [streams[label, "leaving"].left for label in ("gunicorn-gthread", "uvicorn")]
    assert all(one.clients >= one.ended > 0 and one.running == 0 for one in left)
    stayed = [one for (_, test), one in streams.items() if test != "leaving"]
    assert all(one.broken == 0 and one.events >= 20 * one.whole > 0 for one in stayed)
    late = streams["uvicorn", "collected"].delay_ms["max"]
    assert late > 18 * 50  # the first event came with the last one
    [first, *_] = csv.DictReader((output / "summary.csv").read_text().splitlines())
    assert {"events_per_s", "memory_kb_per_stream", "view_ended_p50_ms"} <= set(first)
