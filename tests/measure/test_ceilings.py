"""A rate that is left to the run: half of what the slowest setup answers, the same for all."""

import pytest

from loadtests.errors import UserError
from loadtests.measure import prepare as preparing
from loadtests.measure import turns
from loadtests.plan import study as studies
from loadtests.plan.kinds.latency import CEILING_S
from loadtests.plan.schedule import planned_seconds
from loadtests.store import Run

LATENCY = {"rate": "auto", "duration": "4s", "warmup": "200ms"}
TABLE = {"setups": ["gunicorn", "uvicorn", "daphne"], "blocks": 1, "tests": {"latency": LATENCY}}


@pytest.fixture
def prepare(tmp_path, bench_of, monkeypatch):
    """Makes the run folder of the study; a function of what each setup answers, by its name, and of its test."""
    monkeypatch.setattr(turns, "REST_S", 0.0)

    def prepare(rates, **test):
        ports = {}
        serve = bench_of.serve

        def serving(setup, env, beside, port):
            ports[port] = setup.name
            return serve(setup, env, beside, port)

        def answered(load):
            rate = rates[ports[int(load.origin.rpartition(":")[2])]]
            return {"rate": rate, "ok": int(rate)}

        bench_of.serve = serving
        bench_of.engine.meanwhile = answered
        study = studies.parse({**TABLE, "tests": {"latency": {**LATENCY, **test}}}, "s", "s.toml")
        return preparing.prepare(study, tmp_path / "run", seed=1, bench_of=bench_of)

    return prepare


@pytest.mark.parametrize(("share", "rate"), [({}, 120.0), ({"share": 0.25}, 60.0)])
def test_the_rate_is_a_share_of_the_slowest_ceiling_in_two_digits(prepare, tmp_path, share, rate):
    prepare({"gunicorn": 1500.0, "uvicorn": 700.0, "daphne": 241.7}, **share)
    record = Run.open(tmp_path / "run").record
    [test] = record.study.tests
    assert (test.rate, test.auto) == (rate, share.get("share", 0.5))
    assert record.ceilings == {"latency": {"gunicorn": 1500.0, "uvicorn": 700.0, "daphne": 241.7}}


def test_a_setup_that_answers_nothing_has_no_ceiling_and_sets_no_rate(prepare, tmp_path):
    prepare({"gunicorn": 1500.0, "uvicorn": 700.0, "daphne": 0.0})
    record = Run.open(tmp_path / "run").record
    assert record.study.tests[0].rate == 350.0
    assert "daphne" not in record.ceilings["latency"]


def test_where_none_answers_nothing_is_written(prepare, tmp_path):
    with pytest.raises(UserError, match=r"^test latency: no setup answered well, so there is no rate that all hold"):
        prepare({"gunicorn": 0.0, "uvicorn": 0.0, "daphne": 0.0})
    assert not (tmp_path / "run").exists()


def test_the_highest_percentile_that_a_trial_knows_is_judged(prepare):
    [short] = prepare({"gunicorn": 1500.0, "uvicorn": 700.0, "daphne": 241.7}).study.tests
    assert [metric.name for metric in short.judged] == ["p50_ms", "p95_ms", "cpu_ms_per_request"]  # of 480 requests
    assert [metric.name for metric in short.at(600.0).judged] == ["p50_ms", "p99_ms", "cpu_ms_per_request"]


def test_a_study_says_so_before_the_rate_is_known():
    study = studies.parse(TABLE, "s", "s.toml")
    [test] = study.tests
    assert test.what == "GET / at 50% of what the slowest setup holds, at random moments"
    known = studies.parse({**TABLE, "tests": {"latency": {**LATENCY, "rate": 100}}}, "s", "s.toml")
    search_s = 1.2 + 3 * (1.5 + 0.2 + CEILING_S + 2 * 0.22)
    assert planned_seconds(study) == pytest.approx(planned_seconds(known) + search_s)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"share": 1.5}, "tests.latency.share: is 1.5; a share between 0 and 1"),
        ({"rate": "half"}, "tests.latency.rate: is 'half'; a number above 0, or 'auto', is needed"),
        ({"rate": 100, "share": 0.5}, "tests.latency.share: is not a key here"),
    ],
)
def test_a_mistake_is_one_line(changes, says):
    with pytest.raises(UserError, match=says):
        studies.parse({**TABLE, "tests": {"latency": {**LATENCY, **changes}}}, "s", "s.toml")
