"""Test run folders: values are the same after writing and reading, and invalid folders or values are refused."""

import dataclasses
import json
import os

import pytest

from loadtests import files, records
from loadtests.analyse import reasons
from loadtests.errors import UserError
from loadtests.measure.prepare import RunOptions, prepare
from loadtests.plan import study as studies
from loadtests.records.histogram import Histogram
from loadtests.records.result import FIGURES
from loadtests.records.run.folder import Run
from tests.fixtures.results import well
from tests.fixtures.schemas import changed
from tests.fixtures.studies import SMALL

TIMES = dict.fromkeys(FIGURES, 1.5)
MIXED_UP = records.RequestResult("GET", 2, 2, 2, 2, 0, {"mixed-up": 1}, TIMES)
PROBE = records.ProbeRecord(
    100.0, 5.0, "confirm", "pass", "p99 40 ms", planned=10, ok=8, errors=1, response_time_ms=TIMES
)
# A trial with a value in every field.
TRIAL = records.Trial(
    *(1, 1, "gunicorn", "gunicorn", "latency", 1, "2026-11-21T07:30:00.123456+00:00", "ok"),
    flags=(reasons.Reason.cores_disturbed.flag("12%"),),
    result=well(
        10,
        1.0,
        errors={"status": 1},
        response_time_ms=TIMES,
        examples={"status": "503"},
        timeline=(records.Second(0, 10, 9, 8, 1, 1.0, None, 1.5, ((1.0, 8),), {"200": 7, "stale": 1, "timeout": 1}),),
        histograms=dict.fromkeys(("response_time", "lag", "last", "reading_lag"), Histogram.empty().encode()),
        generator=(records.Generator(0.1, 1.0, 80.0),),
        requests=(records.RequestResult("GET /", 2, 2, 2, 2, 2, {"status": 1}, TIMES),),
        deliveries=records.Deliveries(9, 8, 1, 0, 0, TIMES, 1, 7, (2, -1), 3, 2, last_ms=TIMES, reading_lag_ms=TIMES),
        connections=records.Connections(
            *(5, 4, 1, 2, TIMES, 0.5, 1000, 2000, "closed", (2, 4)),
        ),
        journeys=records.Journeys(64, None, 9, 1, 60, 62, TIMES, (MIXED_UP,), 1.0, 1.0, 1.0, None),
    ),
    meanwhile=records.Meanwhile(
        (records.CpuSample(1.0, {"web": 0.5}),),
        records.OriginObservation((records.OriginStage(-0.1, "200", True, None),), 3, 3.0),
    ),
    processes=(
        records.Process("web", "python", 7, 0.1, 60.0, 55.0, 6000, requests=3, idle_rss_mb=50.0, step_rss_mb=(51.0,)),
    ),
    cores={"servers": (0,), "generator": (1,)},
    evidence=records.Evidence(
        started=True, generator_cpu=0.4, other_hosts=(records.HostConditions("", True, 0.01, 0, None, (0.1,)),)
    ),
    capacity=records.CapacityRecord(100.0, 103.0, "server", "100 requests/s", "p99<50ms", (PROBE,)),
    log="the end of a log",
    gauges={"pool in use": ((0.0, 3), (0.1, 4)), "pool waiting": ((0.0, 0), (0.1, 2))},
)


@pytest.fixture
def run(tmp_path, bench_of):
    """Return a run folder before the first trial."""
    return prepare(studies.parse(SMALL, "small", "small.toml"), RunOptions(tmp_path / "r", 1), bench_of).run


def test_run_folder_is_restored(run):
    second = dataclasses.replace(TRIAL, attempt=2)
    run.save_trial(second)
    run.save_trial(TRIAL)
    again = Run.open(run.path)
    assert again.record == run.record
    assert again.trials() == [TRIAL, second]


@pytest.mark.parametrize(
    ("path", "new"),
    [
        (("number",), 0),
        (("status",), "doubtful"),
        (("result", "rate"), -1),
        (("result", "errors", "unlucky"), 1),
        (("result", "response_time_ms", "p42"), 1.0),
        (("result", "timeline", 0, "t"), ...),
        (("result", "timeline", 0, "heat", 0), [1.0]),
        (("meanwhile", "cpu", 0, "cores", "web"), -1),
        (("result", "deliveries", "in_time"), -1),
        (("result", "deliveries", "backlog"), [0.5]),
        (("result", "deliveries", "whole"), -1),
        (("result", "deliveries", "last_ms", "p42"), 1.0),
        (("result", "connections", "lost"), -1),
        (("result", "journeys", "users"), 0),
        (("processes", 0, "cpu_s"), -0.1),
        (("evidence", "other_hosts", 0, "other_load"), -0.1),
        (("capacity", "limited_by"), "luck"),
        (("capacity", "probes", 0, "rate"), 0),
        (("gauges", "pool in use", 0), [0.0, 0.5]),
        (("gauges", "pool in use", 0), [-1, 0]),
        (("gauges", "Pool"), []),
    ],
)
def test_invalid_trial_is_refused(run, path, new):
    run.save_trial(TRIAL)
    file = run.path / "trials" / f"{TRIAL.name}.json"
    file.write_text(json.dumps(changed(json.loads(file.read_text()), path, new)))
    with pytest.raises(UserError, match=r"0001-gunicorn-latency\.json is not a trial: ") as raised:
        run.trials()
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, r"is not a run folder \(has no run\.json\)"),
        ("{", "cannot be read"),
        ('{"schema": 99}', "has schema 99. This version reads schema 5"),
    ],
)
def test_folder_without_run_is_refused(tmp_path, content, says):
    if content is not None:
        (tmp_path / "run.json").write_text(content)
    with pytest.raises(UserError, match=says):
        Run.open(tmp_path)


def test_unreadable_folder_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path)  # because root can read every folder
    with pytest.raises(UserError, match="cannot be read: Permission denied"):
        Run.open(tmp_path)


def test_failed_write_leaves_no_file(tmp_path):
    file = tmp_path / "run.json"
    files.write_json(file, {"a": 1})
    with pytest.raises(TypeError):
        files.write_json(file, {"a": object()})
    assert json.loads(file.read_text()) == {"a": 1}
    assert list(tmp_path.iterdir()) == [file]


def test_run_never_overwrites_another_run(run):
    with pytest.raises(UserError, match="already exists"):
        Run.create(run.path, run.record)
