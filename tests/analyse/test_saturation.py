"""Test that the throughput of a closed loop is a lower bound unless the servers' cores were fully busy."""

import dataclasses

import pytest

from loadtests.analyse.results import Results
from loadtests.analyse.saturation import busy_share, is_lower_bound
from loadtests.analyse.verdicts import Verdict
from loadtests.records import Evidence
from tests.fixtures.pages import page_of
from tests.fixtures.studies import a_test

LOOP = a_test("throughput", connections=10, duration=10)


@pytest.fixture
def trial(build_run):
    """Return a function that creates a trial of ten seconds whose processes used the given CPU times."""
    [first, *_] = build_run(tests=("throughput",), blocks=1).trials()

    def make(*cpu_s, roles=("web", "worker", "redis"), other_load=0.0, servers=(0,), services=None, billed=None):
        processes = tuple(
            dataclasses.replace(first.processes[0], cpu_s=each, role=role)
            for each, role in zip(cpu_s, roles, strict=False)
        )
        cores = {"servers": servers, "generator": (9,)} | ({"services": services} if services else {})
        result = dataclasses.replace(first.result, ok=1000, billed=billed, duration_s=10.0)
        evidence = Evidence(other_load=other_load)
        return dataclasses.replace(first, processes=processes, cores=cores, result=result, evidence=evidence)

    return make


def test_busy_share_of_cores_is_calculated(trial):
    assert busy_share(trial(6.0, 2.0)) == pytest.approx(0.8)
    assert busy_share(trial(8.0, other_load=0.2)) == pytest.approx(1.0)  # other programs used two of the ten seconds
    assert busy_share(trial(9.0, billed=1500)) == pytest.approx(0.6)  # the CPU time covers 1,500 requests in 15 s
    assert busy_share(trial(8.0, 8.0, servers=(0, 1))) == pytest.approx(0.8)
    assert busy_share(trial(10.0, 1.0, servers=(0, 1, 2, 3))) == pytest.approx(1.0)  # a worker can only use one core
    assert busy_share(trial(6.0, 0.0, 3.0, services=(9,))) == pytest.approx(0.6)
    assert busy_share(dataclasses.replace(trial(), result=None)) is None


def test_idle_cores_mean_lower_bound(trial):
    idle, full = trial(7.0), trial(9.5)
    assert is_lower_bound(LOOP, [idle, idle, full])
    assert not is_lower_bound(LOOP, [idle, full, full])
    assert not is_lower_bound(a_test("latency", rate=300, duration=10), [idle])


@pytest.mark.parametrize(
    "keys",
    [{"path": "/wait?ms=50"}, {"path": "/async/fetch", "services": ["origin"]}],
    ids=["wait", "fetch"],
)
def test_waiting_views_are_not_lower_bounds(trial, keys):
    assert not is_lower_bound(a_test("throughput", connections=10, duration=10, **keys), [trial(2.0)])


def test_page_does_not_rank_lower_bounds(build_run):
    run = build_run(labels=("gunicorn", "uvicorn", "daphne"), tests=("throughput-1",), blocks=10)
    for one in run.trials():
        run.save_trial(_idle(one) if one.label == "daphne" else one)
    results = Results(run)
    assert [results.is_lower_bound(label, "throughput-1") for label in results.labels] == [False, False, True]
    verdicts = {label: one.verdict for (label, _, metric), one in results.comparisons.items() if metric == "rps"}
    assert verdicts == {"uvicorn": Verdict.SLOWER, "daphne": Verdict.INCONCLUSIVE}
    [answer] = [one.answer for one in page_of(run).findings if "answers the most" in one.answer]
    assert "Not ranked: daphne (at least " in answer


def _idle(trial):
    """Return the trial with its CPU times reduced to 70%."""
    return dataclasses.replace(
        trial, processes=tuple(dataclasses.replace(one, cpu_s=0.7 * one.cpu_s) for one in trial.processes)
    )
