"""The published schemas of a trial's file and of a row of summary.csv."""

import dataclasses
import json
import os

import pytest

from loadtests.analyse import readings, reasons
from loadtests.measure.capacity import FoundCapacity, Probed
from loadtests.measure.searches.capacity import LimitedBy, Probe, Purpose, SearchedCapacity
from loadtests.measure.searches.judge import Judgement, Outcome
from loadtests.observe import processes
from loadtests.observe.processes import Part
from loadtests.plan import objective
from loadtests.records import (
    Connections,
    CpuSample,
    Deliveries,
    Evidence,
    Generator,
    Journeys,
    MachineBeside,
    Meanwhile,
    OfRequest,
    OriginSeen,
    OriginStage,
    Rejoined,
    Result,
    Second,
    Trial,
)
from loadtests.records.result import FIGURES, NOTHING
from tests.fixtures.schemas import changed, errors, validator

TIMES = dict.fromkeys(FIGURES, 1.5)
REJOINED = Rejoined(5, 4, TIMES, 0.5, None, published=20, unsent=3, expected=100, missed=7)
RESULT = Result(
    engine="openloop",
    planned=10,
    sent=10,
    completed=9,
    ok=8,
    unfinished=1,
    errors={"status": 1},
    duration_s=1.0,
    rate=8.0,
    response_time_ms=TIMES,
    service_time_ms=TIMES,
    send_lag_ms=dict(NOTHING),
    pacing_lag_ms=TIMES,
    waited=0,
    latency_of="response_time",
    examples={"status": "503"},
    timeline=(Second(0, 10, 9, 8, 1, 1.0, None, 1.5, ((1.0, 8),), {"200": 7, "stale": 1, "timeout": 1}),),
    histograms=dict.fromkeys(("response_time", "lag", "last", "reading_lag", "away"), "SElTVA=="),
    generator=(Generator(0.1, 1.0, 80.0),),
    requests=(OfRequest("GET /", 2, 2, 2, 2, 2, {"status": 1}, TIMES),),
    deliveries=Deliveries(9, 8, 1, 0, 0, TIMES, 1, 7, (2, -1), 3, 2, last_ms=TIMES, reading_lag_ms=TIMES),
    connections=Connections(5, 4, 1, 2, TIMES, 0.5, 1000, 2000, "closed", (2, 4), REJOINED),
    journeys=Journeys(
        64, None, 9, 1, 60, 62, TIMES, (OfRequest("GET", 2, 2, 2, 2, 0, {"mixed-up": 1}, TIMES),), 1.0, 1.0, 1.0, None
    ),
)


@pytest.fixture
def trial(run):
    """A trial's file with something in every field, as the store writes it."""
    probe = Probe(100.0, 5.0, Purpose.CONFIRM)
    capacity = FoundCapacity(
        SearchedCapacity(100.0, 103.0, LimitedBy.SERVER, ()),
        objective.parse("p99<50ms"),
        [Probed(probe, RESULT, Judgement(Outcome.PASS, "p99 40 ms", clear=True))],
    )
    own = processes.snapshot([Part("web", os.getpid())])
    saved = Trial(
        number=1,
        block=1,
        label="gunicorn",
        setup="gunicorn",
        test="capacity",
        attempt=1,
        started="2026-11-21T07:30:00.123456+00:00",
        status="ok",
        flags=(reasons.Reason.cores_disturbed.flag("12%"),),
        result=RESULT,
        meanwhile=Meanwhile(
            (CpuSample(1.0, {"web": 0.5}),), OriginSeen((OriginStage(-0.1, "200", True, None),), 3, 3.0)
        ),
        processes=processes.since_rest(processes.difference(own, own), own, [own, own]),
        cores={"servers": (0,), "generator": (1,)},
        evidence=Evidence(started=True, generator_cpu=0.4, beside=(MachineBeside("", True, 0.01, 0, None, (0.1,)),)),
        capacity=capacity.record(),
        log="the end of a log",
        gauges={"pool in use": ((0.0, 3), (0.1, 4)), "pool waiting": ((0.0, 0), (0.1, 2))},
    )
    run.save_trial(saved)
    return json.loads((run.path / "trials" / f"{saved.name}.json").read_text(encoding="utf-8"))


def test_what_a_trial_writes_fits(trial):
    assert errors("trial", trial) == []
    assert errors("trial", {**trial, "result": None, "capacity": None, "processes": []}) == []


@pytest.mark.parametrize(
    ("path", "new"),
    [
        (("schema",), ...),
        (("number",), 0),
        (("status",), "doubtful"),
        (("flags", 0, "reason"), "bad_luck"),
        (("flags", 0, "sentence"), ...),
        (("result", "rate"), -1),
        (("result", "errors", "status"), 0),
        (("result", "errors", "unlucky"), 1),
        (("result", "response_time_ms", "p42"), 1.0),
        (("result", "timeline", 0, "t"), ...),
        (("result", "timeline", 0, "ends", "timeout"), 0),
        (("result", "timeline", 0, "heat", 0), [1.0]),
        (("meanwhile", "cpu", 0, "cores", "web"), -1),
        (("meanwhile", "origin", "stages", 0, "t"), ...),
        (("result", "requests", 0, "ok"), ...),
        (("result", "deliveries", "in_time"), -1),
        (("result", "deliveries", "backlog"), [0.5]),
        (("result", "deliveries", "whole"), -1),
        (("result", "deliveries", "last_ms", "p42"), 1.0),
        (("result", "connections", "lost"), -1),
        (("result", "connections", "rejoined", "back"), -1),
        (("result", "connections", "rejoined", "down_s"), "long"),
        (("result", "journeys", "users"), 0),
        (("result", "journeys", "methods", 0, "errors", "mixed-up"), 0),
        (("result", "journeys", "lost"), 1),
        (("processes", 0, "cpu_s"), -0.1),
        (("evidence", "mood"), 1),
        (("evidence", "beside", 0, "others_cpu"), -0.1),
        (("capacity", "limited_by"), "luck"),
        (("capacity", "probes", 0, "rate"), 0),
        (("gauges", "pool in use", 0), [0.0, 0.5]),
        (("gauges", "pool in use", 0), [-1, 0]),
        (("gauges", "Pool"), []),
        (("nonsense",), 1),
    ],
)
def test_a_wrong_trial_is_refused(trial, path, new):
    assert errors("trial", changed(trial, path, new))


LATER = {"connection_lost", "beside"}  # trials of this schema that are older do not have it


@pytest.mark.parametrize(
    ("kind", "part"), [(Result, "result"), (Evidence, "evidence"), (Meanwhile, "meanwhile"), (Trial, None)]
)
def test_every_field_is_required_by_the_schema(kind, part):
    schema = validator("trial").schema
    required = schema["$defs"][part]["required"] if part else schema["required"]
    assert {field.name for field in dataclasses.fields(kind)} - LATER == set(required) - {"schema"}


def test_every_reason_is_in_the_schema():
    known = validator("trial").schema["$defs"]["flag"]["properties"]["reason"]["enum"]
    assert known == [reason.name for reason in reasons.Reason]


ROW = {"label": "gunicorn", "setup": "gunicorn", "test": "latency", "trials": "2", "invalid": "0", "sent": "600"} | {
    "ok": "600",
    "failed": "0",
    "p50_ms": "2.06",
    "p50_ms_low": "",
    "web_cpu_ms_per_request": "1.2e-05",
}


def test_a_row_of_a_summary_fits():
    assert errors("summary", ROW) == []


def test_every_metric_of_a_summary_is_in_the_schema():
    names = readings.every(readings.ROLES)
    assert (
        errors("summary", ROW | {f"{metric.name}{end}": "1.5" for metric in names for end in ("", "_low", "_high")})
        == []
    )


@pytest.mark.parametrize(
    ("path", "new"), [(("label",), ...), (("sent",), "many"), (("p50_ms",), "–"), (("p50_s",), "1")]
)
def test_a_wrong_row_is_refused(path, new):
    assert errors("summary", changed(ROW, path, new))
