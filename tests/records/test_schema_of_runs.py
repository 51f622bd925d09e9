"""The published schema of run.json: what the project writes and reads fits it, and what is wrong does not."""

import csv
import dataclasses
import json

import pytest

from loadtests import setups
from loadtests.files import ROOT
from loadtests.measure.prepare import RunOptions, prepare
from loadtests.observe import machine
from loadtests.plan import kinds
from loadtests.plan import study as studies
from loadtests.records.run.run_record import Goal
from loadtests.records.run.upgrade import SCHEMA, upgraded_run, upgraded_trial
from tests.fixtures.schemas import changed, errors, validator
from tests.fixtures.studies import FULL

COMMITTED = sorted(ROOT.glob("results/reference-*/run.json"))


@pytest.fixture(scope="module")
def this_machine():
    return machine.describe(), machine.versions()


@pytest.fixture
def about(tmp_path, bench_of, this_machine):
    """run.json as a run writes it before its first trial, on this machine."""
    bench_of.host.known["machine"], bench_of.host.known["versions"] = this_machine
    bench_of.server.statuses = {f"{start}questionnaire/launch/": 302 for start in ("/", "/async/")}
    study = studies.parse(FULL, "full", "full.toml")
    run = prepare(study, RunOptions(tmp_path / "run", 7, Goal(0.02, 3600.0)), bench_of).run
    return json.loads((run.path / "run.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["study", "run", "trial", "summary"])
def test_a_schema_says_what_it_is_of(name):
    schema = validator(name).schema
    assert schema["$id"] == f"{name}.schema.json"
    assert schema["title"]
    assert schema["description"]
    assert schema["additionalProperties"] is False


def test_what_a_run_writes_fits(about):
    assert errors("run", about) == []
    assert errors("run", {**about, "ended": "2026-11-21T08:00:00+00:00", "goal": None}) == []
    versions = {**about["versions"], "stack_2016": {"Python": "3.11.7", "Django": "1.10.1"}}
    assert errors("run", {**about, "versions": versions}) == []


def test_what_a_run_on_two_machines_writes_fits(about, other_host, this_machine):
    servers = json.loads(json.dumps(dataclasses.asdict(dataclasses.replace(other_host, generator=this_machine[0]))))
    assert errors("run", {**about, "servers": servers}) == []
    assert errors("run", {**about, "servers": {**servers, "round_trip_ms": None}}) == []
    assert errors("run", {**about, "servers": {**servers, "round_trip_ms": -1}})
    del servers["generator"]
    assert errors("run", {**about, "servers": servers})


@pytest.mark.parametrize(
    ("path", "new"),
    [
        (("schema",), 1),
        (("created",), "yesterday"),
        (("study",), ...),
        (("study", "nonsense"), 1),
        (("study", "tests", 0, "rate"), None),
        (("study", "tests", 0, "requests"), ...),
        (("study", "tests", 0, "requests", 0, "method"), "BREW"),
        (("study", "entries", 0, "label"), "a b"),
        (("order", 0, "number"), 0),
        (("setups", "gunicorn", "interface"), "cgi"),
        (("machine", "cores"), "two"),
        (("machine", "secret"), 1),
        (("versions", "packages", "Django"), 5.2),
        (("versions", "stack_2016"), {"Django": 1.1}),
        (("git", "dirty"), "yes"),
        (("knobs", "WORKERS"), 2),
        (("nonsense",), 1),
    ],
)
def test_a_wrong_run_is_refused(about, path, new):
    assert errors("run", changed(about, path, new))


@pytest.mark.parametrize("name", ["study", "run"])
def test_every_kind_of_test_is_in_the_schemas(name):
    assert set(kinds.known()) <= set(validator(name).schema["$defs"])


def test_every_setup_fits(about):
    """Those of peers too, which no study of the tests has."""
    name, like = next(iter(about["setups"].items()))
    for setup in setups.known().values():
        assert errors("run", {**about, "setups": {name: {**like, "interface": setup.interface}}}) == []


def test_the_rates_of_the_first_schema_were_even(about):
    kept = [test for test in about["study"]["tests"] if test["kind"] == "capacity"]
    [capacity] = [{key: value for key, value in test.items() if key != "arrivals"} for test in kept]
    old = {**about, "study": {**about["study"], "tests": [capacity]}, "skipped": {}}
    del old["left_out"]
    found = upgraded_run(old, 1)
    assert [test["arrivals"] for test in found["study"]["tests"]] == ["even"]
    assert errors("run", {**found, "schema": SCHEMA}) == []


@pytest.mark.parametrize("file", COMMITTED, ids=lambda file: file.parent.name)
def test_the_committed_runs_fit(file):
    run = json.loads(file.read_text(encoding="utf-8"))
    assert errors("run", {"schema": SCHEMA, **upgraded_run(run, run.pop("schema"))}) == []
    for path in (file.parent / "trials").glob("*.json"):
        trial = json.loads(path.read_text(encoding="utf-8"))
        assert errors("trial", {"schema": SCHEMA, **upgraded_trial(trial, trial.pop("schema"))}) == [], path.name
    with (file.parent / "summary.csv").open(newline="", encoding="utf-8") as text:
        for row in csv.DictReader(text):
            assert errors("summary", row) == []
