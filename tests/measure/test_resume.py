"""Going on with a run: only where the rest would be measured as the beginning was, and under the knobs of then."""

import dataclasses
import os

import pytest

from loadtests.errors import UserError
from loadtests.measure.prepare import RunOptions, prepare, resume
from loadtests.plan import study as studies
from loadtests.records.run.folder import Run
from loadtests.records.run.run_record import Expectation
from loadtests.setups import other_stacks

TABLE = {"setups": ["gunicorn", "uvicorn"], "blocks": 1, "tests": {"throughput": {"duration": "1s"}}}


@pytest.fixture
def begun(tmp_path, monkeypatch, free_port, bench_of):
    """A run folder that was made and not run."""
    monkeypatch.setenv("PORT", str(free_port))
    monkeypatch.setenv("WORKERS", "3")
    monkeypatch.delenv("THREADS", raising=False)
    return prepare(studies.parse(TABLE, "s", "s.toml"), RunOptions(tmp_path / "run", 1), bench_of).run


def test_the_knobs_are_those_that_it_was_begun_with(begun, bench_of, monkeypatch, free_port):
    monkeypatch.setenv("WORKERS", "8")
    monkeypatch.setenv("THREADS", "16")
    monkeypatch.delenv("PORT")
    execution = resume(begun.path, bench_of)
    assert os.environ["WORKERS"] == "3"
    assert "THREADS" not in os.environ
    assert execution.bench.port == free_port
    assert Run.open(begun.path).record.knobs == {"WORKERS": "3", "PORT": str(free_port)}


def test_the_order_and_the_contract_are_those_that_it_was_begun_with(begun, bench_of):
    contract = {"throughput": (Expectation(201, "text/html", None),)}
    begun.update(contract=contract)
    execution = resume(begun.path, bench_of)
    assert execution.order == begun.record.order
    assert execution.bench.contract == contract


@pytest.mark.parametrize(
    ("known", "stacks", "changed"),
    [
        ({"versions": {"packages": {"Django": "1.8"}}}, {}, "packages"),
        ({}, {"stack_2016": {"Django": "1.11"}}, "packages"),
        ({"machine": {"cpu": "Another CPU"}, "versions": {"packages": {}}}, {}, "machine and the packages"),
    ],
)
def test_another_machine_and_other_packages_are_refused(begun, bench_of, monkeypatch, known, stacks, changed):
    bench_of.host.known |= known
    monkeypatch.setattr(other_stacks, "versions", lambda names: stacks)
    with pytest.raises(UserError, match=f"since it was begun the {changed} changed; start a new run"):
        resume(begun.path, bench_of)


def test_a_setup_whose_file_was_edited_is_refused(begun, bench_of):
    uvicorn = begun.record.setups["uvicorn"]
    edited = dataclasses.replace(uvicorn, config=uvicorn.config + "; another line")
    begun.update(setups={**begun.record.setups, "uvicorn": edited})
    with pytest.raises(UserError, match="since it was begun the setups' files changed"):
        resume(begun.path, bench_of)


def test_a_journey_whose_file_was_edited_is_refused(begun, tmp_path, bench_of):
    file = tmp_path / "mine.py"
    file.write_text("# as it was")
    table = {"setups": ["gunicorn"], "tests": {"journey": {"users": 1, "duration": "1s", "journey": "mine.py"}}}
    study = studies.parse(table, "s", str(tmp_path / "s.toml"))
    run = prepare(study, RunOptions(tmp_path / "journeys", 1), bench_of).run
    resume(run.path, bench_of)
    file.write_text("# as it is")
    with pytest.raises(UserError, match="since it was begun the journeys' files changed; start a new run"):
        resume(run.path, bench_of)
