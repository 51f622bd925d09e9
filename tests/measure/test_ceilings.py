"""A rate that is left to the run: half of what the slowest setup answers, the same for all."""

import pytest

from loadtests.errors import UserError
from loadtests.measure import contract_check, interleaved
from loadtests.measure import prepare as preparing
from loadtests.plan import study as studies
from loadtests.plan.kinds.base import CEILING_S
from loadtests.plan.schedule import planned_seconds
from loadtests.records import Deliveries
from loadtests.records.result import NOTHING
from loadtests.records.run.folder import Run
from tests.fixtures.conversations import holding

LATENCY = {"rate": "auto", "duration": "4s", "warmup": "200ms"}
TABLE = {"setups": ["gunicorn", "uvicorn", "daphne"], "blocks": 1, "tests": {"latency": LATENCY}}


@pytest.fixture
def prepare(tmp_path, bench_of, monkeypatch):
    """Makes the run folder of the study; a function of the changes of each setup's result, by its name, and of the
    tests."""
    monkeypatch.setattr(interleaved, "REST_S", 0.0)
    ports, serve = {}, bench_of.serve

    def serving(setup, env, services, port):
        ports[port] = setup.name
        return serve(setup, env, services, port)

    def prepare(results, **tests):
        bench_of.serve = serving
        bench_of.engine.meanwhile = lambda load: results[ports[int(load.origin.rpartition(":")[2])]]
        study = studies.parse({"setups": list(results), "blocks": 1, "tests": tests}, "s", "s.toml")
        return preparing.prepare(study, preparing.RunOptions(tmp_path / "run", 1), bench_of)

    return prepare


def answering(gunicorn, uvicorn, daphne):
    rates = {"gunicorn": gunicorn, "uvicorn": uvicorn, "daphne": daphne}
    return {name: {"rate": rate, "ok": int(rate)} for name, rate in rates.items()}


@pytest.mark.parametrize(("share", "rate"), [({}, 120.0), ({"share": 0.25}, 60.0)])
def test_the_rate_is_a_share_of_the_slowest_ceiling_in_two_digits(prepare, tmp_path, share, rate):
    prepare(answering(1500.0, 700.0, 241.7), latency={**LATENCY, **share})
    record = Run.open(tmp_path / "run").record
    [test] = record.study.tests
    assert (test.pace.rate, test.pace.auto) == (rate, share.get("share", 0.5))
    assert record.ceilings == {"latency": {"gunicorn": 1500.0, "uvicorn": 700.0, "daphne": 241.7}}


def test_tests_that_ask_the_same_share_one_search(prepare, tmp_path, bench_of):
    shares = {"quarter": 0.25, "half": 0.5, "most": 0.75}
    tests = {name: {**LATENCY, "kind": "latency", "share": share} for name, share in shares.items()}
    found = prepare(answering(400.0, 400.0, 400.0), **tests, other={**tests["half"], "path": "/async/"}).study
    assert [test.pace.rate for test in found.tests] == [100.0, 200.0, 300.0, 200.0]
    assert len(bench_of.engine.loads) == 2 * 3  # of three setups, for each of two paths
    assert set(Run.open(tmp_path / "run").record.ceilings) == {"quarter", "half", "most", "other"}


def test_a_setup_that_answers_nothing_has_no_ceiling_and_sets_no_rate(prepare, tmp_path):
    prepare(answering(1500.0, 700.0, 0.0), latency=LATENCY)
    record = Run.open(tmp_path / "run").record
    assert record.study.tests[0].pace.rate == 350.0
    assert "daphne" not in record.ceilings["latency"]


def test_where_none_answers_nothing_is_written(prepare, tmp_path):
    with pytest.raises(UserError, match=r"^test latency: no setup answered well, so there is no rate that all sustain"):
        prepare(answering(0.0, 0.0, 0.0), latency=LATENCY)
    assert not (tmp_path / "run").exists()


def test_the_highest_percentile_that_a_trial_knows_is_judged(prepare):
    [short] = prepare(answering(1500.0, 700.0, 241.7), latency=LATENCY).study.tests
    assert [metric.name for metric in short.judged] == ["p50_ms", "p95_ms", "cpu_ms_per_request"]  # of 480 requests
    assert [metric.name for metric in short.at_rate(600.0).judged] == ["p50_ms", "p99_ms", "cpu_ms_per_request"]


def test_a_study_says_so_before_the_rate_is_known():
    study = studies.parse(TABLE, "s", "s.toml")
    [test] = study.tests
    assert test.description == "GET / at 50% of what the slowest setup holds, at random moments"
    known = studies.parse({**TABLE, "tests": {"latency": {**LATENCY, "rate": 100}}}, "s", "s.toml")
    search_s = 1.2 + 3 * (1.5 + 0.2 + CEILING_S + 2 * 0.22)
    assert planned_seconds(study) == pytest.approx(planned_seconds(known) + search_s)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"share": 1.5}, "tests.latency.share: is 1.5; a number between 0 and 1"),
        ({"rate": "half"}, "tests.latency.rate: is 'half'; a number above 0 or 'auto' is needed"),
        ({"rate": 100, "share": 0.5}, "tests.latency.share: is not a key here"),
    ],
)
def test_a_mistake_is_one_line(changes, says):
    with pytest.raises(UserError, match=says):
        studies.parse({**TABLE, "tests": {"latency": {**LATENCY, **changes}}}, "s", "s.toml")


def test_the_rate_of_a_broadcast_is_a_share_of_what_the_slowest_delivers(prepare, tmp_path, bench_of, monkeypatch):
    """Both layers take a thousand messages a second; what comes of them to ten receivers is what counts."""
    monkeypatch.setattr(contract_check.websocket, "verified", lambda *given: [])

    def delivering(came):
        lost = Deliveries(10_000, came, 10_000 - came, 0, 0, dict(NOTHING), in_time=came)
        return {"rate": 1000.0, "ok": 1000, "duration_s": 1.0, "deliveries": lost, "connections": holding(11)}

    results = {"uvicorn-channels-redis": delivering(4000), "uvicorn-channels-ipc": delivering(7000)}
    found = prepare(results, broadcast={"rate": "auto", "receivers": 10, "duration": "20s"}).study
    assert {(load.rate, load.connections) for load in bench_of.engine.loads} == {(None, 1)}
    assert [test.pace.rate for test in found.tests] == [200.0]
    assert Run.open(tmp_path / "run").record.ceilings == {
        "broadcast": {"uvicorn-channels-redis": 400.0, "uvicorn-channels-ipc": 700.0}
    }
