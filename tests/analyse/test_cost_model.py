"""Test the model of the CPU time that a server adds to a request, and the throughput predicted for a view."""

import dataclasses

import pytest

from loadtests.analyse import cost_model as models
from loadtests.analyse.results import Results
from tests.fixtures.costs import with_costs

COSTS = {"gunicorn-gthread": 0.5, "granian-wsgi": 0.25, "uvicorn": 2.0}


@pytest.fixture
def results(build_run):
    def make(costs=COSTS, **options):
        return Results(with_costs(build_run(labels=tuple(costs), tests=("throughput",), blocks=6), costs, **options))

    return make


def test_added_time_is_relative_to_baseline(results):
    model = models.cost_model(results(), "throughput")
    assert model.baseline_ms == pytest.approx(0.5, rel=0.01)
    for label, ms in (("granian-wsgi", -0.25), ("uvicorn", 1.5)):
        added = model.added_ms[label]
        assert added.value == pytest.approx(ms, rel=0.02)
        assert added.low < ms < added.high


def test_slow_view_hides_server_differences(results):
    model = models.cost_model(results(), "throughput")
    quick, slow = (model.relative("uvicorn", view_ms) for view_ms in (0.1, 100))
    assert quick.value == pytest.approx(0.6 / 2.1, rel=0.02)
    assert slow.value == pytest.approx(100.5 / 102, rel=0.001)
    assert quick.low < quick.value < quick.high
    assert model.relative("uvicorn", 100, growth=0.25).value < 0.8


def test_baseline_copy_has_no_added_time(build_run):
    run = with_costs(build_run(labels=tuple(COSTS), tests=("throughput",), blocks=6, aa=True), COSTS)
    model = models.cost_model(Results(run), "throughput")
    assert list(model.added_ms) == ["granian-wsgi", "uvicorn"]


def test_model_needs_fully_busy_cores(results):
    assert models.cost_model(results(busy=0.8), "throughput") is None


def test_held_out_view_shows_cost_growth(build_run):
    run = with_costs(build_run(labels=tuple(COSTS), tests=("throughput", "throughput-page"), blocks=6), COSTS)
    page = {"gunicorn-gthread": 10.5, "granian-wsgi": 10.25, "uvicorn": 14.0}
    for trial in with_costs(run, COSTS).trials():
        if trial.test == "throughput-page":
            factor = page[trial.label] / COSTS[trial.label]
            run.save_trial(_costing(trial, factor))
    found = Results(run)
    model = models.cost_model(found, "throughput")
    granian, uvicorn = models.held_out(model, found, ["throughput-page"])
    assert granian.error == pytest.approx(0, abs=0.01)
    assert uvicorn.predicted.value == pytest.approx(10.5 / 12, rel=0.01)
    assert uvicorn.growth == pytest.approx(0.2, abs=0.02)


def _costing(trial, factor):
    process = dataclasses.replace(trial.processes[0], cpu_s=trial.processes[0].cpu_s * factor)
    result = dataclasses.replace(trial.result, rate=trial.result.rate / factor)
    return dataclasses.replace(trial, processes=(process,), result=result)
