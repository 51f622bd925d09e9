"""Test comparisons between two runs, and between two setups of a run."""

import dataclasses
import io
import json

import pytest
from rich.console import Console

from loadtests.analyse.compare.sides import compare_sides
from loadtests.analyse.verdicts import Verdict
from loadtests.errors import UserError
from loadtests.plan.entries import Entry
from loadtests.records.run.run_record import Git
from loadtests.report.formats.comparison import print_comparison
from tests.fixtures.changes import slowed
from tests.fixtures.runs import known_test

LABELS = ("gunicorn", "daphne", "uvicorn")  # the labels of the fixture ``two``


def verdicts(found):
    return {(row.label, row.metric): row.comparison.verdict for row in found.rows if row.comparison}


def printed(found):
    text = io.StringIO()
    print_comparison(found, Console(file=text))
    return text.getvalue()


@pytest.fixture
def against(build_run):
    """Return a function that compares a default run with a run built with other options."""

    def compared(rule="", **shape):
        usual = {"labels": LABELS, "blocks": 6}
        second = build_run(**{**usual, "name": "second", **shape})
        return compare_sides(build_run(**usual).path, second.path, rule=rule or None)

    return compared


def test_run_has_no_differences_to_itself(build_run):
    path = build_run(labels=LABELS, blocks=6, aa=True).path
    found = compare_sides(path, path)
    assert len(found.rows) == len(LABELS) * 5  # three metrics of the test latency and two of the test throughput
    assert {row.comparison.ratio for row in found.rows} == {1.0}
    assert found.differences == []
    assert found.one_machine


def test_only_slower_setup_fails_the_rule(two):
    found = compare_sides(*two, rule="slower>5%")
    slower = {key for key, verdict in verdicts(found).items() if verdict is Verdict.SLOWER}
    assert slower == {("uvicorn", "p50_ms"), ("uvicorn", "p99_ms"), ("uvicorn", "rps")}
    ratios = {(row.label, row.metric): row.comparison.ratio for row in found.rows}
    assert ratios["uvicorn", "p50_ms"] == pytest.approx(1.2)
    assert ratios["uvicorn", "rps"] == pytest.approx(1 / 1.2)
    assert "uvicorn in latency, p50 response time ×1.20" in found.failure
    assert "gunicorn" not in found.failure
    other_way_round = compare_sides(*reversed(two), setups="uvicorn", rule="slower>5%")
    assert not other_way_round.failure
    assert {row.label for row in other_way_round.rows} == {"uvicorn"}
    assert verdicts(other_way_round)["uvicorn", "rps"] is Verdict.FASTER


def test_setups_are_compared_within_blocks(build_run):
    found = compare_sides(build_run(labels=LABELS, blocks=6).path, setups="daphne, gunicorn")
    assert {row.label for row in found.rows} == {"gunicorn"}
    assert verdicts(found)["gunicorn", "p50_ms"] is Verdict.FASTER
    # Both setups drift by 5% between blocks, but the ratio within a block changes by less than 1%.
    row = next(row for row in found.rows if row.metric == "p50_ms")
    assert row.comparison.high / row.comparison.low < 1.02
    assert row.before.high / row.before.low > 1.03


def test_baseline_copy_sets_the_noise_floor(build_run):
    found = compare_sides(build_run(labels=LABELS, blocks=6, aa=True).path, setups="gunicorn,daphne")
    assert not any(row.comparison.inside_noise for row in found.rows if row.metric == "p50_ms")
    assert {row.label for row in found.rows} == {"daphne"}  # the baseline's copy isn't a candidate


def test_run_without_valid_trials_fails(against):
    found = against("slower>5%", lost=tuple(("daphne", "latency", block) for block in range(1, 7)))
    why = "no valid value in B"
    assert {row.missing for row in found.rows if (row.label, row.test) == ("daphne", "latency")} == {why}
    assert f"can't be checked: daphne in latency, p50 response time: {why}" in found.failure
    assert why in printed(found)


def test_unknown_percentile_is_omitted(build_run):
    def few(label, test, block, result):
        return dataclasses.replace(result, **dict.fromkeys(("planned", "sent", "completed", "ok"), 50))

    paths = [build_run(labels=LABELS, name=name, change=few).path for name in ("one", "two")]
    assert "p99_ms" not in {row.metric for row in compare_sides(*paths).rows}


def test_differences_between_runs_are_listed(against, build_run):
    known = build_run(labels=LABELS, name="known").record
    packages = {"Django": "5.2.20", "gunicorn": "27.0.1"}
    record = {
        "machine": {**known.machine, "kernel": "Linux 6.12.0", "mhz": 1234.5, "memory_mb": 23900},
        "versions": {**known.versions, "python": "CPython 3.13.1", "packages": packages},
        "knobs": {"WORKERS": "2"},
        "git": Git("f" * 40, dirty=True),
    }
    entries = tuple(Entry(label, label, {"WORKERS": "2"}) for label in LABELS)
    found = against(study={"delta": 0.05, "entries": entries}, record=record)
    differ = {(one.kind, one.what): (one.before, one.after) for one in found.differences}
    assert differ == {
        ("machine", "servers kernel"): ("Linux 6.1.0", "Linux 6.12.0"),
        ("version", "python"): ("CPython 3.11.2", "CPython 3.13.1"),
        ("version", "packages Django"): ("5.2.19", "5.2.20"),
        ("git", "revision"): (known.git.revision, f"{'f' * 40} with changes of 2026-11-21T07:30:00+00:00"),
        ("knob", "WORKERS"): ("1", "2"),
        **{("setup", f"{label} WORKERS"): (None, "2") for label in LABELS},
        ("study", "delta"): ("0.03", "0.05"),
    }
    assert found.one_machine  # the kernel, the clock rate and the memory can change on one machine


def test_different_machines_are_reported(against, build_run):
    machine = {**build_run(labels=LABELS, name="known").record.machine, "cpu": "Another CPU"}
    found = against(record={"machine": machine})
    assert not found.one_machine
    assert "The machines differ" in printed(found)


def test_tests_with_different_rates_are_omitted(against):
    found = against(labels=LABELS[:2], tests=(known_test("latency").at_rate(500.0), "throughput"))
    assert {row.test for row in found.rows} == {"throughput"}
    differs = "test latency: not the same in both runs"
    assert found.left_out == ["setup uvicorn: only in one of the runs", differs]
    assert f"Not compared: {differs}." in printed(found)


def test_open_interval_is_null_in_json(build_run):
    paths = [build_run(labels=LABELS, name=name, blocks=1, change=slowed({"daphne": times}, rate=True)).path
             for name, times in (("one", 1.0), ("two", 1.5))]  # fmt: skip
    written = json.loads(json.dumps(compare_sides(*paths).to_json(), allow_nan=False))
    one = next(row for row in written["comparisons"] if (row["setup"], row["metric"]) == ("daphne", "p50_ms"))
    assert one["ratio"] == {"value": pytest.approx(1.5), "low": None, "high": None}
    assert one["verdict"] == "inconclusive"


@pytest.mark.parametrize(
    ("shape", "setups", "says"),
    [
        ({"labels": ("daphne",)}, "gunicorn", "unknown setup in second 'gunicorn'. "),
        ({"labels": ("uvicorn",)}, "", "no setup in common: setup gunicorn: only in one of the runs; setup uvicorn"),
        ({"tests": ("throughput",)}, "", "no test in common: test latency: not the same in both runs; test throughput"),
        ({"blocks": 0}, "", "nothing can be compared"),
    ],
)
def test_runs_without_common_data_are_refused(build_run, shape, setups, says):
    first = {"labels": ("gunicorn",), "tests": ("latency",)}
    with pytest.raises(UserError, match=says):
        compare_sides(build_run(**first).path, build_run(**{**first, **shape}, name="second").path, setups)
