"""Which cells may be the best; and figures that are lower bounds, because something else than the setup ended there."""

import dataclasses
import random
from math import inf, log

import pytest

from loadtests.analyse.best import places, ranked
from loadtests.analyse.compare.between import compare_runs
from loadtests.analyse.compare.within import Family, compare, estimates, widest_interval
from loadtests.analyse.reasons import Severity
from loadtests.analyse.validity import judge
from loadtests.analyse.verdicts import Verdict
from loadtests.records import Evidence
from tools.simulation import sweeps_and_searches


def samples(speeds, blocks=4, noise=0.01):
    """Blocks differ by far more than cells."""
    rng = random.Random(1)
    return {
        label: {block: log(speed * (1 + block)) + rng.gauss(0, noise) for block in range(blocks)}
        for label, speed in speeds.items()
    }


def test_what_is_surely_worse_is_dropped_and_what_is_alike_stays():
    found = places(samples({"a": 100.0, "b": 100.5, "c": 60.0}), more_is_better=True)
    assert [place.may_be_best for place in found.values()] == [True, True, False]
    assert max(place.ratio for place in found.values()) == 1
    assert found["c"].ratio == pytest.approx(0.6, rel=0.03)
    assert found["c"].worst < found["c"].ratio
    assert all(place.worst < 1 for place in found.values())


def test_where_less_is_better_ratios_go_up():
    found = places(samples({"a": 100.0, "b": 100.5, "c": 60.0}), more_is_better=False)
    assert [place.may_be_best for place in found.values()] == [False, False, True]
    assert found["a"].worst > found["a"].ratio > 1
    assert found["c"].ratio == 1


def test_a_cell_without_some_blocks_is_compared_all_the_same():
    given = samples({"a": 100.0, "b": 100.5, "c": 60.0})
    del given["c"][0], given["c"][1]
    found = places({**given, "d": {}}, more_is_better=True)
    assert found.keys() == {"a", "b", "c"}
    assert found["c"].ratio == pytest.approx(0.6, rel=0.03)
    assert not found["c"].may_be_best


@pytest.mark.parametrize(
    ("given", "worst"),
    [
        pytest.param({"a": {1: 1.0, 2: 1.1}}, 1, id="a single cell"),
        pytest.param(samples({"a": 100.0, "b": 10.0}, blocks=1), 0, id="one block, which knows no noise"),
        pytest.param({"a": {1: 1.0, 2: 1.1}, "b": {3: 5.0, 4: 5.1}}, 0, id="no block in common"),
    ],
)
def test_where_nothing_tells_them_apart_all_may_be_the_best(given, worst):
    found = places(given, more_is_better=True).values()
    assert {(place.may_be_best, place.worst) for place in found} == {(True, worst)}


def test_cells_are_ranked_as_they_look():
    given = samples({"a": 100.0, "b": 120.0, "c": 60.0, "d": 80.0})
    del given["d"][0], given["d"][1]
    assert ranked({**given, "e": {}}, more_is_better=True) == ["b", "a", "d", "c"]
    assert ranked(given, more_is_better=False) == ["c", "d", "a", "b"]
    assert ranked({}, more_is_better=True) == []


@pytest.mark.parametrize(
    "noise", ["normal", "heavy tails", "slow mode", "drifting machine", "one bad block", "one noisy setup"]
)
@pytest.mark.parametrize("blocks", [2, 4])
def test_the_true_best_is_hardly_ever_dropped(noise, blocks):
    assert sweeps_and_searches.swept(noise, 8, blocks, repetitions=100, seed=2).lost <= 0.09


def bounded(observations, label, blocks=None):
    """The same, with a label's values lower bounds in some blocks, or in all."""
    return [
        dataclasses.replace(one, at_least=one.label == label and (blocks is None or one.block in blocks))
        for one in observations
    ]


def test_a_candidate_at_least_that_fast_may_be_faster_and_is_never_slower(study):
    speeds = {"gunicorn": 100.0, "uvicorn": 300.0, "daphne": 50.0}
    of_uvicorn, of_daphne = compare(bounded(study(speeds, metric="rps"), "uvicorn", {2}), "gunicorn")
    assert (of_uvicorn.verdict, of_uvicorn.high, of_uvicorn.at_least) == (Verdict.FASTER, inf, True)
    assert of_uvicorn.low > 2
    assert (of_daphne.verdict, of_daphne.at_least) == (Verdict.SLOWER, False)
    assert of_daphne.high < inf
    [_, of_daphne] = compare(bounded(study(speeds, metric="rps"), "daphne"), "gunicorn")
    assert (of_daphne.verdict, of_daphne.blocks_needed) == (Verdict.INCONCLUSIVE, None)


def test_of_a_baseline_at_least_that_fast_the_others_are_at_most_a_share(study):
    speeds = {"gunicorn": 100.0, "uvicorn": 30.0, "daphne": 200.0}
    of_uvicorn, of_daphne = compare(bounded(study(speeds, metric="rps"), "gunicorn", {1}), "gunicorn")
    assert (of_uvicorn.verdict, of_uvicorn.low, of_uvicorn.at_most) == (Verdict.SLOWER, 0, True)
    assert of_uvicorn.high < 0.35
    assert (of_daphne.verdict, of_daphne.low) == (Verdict.INCONCLUSIVE, 0)


def test_of_two_bounds_nothing_is_known(study):
    both = [dataclasses.replace(one, at_least=True) for one in study({"gunicorn": 9.0, "uvicorn": 27.0}, metric="rps")]
    [found] = compare(both, "gunicorn")
    assert (found.verdict, found.low, found.high) == (Verdict.INCONCLUSIVE, 0, inf)
    assert found.at_least
    assert found.at_most


def test_a_bound_tells_nothing_of_the_noise(study):
    """The generator's own limit is the same each time; that makes no setup less noisy."""
    speeds = {"gunicorn": 100.0, "uvicorn": 100.0, "granian": 100.0, "uwsgi": 300.0}
    noisy = study(speeds, metric="rps", blocks=4, sd=0.2)
    still = [dataclasses.replace(one, value=300.0) if one.label == "uwsgi" else one for one in noisy]
    without = [one for one in noisy if one.label != "uwsgi"]

    def widths(observations):
        found = compare(observations, "gunicorn", family=Family(("uvicorn", "granian")))
        return [log(one.high / one.low) for one in found]

    assert widths(bounded(still, "uwsgi")) == widths(without)


def test_an_estimate_is_open_above_and_needs_no_further_blocks(study):
    [found] = estimates(bounded(study({"ws": 100.0}, metric="messages_per_s"), "ws", {3}))
    assert found.at_least
    assert (found.high, found.low > 80) == (inf, True)
    found = compare(bounded(study({"gunicorn": 100.0, "ws": 900.0, "daphne": 60.0}, metric="rps"), "ws"), "gunicorn")
    assert widest_interval(found) < 0.1


def test_a_run_of_bounds_is_equivalent_to_itself_and_open_to_another(study):
    first = bounded(study({"ws": 100.0}, metric="rps"), "ws")
    [same] = compare_runs(first, first)
    assert (same.verdict, same.at_least, same.at_most) == (Verdict.EQUIVALENT, False, False)
    [other] = compare_runs(study({"ws": 50.0}, metric="rps", seed=2), first)
    assert (other.verdict, other.high) == (Verdict.FASTER, inf)


def test_what_may_do_more_may_be_the_best():
    speeds = {"a": (100.0, 101.0, 99.0, 100.0), "b": (60.0, 61.0, 59.0, 60.0)}
    samples = {label: {block: log(value) for block, value in enumerate(own)} for label, own in speeds.items()}
    assert not places(samples, more_is_better=True)["b"].may_be_best
    found = places(samples, more_is_better=True, bounds={"b": {0}})
    assert found["b"].may_be_best
    assert found["a"].worst == 0


def test_a_saturated_generator_leaves_a_closed_loop_its_lower_bound():
    busy = Evidence(generator_cpu=0.97)
    flags = [*judge(busy, closed_loop=True), *judge(busy)]
    assert [(flag.reason, flag.severity) for flag in flags] == [
        ("generator_limits", Severity.DOUBTFUL.value),
        ("generator_busy", Severity.INVALID.value),
    ]
