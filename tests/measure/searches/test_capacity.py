"""Test the search with simulated probes, which pass below a known rate."""

import pytest

from loadtests.measure.searches.capacity import CapacitySearch, LimitedBy, Probe, Purpose
from loadtests.measure.searches.judge import Judgement, Outcome
from loadtests.plan.objective import SearchPlan

PASS = Judgement(Outcome.PASS, "", clear=True)
FAIL = Judgement(Outcome.FAIL, "", clear=True)
INVALID = Judgement(Outcome.INVALID, "", clear=False)


def run(answer, plan=None):
    search = CapacitySearch(plan)
    while isinstance(step := search.next(), Probe):
        search.record(answer(step))
    return step


def up_to(capacity, beyond=FAIL):
    return lambda probe: PASS if probe.rate <= capacity else beyond


def long_probes_fail(probe):
    return FAIL if probe.purpose is Purpose.CONFIRM else up_to(700)(probe)


def generator_stops_at_1500(probe):
    return INVALID if probe.rate > 1500 else up_to(1300)(probe)


@pytest.mark.parametrize("capacity", [1.5, 37, 100, 1234, 98_765])
def test_rate_is_found_within_three_percent(capacity):
    found = run(up_to(capacity))
    assert found.limited_by is LimitedBy.SERVER
    assert found.rate <= capacity < found.above <= found.rate * 1.0301
    assert len(found.records) <= 25


def test_search_has_three_kinds_of_probes():
    found = run(up_to(700))
    probes = [record.probe for record in found.records]
    purposes = [probe.purpose for probe in probes]
    assert purposes == sorted(purposes, key=list(Purpose).index)
    assert [probe.rate for probe in probes][:4] == [100, 200, 400, 800]
    seconds = {purpose: [one.duration_s for one in probes if one.purpose is purpose] for purpose in Purpose}
    assert set(seconds[Purpose.DOUBLE]) == {2.0}
    assert seconds[Purpose.BISECT] == sorted(seconds[Purpose.BISECT])
    assert set(seconds[Purpose.BISECT]) == {4.0, 6.0}
    assert set(seconds[Purpose.CONFIRM]) == {SearchPlan().long_s}
    # Check that the result passed a long probe, and that ``above`` is the lowest rate that failed.
    outcomes = {(one.probe.rate, one.probe.purpose): one.judgement.outcome for one in found.records}
    assert outcomes[found.rate, Purpose.CONFIRM] is Outcome.PASS
    assert found.above == min(rate for (rate, _), outcome in outcomes.items() if outcome is Outcome.FAIL)
    assert found.sentence == f"{found.rate:.0f} requests/s within the objective"


@pytest.mark.parametrize(("short", "long"), [(700, 500), (600, 700)], ids=["lucky", "unlucky"])
def test_long_probes_overrule_short_probes(short, long):
    found = run(lambda probe: up_to(long if probe.purpose is Purpose.CONFIRM else short)(probe))
    assert found.rate == pytest.approx(long, rel=0.035)


def test_doubtful_rates_are_probed_twice():
    search = CapacitySearch(SearchPlan(start_rate=100))
    for outcome in (Outcome.FAIL, Outcome.PASS, Outcome.PASS):
        assert search.next() == Probe(100, 2.0, Purpose.DOUBLE)
        search.record(Judgement(outcome, "", clear=False))
    assert search.next() == Probe(200, 2.0, Purpose.DOUBLE)


HIGHEST = "requests/s, the highest rate that was allowed"
NONE = "no rate is within the objective, not even 1 requests/s"


def at_most(rate):
    return SearchPlan(start_rate=min(rate, 100), max_rate=rate)


@pytest.mark.parametrize(
    ("answer", "plan", "rate", "above", "limited_by", "sentence"),
    [
        (
            up_to(6000, beyond=INVALID),
            None,
            6000,
            6000,
            LimitedBy.GENERATOR,
            "the load generator was the limit, not the server",
        ),
        # A server's limit below the generator's limit is still found.
        (generator_stops_at_1500, None, 1300, 1300, LimitedBy.SERVER, "within the objective"),
        (up_to(10_000), at_most(1000), 1000, None, LimitedBy.MAX_RATE, f"at least 1,000 {HIGHEST}"),
        (up_to(0), None, None, 1.0, LimitedBy.SERVER, NONE),
        (long_probes_fail, None, None, 1.0, LimitedBy.SERVER, NONE),
        (up_to(700), SearchPlan(max_probes=6), None, 800, LimitedBy.PROBES, "inconclusive after 6 probes"),
    ],
)
def test_limit_has_a_reason(answer, plan, rate, above, limited_by, sentence):
    found = run(answer, plan)
    assert found.limited_by is limited_by
    assert found.rate == (rate and pytest.approx(rate, rel=0.031))
    assert found.above == (above and pytest.approx(above, rel=0.031))
    assert found.sentence.endswith(sentence)


def test_percentile_sets_the_probe_duration():
    found = run(up_to(30), SearchPlan(requests=1000))
    assert found.rate == pytest.approx(30, rel=0.031)
    # The first probes may be shorter, because the confirming probes correct their errors.
    share = {Purpose.DOUBLE: 0.2, Purpose.BISECT: 0.5, Purpose.CONFIRM: 1.0}
    shortest = {Purpose.DOUBLE: 2.0, Purpose.BISECT: 4.0, Purpose.CONFIRM: 30.0}
    for record in found.records:
        probe = record.probe
        needed = 1000 * share[probe.purpose]
        assert probe.duration_s >= shortest[probe.purpose]
        assert probe.rate * probe.duration_s >= needed - 1e-6
        assert probe.duration_s < max(3 * shortest[probe.purpose], needed / probe.rate) + 0.1


def test_rates_with_overlong_probes_are_skipped():
    found = run(up_to(0), SearchPlan(requests=1000))
    assert min(record.probe.rate for record in found.records) == pytest.approx(1000 / 600)
    assert found.sentence == "no rate is within the objective, not even 1.67 requests/s"


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"start_rate": 0.5}, "start_rate: must be at least 1, not 0.5"),
        ({"max_rate": 0.5}, "max_rate: must be from 1 to 1,000,000, not 0.5"),
    ],
)
def test_invalid_plans_are_refused(fields, says):
    with pytest.raises(ValueError, match=says):
        SearchPlan(**fields)
