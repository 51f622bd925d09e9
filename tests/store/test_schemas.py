"""The published schemas: what the project writes and reads fits them, and what is wrong does not."""

import copy
import csv
import dataclasses
import json
import os
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from loadtests import store
from loadtests.analyse import metrics, validity
from loadtests.errors import UserError
from loadtests.measure import capacity as find
from loadtests.measure import run as runs
from loadtests.observe import processes
from loadtests.plan import objective
from loadtests.plan import study as studies
from loadtests.plan.study import tomllib
from loadtests.searches.capacity import Capacity, LimitedBy, Probe, Purpose
from loadtests.searches.judge import Judgement, Outcome
from loadtests.store import result as results

ROOT = Path(__file__).resolve().parents[2]
SCHEMAS = ROOT / "docs" / "schemas"
COMMITTED = sorted(ROOT.glob("results/reference-*/run.json"))

SMALL = {"setups": ["gunicorn"], "tests": {"latency": {"rate": 1, "duration": "1s"}}}
FULL = {
    "title": "All there is",
    "question": "Does it fit?",
    "baseline": "one",
    "blocks": 6,
    "delta": 0.05,
    "aa": True,
    "price_per_core_hour": 0.04,
    "setups": ["gunicorn", {"setup": "uvicorn", "label": "one", "env": {"WORKERS": 2}}],
    "tests": {
        "latency": {"kind": "latency", "rate": 300, "duration": "10s", "warmup": 2, "path": "/", "engine": "loadtest"},
        "async": {"kind": "throughput", "path": "/async/", "duration": "1.5m", "connections": 20},
        "post": {
            "kind": "latency",
            "rate": 10,
            "duration": "1s",
            "method": "POST",
            "path": "/echo",
            "headers": {"Content-Type": "text/plain", "X-Twice": ["1", "2"]},
            "body": "é",
            "status": 200,
        },
        "mix": {
            "kind": "throughput",
            "duration": "1s",
            "requests": [{"name": "front", "weight": 3}, {"path": "/echo", "method": "POST", "body_base64": "/w=="}],
        },
        "replay": {
            "kind": "latency",
            "pace": "recorded",
            "speed": 2,
            "requests": [{"at": [0, 0.5]}, {"path": "/async/", "at": [1]}],
        },
        "capacity": {
            "objective": "p99<50ms, errors<0.1%",
            "start_rate": 50,
            "max_rate": 5000,
            "probe": "2s",
            "confirm": "10s",
        },
    },
}


def validator(name):
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def errors(name, value):
    return [f"{error.json_path}: {error.message}" for error in validator(name).iter_errors(value)]


def as_json(value):
    return json.loads(json.dumps(value, allow_nan=False))


@pytest.fixture
def about(tmp_path, free_port, monkeypatch):
    """run.json as a run writes it before its first trial."""
    monkeypatch.setenv("PORT", str(free_port))
    study = studies.parse(FULL, "full", "full.toml")
    answer = {"status": 200, "content_type": "text/plain", "sha256": None}
    contract = {test.name: [answer for _ in test.requests] for test in study.tests}
    monkeypatch.setattr(runs.preflight, "contract", lambda bench, study: contract)
    return as_json(runs.prepare(study, tmp_path / "run", 7, runs.Goal(0.02, 3600.0)).run.about)


FIGURES = dict.fromkeys(results.FIGURES, 1.5)

RESULT = results.Result(
    engine="openloop",
    planned=10,
    sent=10,
    completed=9,
    ok=8,
    unfinished=1,
    errors={"status": 1},
    duration_s=1.0,
    rate=8.0,
    response_time_ms=FIGURES,
    service_time_ms=FIGURES,
    send_lag_ms=dict(results.NOTHING),
    pacing_lag_ms=FIGURES,
    waited=0,
    latency_of="response_time",
    examples={"status": "503"},
    timeline=[{"t": 0, "sent": 10, "completed": 9, "ok": 8, "errors": 1, "p50_ms": 1.0, "p99_ms": None}],
    histograms={"response_time": "SElTVA=="},
    generator=[{"cpu_s": 0.1, "wall_s": 1.0, "peak_rss_mb": 80.0}],
    requests=[
        {
            "name": "GET /",
            **dict.fromkeys(("planned", "sent", "completed", "ok", "unfinished"), 2),
            "errors": {"status": 1},
            "response_time_ms": FIGURES,
        }
    ],
)


@pytest.fixture
def trial(tmp_path):
    """A trial's file with something in every field, as the store writes it."""
    probe = Probe(100.0, 5.0, Purpose.CONFIRM)
    capacity = find.Found(
        Capacity(100.0, 103.0, LimitedBy.SERVER, ()),
        objective.parse("p99<50ms"),
        [find.Probed(probe, RESULT, Judgement(Outcome.PASS, "p99 40 ms", clear=True))],
    )
    flag = validity.Flag(validity.Reason.cores_disturbed, "12%")
    own = processes.snapshot([("web", os.getpid())])
    saved = store.Trial(
        number=1,
        block=1,
        label="gunicorn",
        setup="gunicorn",
        test="capacity",
        attempt=1,
        started="2026-11-21T07:30:00.123456+00:00",
        status="ok",
        flags=[flag.as_dict()],
        result=RESULT.to_dict(),
        processes=processes.difference(own, own),
        cores={"servers": [0], "generator": [1]},
        evidence=validity.as_record(validity.Evidence(started=True, generator_cpu=0.4)),
        capacity=capacity.to_dict(),
        log="the end of a log",
    )
    folder = store.Run.create(tmp_path / "folder", {})
    folder.save_trial(saved)
    return json.loads((folder.path / "trials" / f"{saved.name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["study", "run", "trial", "summary"])
def test_a_schema_says_what_it_is_of(name):
    schema = validator(name).schema
    assert schema["$id"] == f"{name}.schema.json"
    assert schema["title"]
    assert schema["description"]
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize("name", studies.names())
def test_the_studies_that_ship_fit(name):
    assert errors("study", tomllib.loads((studies.STUDIES / f"{name}.toml").read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("study", [SMALL, FULL])
def test_a_study_that_is_read_fits(study):
    studies.parse(study, "name", "a.toml")
    assert errors("study", study) == []


def changed(value, path, new):
    """A copy of the value with ``new`` at the path; taken out where ``new`` is Ellipsis."""
    copied = copy.deepcopy(value)
    *way, last = path
    inner = copied
    for key in way:
        inner = inner[key]
    if new is ...:
        del inner[last]
    else:
        inner[last] = new
    return copied


WRONG_STUDIES = [
    (("setups",), ...),
    (("setups",), []),
    (("setups",), [{"label": "no setup"}]),
    (("setups",), [{"setup": "gunicorn", "label": "a b"}]),
    (("setups",), [{"setup": "gunicorn", "workers": 2}]),
    (("tests",), {}),
    (("tests", "a b"), {"kind": "latency", "rate": 1, "duration": "1s"}),
    (("tests", "latency", "rate"), ...),
    (("tests", "latency", "rate"), 0),
    (("tests", "latency", "rate"), "300"),
    (("tests", "latency", "duration"), ...),
    (("tests", "latency", "duration"), "soon"),
    (("tests", "latency", "connections"), 10),
    (("tests", "latency", "kind"), "speed"),
    (("tests", "latency", "path"), "async/"),
    (("tests", "latency", "engine"), "ab"),
    (("tests", "latency", "speed"), 2),
    (("tests", "async", "speed"), 2),
    (("tests", "async", "pace"), "recorded"),
    (("tests", "post", "method"), "BREW"),
    (("tests", "post", "headers"), {"X": 1}),
    (("tests", "post", "body_base64"), "YQ=="),
    (("tests", "post", "status"), 101),
    (("tests", "post", "requests"), [{"path": "/"}]),
    (("tests", "mix", "requests"), []),
    (("tests", "mix", "requests", 0, "weight"), 0),
    (("tests", "mix", "requests", 0, "wieght"), 1),
    (("tests", "mix", "workload"), "mine.toml"),
    (("tests", "mix", "path"), "/"),
    (("tests", "replay", "rate"), 10),
    (("tests", "replay", "duration"), "1s"),
    (("tests", "replay", "speed"), 0),
    (("tests", "replay", "requests"), ...),
    (("tests", "replay", "requests", 0, "at"), [-1]),
    (("tests", "async", "kind"), ...),
    (("tests", "async", "rate"), 10),
    (("tests", "async", "connections"), 0),
    (("tests", "capacity", "objective"), "fast"),
    (("tests", "capacity", "objective"), "errors<1%"),
    (("tests", "capacity", "engine"), "loadtest"),
    (("tests", "capacity", "duration"), "10s"),
    (("blocks",), 0),
    (("blocks",), True),
    (("delta",), 1),
    (("aa",), "yes"),
    (("price_per_core_hour",), 0),
    (("nonsense",), 1),
]


@pytest.mark.parametrize(("path", "new"), WRONG_STUDIES)
def test_a_wrong_study_is_refused_by_schema_and_parser_alike(path, new):
    wrong = changed(FULL, path, new)
    assert errors("study", wrong)
    with pytest.raises(UserError):
        studies.parse(wrong, "name", "a.toml")


def test_what_a_run_writes_fits(about):
    assert errors("run", about) == []
    assert errors("run", {**about, "ended": "2026-11-21T08:00:00+00:00", "goal": None}) == []


@pytest.mark.parametrize(
    ("path", "new"),
    [
        (("schema",), 2),
        (("created",), "yesterday"),
        (("study",), ...),
        (("study", "nonsense"), 1),
        (("study", "tests", 0, "rate"), None),
        (("study", "tests", 0, "requests"), ...),
        (("study", "tests", 0, "path"), "/"),
        (("study", "tests", 0, "requests", 0, "method"), "BREW"),
        (("study", "entries", 0, "label"), "a b"),
        (("order", 0, "number"), 0),
        (("setups", "gunicorn", "interface"), "cgi"),
        (("machine", "cores"), "two"),
        (("machine", "secret"), 1),
        (("versions", "packages", "Django"), 5.2),
        (("git", "dirty"), "yes"),
        (("knobs", "WORKERS"), 2),
        (("nonsense",), 1),
    ],
)
def test_a_wrong_run_is_refused(about, path, new):
    assert errors("run", changed(about, path, new))


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
        (("result", "requests", 0, "ok"), ...),
        (("processes", 0, "cpu_s"), -0.1),
        (("evidence", "mood"), 1),
        (("capacity", "limited_by"), "luck"),
        (("capacity", "probes", 0, "rate"), 0),
        (("nonsense",), 1),
    ],
)
def test_a_wrong_trial_is_refused(trial, path, new):
    assert errors("trial", changed(trial, path, new))


@pytest.mark.parametrize(
    ("kind", "part"), [(results.Result, "result"), (validity.Evidence, "evidence"), (store.Trial, None)]
)
def test_every_field_is_required_by_the_schema(kind, part):
    schema = validator("trial").schema
    required = schema["$defs"][part]["required"] if part else schema["required"]
    assert {field.name for field in dataclasses.fields(kind)} == set(required) - {"schema"}


def test_every_reason_is_in_the_schema():
    known = validator("trial").schema["$defs"]["flag"]["properties"]["reason"]["enum"]
    assert known == [reason.name for reason in validity.Reason]


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
    names = metrics.every(metrics.ROLES)
    assert errors("summary", ROW | {f"{name}{end}": "1.5" for name in names for end in ("", "_low", "_high")}) == []


@pytest.mark.parametrize(
    ("path", "new"), [(("label",), ...), (("sent",), "many"), (("p50_ms",), "–"), (("p50_s",), "1")]
)
def test_a_wrong_row_is_refused(path, new):
    assert errors("summary", changed(ROW, path, new))


@pytest.mark.parametrize("file", COMMITTED, ids=lambda file: file.parent.name)
def test_the_committed_runs_fit(file):
    assert errors("run", json.loads(file.read_text(encoding="utf-8"))) == []
    for path in (file.parent / "trials").glob("*.json"):
        assert errors("trial", json.loads(path.read_text(encoding="utf-8"))) == [], path.name
    with (file.parent / "summary.csv").open(newline="", encoding="utf-8") as text:
        for row in csv.DictReader(text):
            assert errors("summary", row) == []
