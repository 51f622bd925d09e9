"""Test figures that are lower bounds because something other than the setup was saturated."""

import dataclasses
from math import inf, log

from loadtests.analyse.best import places
from loadtests.analyse.compare.between import compare_runs
from loadtests.analyse.compare.within import compare, estimates, widest_interval
from loadtests.analyse.verdicts import Verdict
from loadtests.records import Evidence
from loadtests.trials.reasons import Severity
from loadtests.trials.validity import judge


def bounded(observations, label, blocks=None):
    """Return the observations, but mark the label's values as lower bounds in the given blocks (default: all)."""
    return [
        dataclasses.replace(one, at_least=one.label == label and (blocks is None or one.block in blocks))
        for one in observations
    ]


def test_lower_bound_is_never_judged_slower(study):
    speeds = {"gunicorn": 100.0, "uvicorn": 300.0, "daphne": 50.0}
    of_uvicorn, of_daphne = compare(bounded(study(speeds, metric="capacity_rps"), "uvicorn", {2}), "gunicorn")
    assert (of_uvicorn.verdict, of_uvicorn.high, of_uvicorn.at_least) == (Verdict.FASTER, inf, True)
    assert of_uvicorn.low > 2
    assert (of_daphne.verdict, of_daphne.at_least) == (Verdict.SLOWER, False)
    assert of_daphne.high < inf
    [_, of_daphne] = compare(bounded(study(speeds, metric="capacity_rps"), "daphne"), "gunicorn")
    assert of_daphne.verdict is Verdict.INCONCLUSIVE


def test_lower_bound_of_throughput_is_inconclusive(study):
    speeds = {"gunicorn": 100.0, "uvicorn": 300.0, "daphne": 50.0}
    for label in speeds:
        found = compare(bounded(study(speeds, metric="rps"), label), "gunicorn")
        verdicts = {one.candidate: one.verdict for one in found if label in (one.candidate, one.baseline)}
        assert set(verdicts.values()) == {Verdict.INCONCLUSIVE}


def test_bounded_baseline_gives_upper_bounds(study):
    speeds = {"gunicorn": 100.0, "uvicorn": 30.0, "daphne": 200.0}
    of_uvicorn, of_daphne = compare(bounded(study(speeds, metric="capacity_rps"), "gunicorn", {1}), "gunicorn")
    assert (of_uvicorn.verdict, of_uvicorn.low, of_uvicorn.at_most) == (Verdict.SLOWER, 0, True)
    assert of_uvicorn.high < 0.35
    assert (of_daphne.verdict, of_daphne.low) == (Verdict.INCONCLUSIVE, 0)


def test_two_lower_bounds_are_not_compared(study):
    both = [dataclasses.replace(one, at_least=True) for one in study({"gunicorn": 9.0, "uvicorn": 27.0}, metric="rps")]
    [found] = compare(both, "gunicorn")
    assert (found.verdict, found.low, found.high) == (Verdict.INCONCLUSIVE, 0, inf)
    assert found.at_least
    assert found.at_most


def test_lower_bound_does_not_reduce_noise(study):
    """Equal values at the generator's limit don't mean that the setup's noise is low."""
    speeds = {"gunicorn": 100.0, "uvicorn": 100.0, "granian": 100.0, "uwsgi": 300.0}
    noisy = study(speeds, metric="rps", blocks=4, sd=0.2)
    still = [dataclasses.replace(one, value=300.0) if one.label == "uwsgi" else one for one in noisy]
    without = [one for one in noisy if one.label != "uwsgi"]

    def widths(observations):
        found = compare(observations, "gunicorn", candidates=("uvicorn", "granian"))
        return [log(one.high / one.low) for one in found]

    assert widths(bounded(still, "uwsgi")) == widths(without)


def test_lower_bound_adds_no_blocks(study):
    [found] = estimates(bounded(study({"ws": 100.0}, metric="messages_per_s"), "ws", {3}))
    assert found.at_least
    assert (found.high, found.low > 80) == (inf, True)
    found = compare(bounded(study({"gunicorn": 100.0, "ws": 900.0, "daphne": 60.0}, metric="rps"), "ws"), "gunicorn")
    assert widest_interval(found) < 0.1


def test_lower_bound_between_runs_opens_the_interval(study):
    bound = bounded(study({"ws": 100.0}, metric="capacity_rps"), "ws")
    [found] = compare_runs(study({"ws": 50.0}, metric="capacity_rps", seed=2), bound)
    assert (found.verdict, found.high) == (Verdict.FASTER, inf)


def test_lower_bound_may_be_the_best():
    speeds = {"a": (100.0, 101.0, 99.0, 100.0), "b": (60.0, 61.0, 59.0, 60.0)}
    samples = {label: {block: log(value) for block, value in enumerate(own)} for label, own in speeds.items()}
    assert not places(samples, more_is_better=True)["b"].may_be_best
    found = places(samples, more_is_better=True, bounds={"b": {0}})
    assert found["b"].may_be_best
    assert found["a"].worst == 0


def test_saturated_generator_means_lower_bound():
    busy = Evidence(generator_cpu=0.97)
    flags = [*judge(busy, closed_loop=True), *judge(busy)]
    assert [(flag.reason, flag.severity) for flag in flags] == [
        ("generator_limits", Severity.DOUBTFUL.value),
        ("generator_busy", Severity.INVALID.value),
    ]
