"""One run against another, and the setups of one run against each other."""

import dataclasses
import io
import json
from pathlib import Path

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

LABELS = ("gunicorn", "daphne", "uvicorn")  # as those of the fixture ``two``


def verdicts(found):
    return {(row.label, row.metric): row.comparison.verdict for row in found.rows if row.comparison}


def printed(found):
    text = io.StringIO()
    print_comparison(found, Console(file=text))
    return text.getvalue()


@pytest.mark.parametrize("blocks", [1, 2, 6])
def test_a_run_is_equivalent_to_itself_everywhere(build_run, blocks):
    path = build_run(labels=LABELS, blocks=blocks, aa=True).path
    found = compare_sides(path, path)
    assert len(found.rows) == len(LABELS) * 4  # three metrics of latency, one of throughput
    assert set(verdicts(found).values()) == {Verdict.EQUIVALENT}
    assert found.differences == []
    assert found.one_machine


def test_what_became_slower_is_distinguished_from_what_did_not(two):
    found = compare_sides(*two)
    assert {key for key, verdict in verdicts(found).items() if verdict is Verdict.SLOWER} == {
        ("uvicorn", "p50_ms"),
        ("uvicorn", "p99_ms"),
        ("uvicorn", "rps"),
    }
    ratios = {(row.label, row.metric): row.comparison.ratio for row in found.rows}
    assert ratios["uvicorn", "p50_ms"] == pytest.approx(1.2)
    assert ratios["uvicorn", "rps"] == pytest.approx(1 / 1.2)


def test_the_other_way_round_it_became_faster(two):
    assert verdicts(compare_sides(*reversed(two)))["uvicorn", "rps"] is Verdict.FASTER


def test_setups_of_one_run_are_paired_by_block(build_run):
    found = compare_sides(build_run(labels=LABELS, blocks=6).path, setups="daphne, gunicorn")
    assert {row.label for row in found.rows} == {"gunicorn"}
    assert verdicts(found)["gunicorn", "p50_ms"] is Verdict.FASTER
    # The blocks drift by 5% together; within a block the ratio moves by less than 1%.
    row = next(row for row in found.rows if row.metric == "p50_ms")
    assert row.comparison.high / row.comparison.low < 1.02
    assert row.before.high / row.before.low > 1.03


def test_the_noise_floor_greys_what_is_inside_it(build_run):
    found = compare_sides(build_run(labels=LABELS, blocks=6, aa=True).path, setups="gunicorn,daphne")
    assert not any(row.comparison.inside_noise for row in found.rows if row.metric == "p50_ms")
    assert {row.label for row in found.rows} == {"daphne"}  # the twin is the floor, and no candidate


def test_only_the_setups_asked_for_are_compared(two):
    assert {row.label for row in compare_sides(*two, setups="uvicorn").rows} == {"uvicorn"}


def test_invalid_trials_never_enter(build_run):
    clean = build_run(labels=LABELS, blocks=6)
    dirty = build_run(
        labels=LABELS, blocks=6, name="dirty", invalid=(("daphne", "latency", 2), ("daphne", "latency", 3))
    )
    assert set(verdicts(compare_sides(clean.path, dirty.path)).values()) == {Verdict.EQUIVALENT}


def test_what_has_no_valid_trial_is_said_and_fails_a_build(build_run):
    lost = tuple(("daphne", "latency", block) for block in range(1, 7))
    first = build_run(labels=LABELS, blocks=6)
    second = build_run(labels=LABELS, blocks=6, name="second", lost=lost)
    found = compare_sides(first.path, second.path, rule="slower>5%")
    assert {row.missing for row in found.rows if (row.label, row.test) == ("daphne", "latency")} == {
        "no valid trial in B"
    }
    assert "cannot be judged: daphne in latency, p50 response time: no valid trial in B" in found.failure
    assert "no valid trial in B" in printed(found)


def test_a_percentile_that_neither_run_can_know_is_no_row(build_run):
    def few(label, test, block, result):
        return dataclasses.replace(result, **dict.fromkeys(("planned", "sent", "completed", "ok"), 50))

    paths = [build_run(labels=LABELS, name=name, change=few).path for name in ("one", "two")]
    assert "p99_ms" not in {row.metric for row in compare_sides(*paths).rows}


def test_what_differs_is_named(build_run):
    first = build_run(labels=LABELS)
    second = build_run(
        labels=LABELS,
        name="second",
        study={
            "delta": 0.05,
            "entries": tuple(Entry(label, label, {"WORKERS": "2"}) for label in LABELS),
        },
        record={
            "machine": {**first.record.machine, "kernel": "Linux 6.12.0", "mhz": 1234.5},
            "versions": {
                **first.record.versions,
                "python": "CPython 3.13.1",
                "packages": {"Django": "5.2.20", "gunicorn": "27.0.1"},
            },
            "knobs": {"WORKERS": "2"},
            "git": Git("f" * 40, dirty=True),
        },
    )
    found = compare_sides(first.path, second.path)
    differ = {(one.kind, one.what): (one.before, one.after) for one in found.differences}
    file = "(supervisor file e3b0c442)"  # an empty one
    assert differ == {
        ("machine", "kernel"): ("Linux 6.1.0", "Linux 6.12.0"),
        ("version", "python"): ("CPython 3.11.2", "CPython 3.13.1"),
        ("package", "Django"): ("5.2.19", "5.2.20"),
        ("git", "revision"): ("0123456789ab", "ffffffffffff with changes of 2026-11-21T07:30:00+00:00"),
        ("knob", "WORKERS"): ("1", "2"),
        ("setup", "gunicorn"): (f"gunicorn {file}", f"gunicorn WORKERS=2 {file}"),
        ("setup", "daphne"): (f"daphne {file}", f"daphne WORKERS=2 {file}"),
        ("setup", "uvicorn"): (f"uvicorn {file}", f"uvicorn WORKERS=2 {file}"),
        ("study", "delta"): ("0.03", "0.05"),
    }
    assert found.one_machine  # a kernel is a setting of a machine
    text = printed(found)
    assert "Linux 6.12.0" in text
    assert "5.2.20" in text
    assert "\x1b" not in text


def test_two_machines_are_said_to_be_two(build_run):
    first = build_run(labels=LABELS)
    other = {**first.record.machine, "cpu": "Another CPU"}
    second = build_run(labels=LABELS, name="second", record={"machine": other})
    found = compare_sides(first.path, second.path)
    assert not found.one_machine
    assert "The machines differ" in printed(found)


def test_a_run_whose_load_came_from_another_machine_is_one_of_another_machine(build_run, other_host):
    one = build_run(labels=LABELS)
    two = build_run(labels=LABELS, name="second", record={"servers": other_host})
    again = build_run(labels=LABELS, name="third", record={"servers": other_host})
    found = compare_sides(one.path, two.path)
    assert not found.one_machine
    assert "on two machines" in printed(found)
    assert compare_sides(two.path, again.path).one_machine


def test_tests_that_ask_something_else_are_left_out(build_run):
    first = build_run(labels=LABELS)
    latency = known_test("latency").at_rate(500.0)
    second = build_run(labels=LABELS[:2], name="second", tests=(latency, "throughput"))
    found = compare_sides(first.path, second.path)
    assert {row.test for row in found.rows} == {"throughput"}
    differs = "test latency: not the same in both runs (at 300 and 500 requests/s; run --rate 300 asks for the same)"
    assert found.left_out == ["setup uvicorn: in one of the runs only", differs]
    assert f"Not compared: {differs}." in printed(found)


def test_json_has_null_for_an_open_interval(build_run):
    paths = [build_run(labels=LABELS, name=name, blocks=1, change=slowed({"daphne": times}, rate=True)).path
             for name, times in (("one", 1.0), ("two", 1.5))]  # fmt: skip
    written = json.loads(json.dumps(compare_sides(*paths).to_json(), allow_nan=False))
    one = next(row for row in written["comparisons"] if (row["setup"], row["metric"]) == ("daphne", "p50_ms"))
    assert one["ratio"] == {"value": pytest.approx(1.5), "low": None, "high": None}
    assert one["verdict"] == "inconclusive"


@pytest.mark.parametrize(
    ("rule", "fails"),
    [("slower>5%", True), ("slower", True), ("slower>30%", False), ("faster>5%", False), (None, False)],
)
def test_a_rule_fails_on_what_is_sure_and_that_large(two, rule, fails):
    failure = compare_sides(*two, rule=rule).failure
    assert bool(failure) is fails
    if fails:
        assert "uvicorn in latency, p50 response time ×1.20" in failure
        assert "gunicorn" not in failure


def test_a_setup_that_is_not_in_both_runs_is_named(build_run):
    first, second = build_run(labels=LABELS), build_run(labels=LABELS[:2], name="second")
    with pytest.raises(UserError, match="unknown setup in second 'uvicorn'; "):
        compare_sides(first.path, second.path, "uvicorn")


def test_runs_without_anything_in_common_are_refused(build_run):
    first = build_run(labels=("gunicorn",), tests=("latency",))
    with pytest.raises(UserError, match="no setup in common: gunicorn against uvicorn"):
        compare_sides(first.path, build_run(labels=("uvicorn",), tests=("latency",), name="second").path)
    with pytest.raises(UserError, match=r"no test in common: latency .* against throughput"):
        compare_sides(first.path, build_run(labels=("gunicorn",), tests=("throughput",), name="third").path)
    with pytest.raises(UserError, match="nothing can be compared"):
        compare_sides(first.path, build_run(labels=("gunicorn",), tests=("latency",), blocks=0, name="fourth").path)


def test_the_same_folder_name_in_two_places_is_distinguished(run_builder, tmp_path: Path):
    paths = []
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
        paths.append(run_builder(tmp_path / folder)(labels=LABELS).path)
    found = compare_sides(*paths)
    assert (found.before, found.after) == tuple(map(str, paths))
