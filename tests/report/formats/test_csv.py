"""summary.csv: the numbers are the arithmetic of the valid trials, and of nothing else."""

import dataclasses
from statistics import geometric_mean

import pytest

from loadtests.analyse.results import Results
from tests.fixtures.pages import summary


def rows(run):
    return {(row["label"], row["test"]): row for row in summary(run)}


def valid(run, label, test):
    return [trial for trial in run.trials() if (trial.label, trial.test, trial.status) == (label, test, "ok")]


def test_a_row_for_each_setup_and_test(build_run):
    run = build_run()
    labels = [entry.label for entry in run.record.study.entries]
    assert list(rows(run)) == [(label, test) for label in labels for test in ("latency", "throughput")]


def test_means_over_blocks_are_those_of_the_trials(build_run):
    run = build_run(blocks=5)
    row = rows(run)["daphne-ipc", "throughput"]
    trials = valid(run, "daphne-ipc", "throughput")
    assert float(row["rps"]) == pytest.approx(geometric_mean(trial.result.rate for trial in trials), rel=1e-5)
    for key in ("p50", "p90", "p95", "p99", "p99.9"):
        expected = geometric_mean(trial.result.response_time_ms[key] for trial in trials)
        assert float(row[f"{key}_ms"]) == pytest.approx(expected, rel=1e-5)


def test_cost_is_per_request_answered_well_by_role_and_in_total(build_run):
    run = build_run(blocks=1)
    row = rows(run)["daphne-redis", "latency"]
    # Block 1: 1.01 times 3 + 6 + 1.5 CPU seconds for 3,000 requests; 3 processes of 60 MB and 6,000 switches each.
    assert float(row["web_cpu_ms_per_request"]) == pytest.approx(1.01)
    assert float(row["worker_cpu_ms_per_request"]) == pytest.approx(2.02)
    assert float(row["redis_cpu_ms_per_request"]) == pytest.approx(0.505)
    assert float(row["cpu_ms_per_request"]) == pytest.approx(3.535)
    assert float(row["requests_per_cpu_s"]) == pytest.approx(1000 / 3.535, rel=1e-5)
    assert float(row["memory_peak_mb"]) == pytest.approx(180)
    assert float(row["context_switches_per_request"]) == pytest.approx(6)


def test_an_invalid_trial_is_counted_and_never_averaged_in(build_run):
    clean = rows(build_run(name="clean"))["uvicorn", "latency"]
    repeated = rows(build_run(name="repeated", invalid=(("uvicorn", "latency", 1),)))["uvicorn", "latency"]
    assert repeated.pop("invalid") == "1"
    assert clean.pop("invalid") == "0"
    assert repeated == clean


def test_a_setup_without_a_valid_trial_has_no_figures(build_run):
    run = build_run(lost=(("daphne", "latency", 1), ("daphne", "latency", 2)))
    row = rows(run)["daphne", "latency"]
    assert (row["trials"], row["invalid"]) == ("0", "4")
    assert row["p50_ms"] == row["rps"] == row["cpu_ms_per_request"] == ""


def test_one_block_has_no_interval_and_more_have_one_around_the_median(build_run):
    alone = rows(build_run(name="one", blocks=1))["gunicorn", "latency"]
    assert (alone["p50_ms_low"], alone["p50_ms_high"]) == ("", "")
    several = rows(build_run(name="six", blocks=6))["gunicorn", "latency"]
    assert float(several["p50_ms_low"]) < float(several["p50_ms"]) < float(several["p50_ms_high"])


def test_a_percentile_needs_enough_requests(build_run):
    row = rows(build_run())
    assert row["gunicorn", "latency"]["p99.9_ms"] == ""  # 3,000 requests: three beyond it
    assert row["gunicorn", "throughput"]["p99.9_ms"] != ""


def test_failed_requests_are_counted_with_those_never_answered(build_run):
    def fail(label, test, block, result):
        if (label, test) != ("daphne-redis", "latency"):
            return result
        return dataclasses.replace(result, ok=result.ok - 30, unfinished=10, errors={"status": 15, "timeout": 5})

    row = rows(build_run(blocks=2, change=fail))["daphne-redis", "latency"]
    assert (row["sent"], row["ok"], row["failed"]) == ("6000", "5940", "60")


def test_an_engine_that_knows_no_intended_send_gives_its_service_time(build_run):
    def as_loadtest(label, test, block, result):
        return dataclasses.replace(
            result,
            latency_of="service_time",
            response_time_ms=dict.fromkeys(result.response_time_ms),
            service_time_ms={**result.service_time_ms, "p50": 7.0},
        )

    run = build_run(change=as_loadtest)
    assert float(rows(run)["gunicorn", "latency"]["p50_ms"]) == pytest.approx(7)
    assert Results(run).latency("latency") == "service time"


def test_the_columns_are_those_of_what_the_run_tested(build_run):
    columns = set(next(iter(rows(build_run()).values())))
    assert {"unverified", "p50_ms", "rps", "cpu_ms_per_request", "redis_cpu_ms_per_request"} <= columns
    assert columns.isdisjoint({"capacity_rps", "capacity_users", "recovery_s", "memory_before_mb", "away_p50_s"})
    assert "capacity_rps" in next(iter(rows(build_run(name="search", tests=("capacity",))).values()))
