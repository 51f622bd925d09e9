"""Test summary.csv, whose figures use only the valid trials."""

from statistics import geometric_mean

import pytest

from tests.fixtures.pages import summary
from tests.fixtures.runs import FIVE
from tests.report.changed import replaced


def rows(run):
    return {(row["label"], row["test"]): row for row in summary(run)}


def test_rows_have_means_over_blocks(build_run):
    run = build_run(blocks=5)
    found = rows(run)
    assert list(found) == [(label, test) for label in FIVE for test in ("latency", "throughput")]
    row = found["daphne-ipc", "throughput"]
    results = [one.result for one in run.trials() if (one.label, one.test) == ("daphne-ipc", "throughput")]
    assert float(row["rps"]) == pytest.approx(geometric_mean(result.rate for result in results), rel=1e-5)
    for key in ("p50", "p90", "p95", "p99", "p99.9"):
        expected = geometric_mean(result.response_time_ms[key] for result in results)
        assert float(row[f"{key}_ms"]) == pytest.approx(expected, rel=1e-5)
    assert float(row["p50_ms_low"]) < float(row["p50_ms"]) < float(row["p50_ms_high"])
    assert found["gunicorn", "latency"]["p99.9_ms"] == ""  # only three of 3,000 requests are above p99.9


def test_one_block_has_no_interval(build_run):
    row = rows(build_run(blocks=1))["daphne-redis", "latency"]
    # In block 1, the three processes use 3, 6 and 1.5 CPU seconds for 3,000 requests, each multiplied by 1.01. Each
    # process has 60 MB and 6,000 context switches.
    assert float(row["web_cpu_ms_per_request"]) == pytest.approx(1.01)
    assert float(row["worker_cpu_ms_per_request"]) == pytest.approx(2.02)
    assert float(row["redis_cpu_ms_per_request"]) == pytest.approx(0.505)
    assert float(row["cpu_ms_per_request"]) == pytest.approx(3.535)
    assert float(row["memory_peak_mb"]) == pytest.approx(180)
    assert float(row["context_switches_per_request"]) == pytest.approx(6)
    assert (row["p50_ms_low"], row["p50_ms_high"]) == ("", "")


def test_invalid_trial_is_counted_not_averaged(build_run):
    lost = (("daphne", "latency", 1), ("daphne", "latency", 2))
    clean = rows(build_run(name="clean"))["uvicorn", "latency"]
    found = rows(build_run(name="repeated", invalid=(("uvicorn", "latency", 1),), lost=lost))
    repeated, daphne = found["uvicorn", "latency"], found["daphne", "latency"]
    assert (repeated.pop("invalid"), clean.pop("invalid")) == ("1", "0")
    assert repeated == clean
    assert (daphne["trials"], daphne["invalid"]) == ("0", "4")
    assert {daphne[name] for name in ("sent", "ok", "failed", "p50_ms", "rps", "cpu_ms_per_request")} == {""}


def test_failed_requests_include_unanswered_requests(build_run):
    fail = replaced(ok=lambda result: result.ok - 30, unfinished=10, errors={"status": 15, "timeout": 5})
    row = rows(build_run(change=fail))["daphne-redis", "latency"]
    assert (row["sent"], row["ok"], row["failed"]) == ("6000", "5940", "60")


def test_unused_columns_are_omitted(build_run):
    columns = set(summary(build_run())[0])
    assert {"unverified", "p50_ms", "rps", "cpu_ms_per_request", "redis_cpu_ms_per_request"} <= columns
    assert columns.isdisjoint({"capacity_rps", "capacity_users", "recovery_s", "memory_before_mb", "away_p50_s"})
