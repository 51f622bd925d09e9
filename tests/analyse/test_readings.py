"""What is read off a trial."""

import dataclasses
from math import inf

import pytest

from loadtests.analyse import readings, validity
from loadtests.measure.capacity import generator_evidence
from loadtests.plan.metrics import P50, P99
from loadtests.records import Evidence, Generator, Process
from tests.fixtures.changes import failing


@pytest.fixture
def trial(build_run):
    """A trial of 3,000 requests answered by one process, with a database as its service."""
    [trial] = build_run(labels=("gunicorn",), tests=("latency",), blocks=1).trials()
    database = Process("postgres", "postgres", 1, cpu_s=6.0, peak_rss_mb=900.0, rss_mb=900.0, context_switches=9,
                       charged=False)  # fmt: skip
    return dataclasses.replace(trial, processes=(*trial.processes, database))


def of(trial, **changes):
    """The trial with these changes of its result."""
    return dataclasses.replace(trial, result=dataclasses.replace(trial.result, **changes))


def values(trial):
    return {one.metric: one.value for one in readings.observations(trial)}


def test_what_is_not_charged_is_known_by_itself_and_in_no_total(trial):
    known = values(trial)
    assert known["cpu_ms_per_request"] == known["web_cpu_ms_per_request"] == pytest.approx(1.01)
    assert known["postgres_uncharged_cpu_ms_per_request"] == pytest.approx(2.0)
    assert known["memory_peak_mb"] == 60.0
    assert "postgres_cpu_ms_per_request" not in known


def test_roles_are_those_that_the_setup_pays_for_or_those_next_to_it(trial):
    assert readings.roles([trial]) == ["web"]
    assert readings.roles([trial], charged=False) == ["postgres"]
    names = [metric.name for metric in readings.every(["web"], ["postgres"])]
    start = names.index("cpu_ms_per_request")
    assert names[start + 1 : start + 3] == ["web_cpu_ms_per_request", "postgres_uncharged_cpu_ms_per_request"]


def test_percentiles_are_of_all_that_was_asked(trial):
    failed = failing("gunicorn", share=0.02, times=1.0)("gunicorn", "latency", 1, trial.result)
    known = values(dataclasses.replace(trial, result=failed))
    assert known["p99_ms"] == inf  # two in a hundred never came back
    assert known["p50_ms"] > values(trial)["p50_ms"]  # the half of all is more than half of those answered
    assert known["p90_ms"] == pytest.approx(values(trial)["p95_ms"], rel=0.01)


def test_without_a_histogram_what_failed_hides_the_percentiles(trial):
    known = values(of(trial, ok=2700, errors={"timeout": 300}, histograms={}))
    assert "p50_ms" not in known
    assert known["p99_ms"] == inf


def test_a_setup_that_stops_answering_is_slow_and_not_unknown(trial):
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
def test_the_processes_of_a_generator_share_the_core_of_their_machine(trial, used_s, cores, flags):
    busy = of(trial, generator=tuple(Generator(cpu_s, 10.0, 80.0, machine=machine) for machine, cpu_s in used_s))
    *_, cpu = readings.generator(busy)
    assert cpu == pytest.approx(cores)
    found = validity.judge(Evidence(**generator_evidence(busy.result)))
    assert [(flag.reason, flag.invalid) for flag in found] == flags


def test_a_percentile_of_which_the_generator_was_a_large_part_is_not_known(trial):
    times = trial.result.response_time_ms
    known = of(
        trial, pacing_lag_ms={**trial.result.pacing_lag_ms, "p50": 0.2 * times["p50"], "p99": 0.3 * times["p99"]}
    )
    assert "p99_ms" not in values(known)
    assert values(known)["p50_ms"] == values(trial)["p50_ms"]
    assert readings.delay_note(known, P99) == "generator delay is 30% of p99"
    assert readings.delay_note(known, P50) == ""
