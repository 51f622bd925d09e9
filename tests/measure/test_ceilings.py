"""Test the rate ``auto``. For all setups, it is a share of the slowest setup's throughput."""

import dataclasses

import pytest

from loadtests.errors import UserError
from loadtests.measure import contract_check
from loadtests.records import Deliveries
from loadtests.records.result import NOTHING
from loadtests.records.run.folder import Run
from loadtests.serve.serving import NotServing
from tests.fixtures.conversations import holding

LATENCY = {"rate": "auto", "duration": "4s", "warmup": "200ms"}
SETUPS = ["gunicorn", "uvicorn", "daphne"]


@pytest.fixture
def ceilings(prepare, folder, bench_of, monkeypatch):
    """Return a function that creates the run folder of a study with ``rate = "auto"``.

    The function's arguments are the tests, and a mapping from each setup to the changes of its result. The function
    returns the tests and the ceilings in run.json.
    """
    ports, serve = {}, bench_of.serve

    def serving(setup, env, services, port):
        ports[port] = setup.name
        return serve(setup, env, services, port)

    def find(results, **tests):
        bench_of.serve = serving
        bench_of.engine.meanwhile = lambda load: results[ports[int(load.origin.rpartition(":")[2])]]
        prepare({"setups": list(results), "blocks": 1, "tests": tests})
        record = Run.open(folder).record
        return record.study.tests, record.ceilings

    return find


def answering(*rates):
    return {name: {"rate": rate, "ok": int(rate)} for name, rate in zip(SETUPS, rates, strict=True)}


@pytest.mark.parametrize(("share", "rate"), [({}, 120.0), ({"share": 0.25}, 60.0)])
def test_rate_is_share_of_slowest_setup(ceilings, share, rate):
    [test], found = ceilings(answering(1500.0, 700.0, 241.7), latency={**LATENCY, **share})
    assert (test.pace.rate, test.pace.auto) == (rate, share.get("share", 0.5))
    assert found == {"latency": {"gunicorn": 1500.0, "uvicorn": 700.0, "daphne": 241.7}}
    # A verdict uses the highest percentile for which a trial has enough requests.
    assert [metric.name for metric in test.judged] == ["p50_ms", "p95_ms", "cpu_ms_per_request"]
    assert [metric.name for metric in test.at_rate(600.0).judged] == ["p50_ms", "p99_ms", "cpu_ms_per_request"]


def test_equal_tests_share_a_search(ceilings, bench_of):
    shares = {"quarter": 0.25, "half": 0.5, "most": 0.75}
    tests = {name: {**LATENCY, "kind": "latency", "share": share} for name, share in shares.items()}
    asked, found = ceilings(answering(400.0, 400.0, 400.0), **tests, other={**tests["half"], "path": "/async/"})
    assert [test.pace.rate for test in asked] == [100.0, 200.0, 300.0, 200.0]
    assert len(bench_of.engine.loads) == 2 * 3  # one load for each of three setups and two paths
    assert set(found) == {"quarter", "half", "most", "other"}


def test_failed_requests_are_the_reason(ceilings, folder):
    failed = {"errors": {"timeout": 8}, "examples": {"timeout": "no answer in 10 s"}}
    result = {"rate": 0.0, "ok": 0, "planned": 8, **failed}
    with pytest.raises(UserError) as raised:
        ceilings({"uvicorn": result}, latency=LATENCY)
    assert "the rate is unknown: uvicorn: 8 of 8 requests failed: no answer in 10 s" in str(raised.value)
    assert not folder.exists()


def test_broadcast_rate_uses_slowest_deliveries(ceilings, bench_of, monkeypatch):
    """The layers accept a thousand messages a second, but the rate depends on the deliveries to ten receivers."""
    monkeypatch.setattr(contract_check.websocket_contract, "broken", lambda *given: [])

    def delivering(came):
        lost = Deliveries(10_000, came, 10_000 - came, 0, 0, dict(NOTHING), in_time=came)
        return {"rate": 1000.0, "ok": 1000, "duration_s": 1.0, "deliveries": lost, "connections": holding(11)}

    results = {"uvicorn-channels-redis": delivering(4000), "uvicorn-channels-ipc": delivering(7000)}
    [test], found = ceilings(results, broadcast={"rate": "auto", "receivers": 10, "duration": "20s"})
    assert {(load.rate, load.connections) for load in bench_of.engine.loads} == {(None, 1)}
    assert test.pace.rate == 200.0
    assert found == {"broadcast": {"uvicorn-channels-redis": 400.0, "uvicorn-channels-ipc": 700.0}}


def test_deployed_command_must_start(prepare, bench_of, tmp_path):
    (tmp_path / "Procfile").write_text("web: gunicorn a.wsgi\n")
    serve = bench_of.serve

    def serving(setup, env, services, port):
        if setup.deployed:
            raise NotServing("did not start", "ModuleNotFoundError: No module named 'a'")
        return serve(setup, env, services, port)

    bench_of.serve = serving
    bench_of.application = dataclasses.replace(bench_of.application, own=True)
    deployed = {"setup": "gunicorn", "label": "mine", "variant": [str(tmp_path / "Procfile")]}
    with pytest.raises(UserError, match=r"^mine: your deployed command did not start: ModuleNotFoundError: No module"):
        prepare({"setups": ["gunicorn", deployed], "blocks": 1, "tests": {"latency": LATENCY}})
