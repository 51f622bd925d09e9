"""A trial's file: read back as it was written, and refused where a value is out of bounds."""

import json
import os

import pytest

from loadtests.analyse import reasons
from loadtests.errors import UserError
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
    HostConditions,
    Journeys,
    Meanwhile,
    OriginObservation,
    OriginStage,
    Rejoined,
    RequestResult,
    Result,
    Second,
    Trial,
)
from loadtests.records.histogram import Histogram
from loadtests.records.result import FIGURES, NOTHING
from tests.fixtures.schemas import changed

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
    histograms=dict.fromkeys(("response_time", "lag", "last", "reading_lag", "away"), Histogram.empty().encode()),
    generator=(Generator(0.1, 1.0, 80.0),),
    requests=(RequestResult("GET /", 2, 2, 2, 2, 2, {"status": 1}, TIMES),),
    deliveries=Deliveries(9, 8, 1, 0, 0, TIMES, 1, 7, (2, -1), 3, 2, last_ms=TIMES, reading_lag_ms=TIMES),
    connections=Connections(5, 4, 1, 2, TIMES, 0.5, 1000, 2000, "closed", (2, 4), REJOINED),
    journeys=Journeys(
        64,
        None,
        9,
        1,
        60,
        62,
        TIMES,
        (RequestResult("GET", 2, 2, 2, 2, 0, {"mixed-up": 1}, TIMES),),
        1.0,
        1.0,
        1.0,
        None,
    ),
)


@pytest.fixture
def trial(run):
    """A trial with something in every field, written to the run's folder."""
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
        test="latency",
        attempt=1,
        started="2026-11-21T07:30:00.123456+00:00",
        status="ok",
        flags=(reasons.Reason.cores_disturbed.flag("12%"),),
        result=RESULT,
        meanwhile=Meanwhile(
            (CpuSample(1.0, {"web": 0.5}),), OriginObservation((OriginStage(-0.1, "200", True, None),), 3, 3.0)
        ),
        processes=processes.since_rest(processes.difference(own, own), own, [own, own]),
        cores={"servers": (0,), "generator": (1,)},
        evidence=Evidence(
            started=True, generator_cpu=0.4, other_hosts=(HostConditions("", True, 0.01, 0, None, (0.1,)),)
        ),
        capacity=capacity.record(),
        log="the end of a log",
        gauges={"pool in use": ((0.0, 3), (0.1, 4)), "pool waiting": ((0.0, 0), (0.1, 2))},
    )
    run.save_trial(saved)
    return saved


def test_a_trial_is_read_back_as_it_was_written(run, trial):
    assert run.trials() == [trial]


@pytest.mark.parametrize(
    ("path", "new"),
    [
        (("number",), 0),
        (("status",), "doubtful"),
        (("flags", 0, "sentence"), ...),
        (("result", "rate"), -1),
        (("result", "errors", "unlucky"), 1),
        (("result", "response_time_ms", "p42"), 1.0),
        (("result", "timeline", 0, "t"), ...),
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
        (("processes", 0, "cpu_s"), -0.1),
        (("evidence", "other_hosts", 0, "other_load"), -0.1),
        (("capacity", "limited_by"), "luck"),
        (("capacity", "probes", 0, "rate"), 0),
        (("gauges", "pool in use", 0), [0.0, 0.5]),
        (("gauges", "pool in use", 0), [-1, 0]),
        (("gauges", "Pool"), []),
    ],
)
def test_a_wrong_trial_is_refused(run, trial, path, new):
    file = run.path / "trials" / f"{trial.name}.json"
    file.write_text(json.dumps(changed(json.loads(file.read_text()), path, new)))
    with pytest.raises(UserError, match=r"0001-gunicorn-latency\.json is not a trial: ") as raised:
        run.trials()
    assert "\n" not in str(raised.value)
