from collections.abc import Callable
from dataclasses import replace
from math import inf

import pytest

from loadtests.analyse.compare.within import Family, compare, estimates, noise_floors, widest_interval
from loadtests.analyse.observations import Observation
from loadtests.analyse.verdicts import Verdict

Study = Callable[..., list[Observation]]


def test_each_candidate_gets_its_ratio_and_verdict(study: Study) -> None:
    found = compare(study({"gunicorn": 10.0, "daphne": 20.0, "uvicorn": 8.0}), "gunicorn")
    assert [(one.candidate, one.verdict) for one in found] == [
        ("daphne", Verdict.SLOWER),
        ("uvicorn", Verdict.FASTER),
    ]
    assert found[0].ratio == pytest.approx(2.0, rel=0.05)
    assert found[0].low < found[0].ratio < found[0].high
    assert {one.family for one in found} == {2}


def test_drift_between_blocks_cancels(study: Study) -> None:
    # Blocks differ by 10%, trials within a block by 0.5%: the ratio is known far better than either value.
    observations = study({"a": 10.0, "b": 10.0}, sd=0.005)
    (found,) = compare(observations, "a")
    assert found.verdict is Verdict.EQUIVALENT
    assert all(one.high / one.low > 1.05 for one in estimates(observations))


def test_inconclusive_says_how_many_blocks_would_do(study: Study) -> None:
    found = compare(study({"a": 10.0, "b": 11.5, "c": 11.5, "d": 11.5}, blocks=6, sd=0.08), "a")
    reported = [one.blocks_needed for one in found if one.verdict is Verdict.INCONCLUSIVE and one.blocks_needed]
    assert reported
    assert all(6 < few <= many for few, many in reported)


def test_one_block_is_inconclusive_and_open(study: Study) -> None:
    (found,) = compare(study({"a": 10.0, "b": 30.0}, blocks=1), "a")
    assert (found.verdict, found.low, found.high) == (Verdict.INCONCLUSIVE, 0.0, inf)
    assert found.blocks_needed is None


def test_block_without_a_valid_trial_is_left_out(study: Study) -> None:
    observations = study({"a": 10.0, "b": 20.0})
    gap = [one for one in observations if not (one.label == "b" and one.block in (2, 5))]
    (found,) = compare(gap, "a")
    assert found.blocks == 8
    assert found.verdict is Verdict.SLOWER


def test_candidate_without_any_valid_trial_is_inconclusive(study: Study) -> None:
    observations = [one for one in study({"a": 10.0, "b": 20.0}) if one.block > 5 or one.label == "a"]
    other_half = [one for one in observations if one.block <= 5 or one.label == "b"]
    (found,) = compare(other_half, "a")
    assert (found.blocks, found.verdict) == (0, Verdict.INCONCLUSIVE)


def test_the_other_setups_tell_the_noise(study: Study) -> None:
    observations = study({"a": 10.0, "b": 12.0, "c": 10.0, "d": 10.0, "e": 10.0}, blocks=4)
    pair = [one for one in observations if one.label in "ab"]
    (by_two,) = compare(pair, "a")
    (by_all,) = compare(observations, "a", family=Family(["b"]))
    assert (by_two.method, by_all.method) == ("student", "moderated")
    assert by_all.ratio == pytest.approx(by_two.ratio)
    assert by_all.family == 1


def test_the_baselines_twin_is_a_second_baseline(study: Study) -> None:
    observations = study({"a": 10.0, "again": 10.4, "b": 12.0, "c": 12.0})
    once = {one.candidate: one for one in compare([one for one in observations if one.label != "again"], "a")}
    twice = {one.candidate: one for one in compare(observations, "a", aa="again")}
    assert twice["b"].ratio == pytest.approx(once["b"].ratio / 1.04**0.5, rel=0.01)
    assert twice["b"].high / twice["b"].low < once["b"].high / once["b"].low


def test_differences_inside_the_noise_floor_are_marked(study: Study) -> None:
    observations = study({"a": 10.0, "again": 10.0, "near": 10.01, "far": 20.0}, sd=0.03)
    found = {one.candidate: one for one in compare(observations, "a", aa="again")}
    assert set(found) == {"near", "far"}
    assert found["near"].inside_noise
    assert not found["far"].inside_noise
    (floor,) = noise_floors(observations, "a", "again")
    assert floor.low < 1 < floor.high
    assert floor.blocks == 10


def test_widest_interval_shrinks_with_blocks(study: Study) -> None:
    few = widest_interval(compare(study({"a": 10.0, "b": 11.0, "c": 12.0}, blocks=8), "a"))
    many = widest_interval(compare(study({"a": 10.0, "b": 11.0, "c": 12.0}, blocks=24), "a"))
    assert 0.02 > many > 0
    assert few > many
    assert widest_interval([]) == inf


def test_nothing_is_narrow_before_eight_blocks(study: Study) -> None:
    # A few blocks are alike by chance.
    assert widest_interval(compare(study({"a": 10.0, "b": 11.0, "c": 12.0}, blocks=7, sd=1e-6), "a")) == inf


def test_zero_has_no_ratio(study: Study) -> None:
    observations = [replace(one, value=0.0) if one.block == 1 else one for one in study({"a": 1.0, "b": 1.0})]
    (found,) = compare(observations, "a")
    assert found.blocks == 9


def test_cell_given_twice_is_refused(study: Study) -> None:
    with pytest.raises(ValueError, match="block 1 is given twice"):
        compare(study({"a": 1.0}) * 2, "a")


def test_unknown_metric_is_refused(study: Study) -> None:
    with pytest.raises(ValueError, match="unknown metric 'speed'"):
        compare(study({"a": 1.0, "b": 1.0}, metric="speed"), "a")
