"""Test the reasons for which a trial is invalid or doubtful."""

import dataclasses
from math import inf

import pytest

from loadtests.measure.capacity import generator_evidence
from loadtests.plan.metrics import P50, P99
from loadtests.records import Deliveries, Evidence, Generator, HostConditions, Journeys, Process
from loadtests.records.result import FIGURES, NOTHING
from loadtests.trials import readings
from loadtests.trials.reasons import Reason, is_setups_own
from loadtests.trials.validity import differing, judge
from tests.fixtures.changes import failing
from tests.fixtures.results import well

QUIET = Evidence(
    started=True,
    contract_differences=0,
    processes_died=0,
    generator_cpu=0.4,
    send_lag_p99_ms=0.3,
    response_p50_ms=2.0,
    planned=3000,
    sent=3000,
    clock_jump_s=0.001,
    swapped_pages=0,
    other_load=0.02,
    frequency_change=0.0,
    shared_core=False,
)


def reasons(**seen):
    return [flag.reason for flag in judge(dataclasses.replace(QUIET, **seen))]


@pytest.mark.parametrize(
    "evidence",
    [
        pytest.param(QUIET, id="quiet"),
        pytest.param(Evidence(), id="nothing known"),
        pytest.param(dataclasses.replace(QUIET, sent=2900, refused=100), id="refused connections prevented requests"),
    ],
)
def test_undisturbed_trial_has_no_flags(evidence):
    assert judge(evidence) == []


@pytest.mark.parametrize(
    ("seen", "reason"),
    [
        ({"started": False}, "server_did_not_start"),
        ({"contract_differences": 2}, "contract_broken"),
        ({"processes_died": 1}, "process_died"),
        ({"generator_cpu": 0.86}, "generator_busy"),
        ({"sent": 2999}, "not_all_sent"),
        ({"clock_jump_s": -0.6}, "clock_jumped"),
        ({"swapped_pages": 1}, "swapped"),
        ({"other_load": 0.3}, "cores_taken"),
        ({"other_load": 0.11}, "cores_disturbed"),
        ({"frequency_change": -0.05}, "frequency_changed"),
        ({"other_hosts": (HostConditions("ssh://second", True, 0.9, 1, 0.5),)}, "machine_disturbed"),
        ({"shared_core": True}, "shared_core"),
        ({"recovered": False}, "did_not_recover"),
        ({"engine_failed": True}, "engine_failed"),
        ({"connection_lost": True}, "connection_lost"),
    ],
)
def test_single_problem_has_one_reason(seen, reason):
    assert reasons(**seen) == [reason]


def test_all_reasons_can_be_found():
    everything = Evidence(False, 2, 1, 1.0, 50.0, 2.0, 10, 5, 0, 1.0, 1, 0.5, 0.5, True, False, True, True)
    everything = dataclasses.replace(everything, connection_lost=True)
    strayed = Deliveries(9, 9, 0, 0, 0, {**NOTHING, "p50": 2.0, "p99": 4.0}, stray=1)
    clients = tuple(Generator(1.0, 1.0, 9.0, p50_ms=p50, ok=500, planned=500) for p50 in (2.0, 9.0))
    walk = walked(200.0, 100.0, late_ms=5.0)
    result = dataclasses.replace(walk, deliveries=strayed, generator=clients, answers_in_a_row=20.0)
    found = {flag.reason for flag in judge(everything, result, ["redis"])}
    otherwise = {"cores_disturbed", "machine_disturbed", "generator_limits"}
    assert found == {reason.name for reason in Reason} - otherwise


def test_disturbed_machine_is_named():
    here, there = HostConditions("", True, 0.3, 2, -0.04), HostConditions("ssh://second", True, 0.11, 0)
    hosts = (here, there, HostConditions("ssh://third", True, 0.0, 0))
    [flag] = judge(dataclasses.replace(QUIET, other_hosts=hosts))
    assert "(30% on the machine that generated the load and 11% on ssh://second)" in flag.sentence


def test_stray_deliveries_have_a_separate_reason():
    strayed = dataclasses.replace(measured(0.1, 0.1), deliveries=Deliveries(9, 9, 0, 0, 0, dict(NOTHING), stray=3))
    [flag] = judge(dataclasses.replace(QUIET, contract_differences=3), strayed)
    assert (flag.reason, flag.invalid) == ("stray_deliveries", True)
    assert "messages reached the wrong connections (3 times)." in flag.sentence
    assert is_setups_own([flag])
    both = judge(dataclasses.replace(QUIET, contract_differences=5), strayed)
    assert [one.reason for one in both] == ["contract_broken", "stray_deliveries"]
    assert "(2 differences)" in both[0].sentence
    # A search has no single result, so its stray deliveries aren't known.
    assert reasons(contract_differences=3) == ["contract_broken"]


def test_unobserved_service_is_named():
    [flag] = judge(QUIET, unseen=["redis"])
    assert not flag.invalid
    assert "are unknown (redis)." in flag.sentence


def measured(late_p50_ms, late_p99_ms):
    """Return a result with these scheduling delays, and response times of 2 ms (p50) and 4 ms (p99)."""
    late = dict.fromkeys(FIGURES) | {"p50": late_p50_ms, "p99": late_p99_ms}
    return well(10, 1.0, response_time_ms={**NOTHING, "p50": 2.0, "p99": 4.0}, pacing_lag_ms=late, generator=())


@pytest.mark.parametrize(
    ("late", "expected"),
    [
        ((0.1, 0.3), []),
        ((0.3, 0.6), []),
        ((0.1, 3.9), []),  # the report omits p99, but not p50
        ((0.6, 3.9), ["send_lag"]),
    ],
)
def test_scheduling_delay_is_judged_per_percentile(late, expected):
    assert [flag.reason for flag in judge(QUIET, measured(*late))] == expected


def walked(expected_per_s, ended_per_s, late_ms=0.0):
    """Return the result of simulated users, with these expected and measured numbers of requests per second."""
    journeys = Journeys(64, None, 10, 0, 0, 0, dict(NOTHING), (), 700.0, 15.0, ended_per_s, expected_per_s)
    return dataclasses.replace(measured(late_ms, late_ms), journeys=journeys)


@pytest.mark.parametrize(("expected", "flagged"), [(100.0, False), (101.9, False), (102.1, True), (None, False)])
def test_unexpected_user_rate_makes_trial_doubtful(expected, flagged):
    flags = judge(QUIET, walked(expected, 100.0))
    assert [(flag.reason, flag.invalid) for flag in flags] == ([("loop_disagrees", False)] if flagged else [])


SEEN = Generator(1.0, 10.0, 50.0, p50_ms=4.0, ok=500, planned=500)


@pytest.mark.parametrize(
    ("others", "says"),
    [
        ([], []),
        ([{"p50_ms": 4.9}], []),  # differs by less than a quarter, and by less than 1 ms
        ([{"p50_ms": 5.2}], ["p50 from 4.00 to 5.20 ms"]),
        ([{"p50_ms": 40.0, "planned": 99}], []),  # too few requests for a comparison
        ([{"ok": 350}], ["successful answers: 70% to 100%"]),
    ],
)
def test_differing_clients_make_trial_invalid(others, says):
    result = well(1000, 10.0, generator=(SEEN, *(dataclasses.replace(SEEN, **other) for other in others)))
    assert list(differing(result)) == says
    flags = [flag for flag in judge(Evidence(), result) if flag.reason == "clients_differ"]
    assert [flag.invalid for flag in flags] == [True] * len(says)
    assert all(f"({one})" in flag.sentence for flag, one in zip(flags, says, strict=True))


@pytest.fixture
def trial(build_run):
    """Return a trial in which one server process answered 3,000 requests, and the database isn't charged."""
    [trial] = build_run(labels=("gunicorn",), tests=("latency",), blocks=1).trials()
    database = Process("postgres", "postgres", 1, cpu_s=6.0, peak_rss_mb=900.0, rss_mb=900.0, context_switches=9,
                       charged=False)  # fmt: skip
    return dataclasses.replace(trial, processes=(*trial.processes, database))


def of(trial, **changes):
    """Return the trial with these fields of its result changed."""
    return dataclasses.replace(trial, result=dataclasses.replace(trial.result, **changes))


def values(trial):
    return {one.metric: one.value for one in readings.observations(trial)}


def test_uncharged_processes_are_not_in_totals(trial):
    known = values(trial)
    assert known["cpu_ms_per_request"] == known["web_cpu_ms_per_request"] == pytest.approx(1.01)
    assert known["postgres_uncharged_cpu_ms_per_request"] == pytest.approx(2.0)
    assert known["memory_peak_mb"] == 60.0
    assert "postgres_cpu_ms_per_request" not in known


def test_percentiles_cover_all_requests(trial):
    failed = failing("gunicorn", share=0.02, times=1.0)("gunicorn", "latency", 1, trial.result)
    known = values(dataclasses.replace(trial, result=failed))
    assert known["p99_ms"] == inf  # 2% of the requests got no answer
    assert known["p50_ms"] > values(trial)["p50_ms"]  # p50 counts the failed requests as well
    assert known["p90_ms"] == pytest.approx(values(trial)["p95_ms"], rel=0.01)


def test_unanswered_requests_are_infinitely_slow(trial):
    stopped = of(trial, planned=1200, sent=1200, completed=900, ok=900, errors={"timeout": 300})
    assert values(stopped)["p99_ms"] == inf
    assert not readings.too_few([stopped], P99)
    assert readings.too_few([of(trial, planned=900, sent=900, completed=900, ok=900)], P99)


@pytest.mark.parametrize(
    ("used_s", "cores", "flags"),
    [
        pytest.param((("", 4.6), ("", 4.4)), 0.9, [("generator_busy", True)], id="on one core"),
        pytest.param((("", 4.6), ("ssh://second", 4.0), ("ssh://third", 4.9)), 0.49, [], id="on a machine each"),
    ],
)
def test_generator_load_is_summed_per_machine(trial, used_s, cores, flags):
    busy = of(trial, generator=tuple(Generator(cpu_s, 10.0, 80.0, machine=machine) for machine, cpu_s in used_s))
    *_, cpu = readings.generator(busy)
    assert cpu == pytest.approx(cores)
    found = judge(Evidence(**generator_evidence(busy.result)))
    assert [(flag.reason, flag.invalid) for flag in found] == flags


def test_large_scheduling_delay_hides_percentile(trial):
    times = trial.result.response_time_ms
    known = of(
        trial, pacing_lag_ms={**trial.result.pacing_lag_ms, "p50": 0.2 * times["p50"], "p99": 0.3 * times["p99"]}
    )
    assert "p99_ms" not in values(known)
    assert values(known)["p50_ms"] == values(trial)["p50_ms"]
    assert readings.delay_note(known, P99) == "generator delay is 30% of p99"
    assert readings.delay_note(known, P50) == ""


def test_unfair_service_only_hides_percentiles(trial):
    unfair = of(trial, answers_in_a_row=20.0)
    assert "p50_ms" not in values(unfair)
    assert values(unfair).keys() == {
        name for name in values(trial) if name not in ("p50_ms", "p90_ms", "p95_ms", "p99_ms")
    }
    assert readings.delay_note(unfair, P50) == "one connection received 20.0 answers in a row"
    assert [flag.reason for flag in judge(Evidence(), unfair.result)] == ["unfair_service"]
    assert judge(Evidence(), of(trial, answers_in_a_row=1.4).result) == []
