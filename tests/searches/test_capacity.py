"""The search against answers of the tests' own: every probe passes under a known rate."""

from collections.abc import Callable

import pytest

from loadtests.plan.objective import SearchPlan
from loadtests.searches.capacity import CapacitySearch, LimitedBy, Probe, Purpose, SearchedCapacity
from loadtests.searches.judge import Judgement, Outcome

PASS = Judgement(Outcome.PASS, "", clear=True)
FAIL = Judgement(Outcome.FAIL, "", clear=True)
INVALID = Judgement(Outcome.INVALID, "", clear=False)


def run(answer: Callable[[Probe], Judgement], plan: SearchPlan | None = None) -> SearchedCapacity:
    search = CapacitySearch(plan)
    while isinstance(step := search.next(), Probe):
        search.record(answer(step))
    return step


def up_to(capacity: float, beyond: Judgement = FAIL) -> Callable[[Probe], Judgement]:
    return lambda probe: PASS if probe.rate <= capacity else beyond


@pytest.mark.parametrize("capacity", [1.5, 37, 100, 1234, 98_765])
def test_the_rate_is_found_within_three_percent(capacity: float) -> None:
    found = run(up_to(capacity))
    assert found.conclusive
    assert found.rate is not None
    assert found.above is not None
    assert found.rate <= capacity < found.above <= found.rate * 1.0301
    assert len(found.records) <= 25


def test_it_doubles_then_bisects_then_confirms() -> None:
    found = run(up_to(700))
    purposes = [record.probe.purpose for record in found.records]
    assert purposes == sorted(purposes, key=list(Purpose).index)
    assert [record.probe.rate for record in found.records][:4] == [100, 200, 400, 800]
    assert found.records[-1].probe.duration_s == SearchPlan().long_s
    assert found.sentence == f"{found.rate:.0f} requests/s within the objective"


def test_result_has_passed_a_long_probe_and_a_fail_is_just_above() -> None:
    found = run(up_to(700))
    long = {r.probe.rate: r.judgement.outcome for r in found.records if r.probe.purpose is Purpose.CONFIRM}
    assert long[found.rate or 0] is Outcome.PASS
    assert long[found.above or 0] is Outcome.FAIL


def test_it_steps_down_when_long_probes_fail() -> None:
    found = run(lambda probe: up_to(500 if probe.purpose is Purpose.CONFIRM else 700)(probe))
    assert found.rate == pytest.approx(500, rel=0.031)


def test_it_steps_up_when_short_probes_were_unlucky() -> None:
    found = run(lambda probe: up_to(700 if probe.purpose is Purpose.CONFIRM else 600)(probe))
    assert found.rate == pytest.approx(700, rel=0.031)


def test_doubtful_points_are_asked_until_two_agree() -> None:
    doubtful = iter([Outcome.FAIL, Outcome.PASS, Outcome.PASS])
    search = CapacitySearch(SearchPlan(start_rate=100))
    for outcome in doubtful:
        assert search.next() == Probe(100, 5.0, Purpose.DOUBLE)
        search.record(Judgement(outcome, "", clear=False))
    assert search.next() == Probe(200, 5.0, Purpose.DOUBLE)


def test_generators_limit_is_not_the_servers() -> None:
    found = run(up_to(6000, beyond=INVALID))
    assert found.limited_by is LimitedBy.GENERATOR
    assert not found.conclusive
    assert found.rate == pytest.approx(6000, rel=0.031)
    assert found.sentence.endswith("the generator's limit, not the server's")


def test_server_that_fails_under_the_generators_limit_is_still_found() -> None:
    found = run(lambda probe: INVALID if probe.rate > 1500 else up_to(1300)(probe))
    assert found.limited_by is LimitedBy.SERVER
    assert found.rate == pytest.approx(1300, rel=0.031)


def test_highest_rate_that_is_allowed_ends_the_search() -> None:
    found = run(up_to(10_000), SearchPlan(max_rate=1000))
    assert (found.rate, found.limited_by, found.above) == (1000, LimitedBy.MAX_RATE, None)
    assert found.sentence == "at least 1000 requests/s, the highest rate that was allowed"


def test_server_that_meets_the_objective_at_no_rate() -> None:
    found = run(up_to(0))
    assert (found.rate, found.above) == (None, 1.0)
    assert found.sentence == "no rate is within the objective, not even 1 requests/s"


def test_search_that_does_not_come_to_an_end_is_inconclusive() -> None:
    found = run(up_to(700), SearchPlan(max_probes=6))
    assert (found.rate, found.limited_by) == (None, LimitedBy.PROBES)
    assert found.sentence == "inconclusive: 6 probes did not settle it"
    assert len(found.records) == 6


def test_server_that_passes_no_long_probe_has_no_capacity() -> None:
    found = run(lambda probe: FAIL if probe.purpose is Purpose.CONFIRM else up_to(700)(probe))
    assert found.rate is None
    assert found.above == 1.0


def test_nothing_can_be_recorded_after_the_end() -> None:
    search = CapacitySearch(SearchPlan(max_probes=1))
    search.record(PASS)
    with pytest.raises(ValueError, match="the search is over"):
        search.record(PASS)


@pytest.mark.parametrize("fields", [{"start_rate": 0.5}, {"max_rate": 0.5}, {"precision": 0}, {"min_rate": 0}])
def test_plans_that_make_no_sense_are_refused(fields: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="capacity"):
        SearchPlan(**fields)
