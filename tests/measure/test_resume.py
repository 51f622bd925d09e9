"""Going on with a run: only where the rest would be measured as the beginning was, and under the knobs of then."""

import os

import pytest

from loadtests import store
from loadtests.errors import UserError
from loadtests.measure import run as runs
from loadtests.plan import study as studies

TABLE = {"setups": ["gunicorn", "uvicorn"], "blocks": 1, "tests": {"throughput": {"duration": "1s"}}}


@pytest.fixture
def begun(tmp_path, monkeypatch, free_port):
    """A run folder that was made and not run; nothing here starts a server."""
    monkeypatch.setattr(runs.preflight, "contract", lambda bench, study: {})
    monkeypatch.setattr(runs.Application, "prepare", lambda application: None)
    monkeypatch.setenv("PORT", str(free_port))
    monkeypatch.setenv("WORKERS", "3")
    monkeypatch.delenv("THREADS", raising=False)
    return runs.prepare(studies.parse(TABLE, "s", "s.toml"), tmp_path / "run", seed=1).run


def changed(run, **about):
    run.about.update(about)
    run.save_about()
    return run.path


def test_the_knobs_are_those_that_it_was_begun_with(begun, monkeypatch, free_port):
    monkeypatch.setenv("WORKERS", "8")
    monkeypatch.setenv("THREADS", "16")
    monkeypatch.delenv("PORT")
    execution = runs.resume(begun.path)
    assert os.environ["WORKERS"] == "3"
    assert "THREADS" not in os.environ
    assert execution.bench.port == free_port
    assert store.Run.open(begun.path).about["knobs"] == {"WORKERS": "3", "PORT": str(free_port)}


def test_the_order_and_the_contract_are_those_that_it_was_begun_with(begun):
    contract = {"throughput": [{"status": 200}]}
    execution = runs.resume(changed(begun, contract=contract))
    assert [slot.to_dict() for slot in execution.order] == begun.about["order"]
    assert execution.bench.contract == contract


def test_other_packages_are_refused(begun):
    versions = begun.about["versions"]
    older = {**versions, "packages": {**versions["packages"], "Django": "1.8"}}
    with pytest.raises(UserError, match="since it was begun the packages changed; start a new run"):
        runs.resume(changed(begun, versions=older))


def test_a_setup_whose_file_was_edited_is_refused(begun):
    was = begun.about["setups"]
    edited = {**was, "uvicorn": {**was["uvicorn"], "config": was["uvicorn"]["config"] + "; another line"}}
    with pytest.raises(UserError, match="since it was begun the setups' files changed"):
        runs.resume(changed(begun, setups=edited))


def test_all_that_changed_is_named_at_once(begun):
    machine = {**begun.about["machine"], "cpu": "Another CPU"}
    versions = {**begun.about["versions"], "packages": {}}
    with pytest.raises(UserError, match="the machine and the packages changed"):
        runs.resume(changed(begun, machine=machine, versions=versions))
