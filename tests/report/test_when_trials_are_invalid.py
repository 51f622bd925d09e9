"""Test reports of runs with omitted setups, or with invalid or doubtful trials.

The report lists these setups and trials, and every sentence is true for any combination, even without trials.
"""

import dataclasses
import itertools
import re

import pytest
from typer.main import get_command

from loadtests.analyse import validity
from loadtests.analyse.compare.sides import compare_sides
from loadtests.analyse.reasons import Reason
from loadtests.analyse.results import Results
from loadtests.cli import app
from loadtests.errors import UserError
from loadtests.records import Evidence
from loadtests.records.result import NOTHING
from loadtests.records.run.run_record import LeftOut
from loadtests.report.formats.rest import rst
from tests.fixtures.pages import column, page_of, section
from tests.report.changed import replaced, resaved

LABELS = ("gunicorn", "uvicorn")


def lost(labels, blocks=(1, 2)):
    return tuple(itertools.product(labels, ("latency",), blocks))


# No block contains both gunicorn and its copy.
APART = (*lost(("gunicorn",), (1,)), *lost(("gunicorn-again",), (2,)))


@pytest.fixture
def page(build_run):
    return lambda **shape: page_of(build_run(**{"labels": LABELS, "tests": ("latency",), **shape}))


def verdicts_note(page):
    [table] = section(page, "verdicts").tables
    return table.note


def test_invalid_run_starts_with_warning(page):
    found = page(aa=True, lost=lost((*LABELS, "gunicorn-again")))
    assert found.answer.notes[0].startswith("No trial is valid, so no setup has a figure. ")
    assert found.findings == ()
    assert section(found, "cost") is None
    text = rst(found)
    assert "95% confidence" not in text
    assert "ranked" not in text
    found = page(name="empty", blocks=0)
    assert found.answer.notes == ("Nothing was measured: the run ended before the end of its first trial.",)
    assert section(found, "invalid").paragraphs == ("Nothing was measured.",)


@pytest.mark.parametrize(
    ("shape", "says"),
    [
        ({"aa": True, "lost": lost(("gunicorn-again",))}, "no block has a figure of both gunicorn and gunicorn-again."),
        ({"aa": True, "lost": APART}, "no block has a figure of both gunicorn and gunicorn-again."),
        ({"lost": lost(("gunicorn",))}, "no trial of gunicorn is valid."),
        ({}, "the baseline has no A/A copy."),
    ],
)
def test_missing_noise_floor_is_explained(page, shape, says):
    assert verdicts_note(page(**shape)).startswith(f"The noise floor is unknown: {says}")


def test_contended_attempts_have_unverified_figures(build_run):
    lost, contended = Reason.engine_failed.flag(), Reason.cores_taken.flag("40%")

    def fields(trial):
        if trial.block == 1:
            return {"status": "invalid", "flags": (lost,), "result": None}
        return {"status": "invalid", "flags": (contended,)}

    run = resaved(build_run(labels=LABELS, tests=("latency",), blocks=2), fields)
    results = Results(run)
    assert [trial.block for trial in results.cells["gunicorn", "latency"].unverified] == [2]
    assert results.unverified("gunicorn", "latency", "p50_ms") is not None


def test_noise_floor_needs_baseline_copy(page):
    shape = {"aa": True, "tests": ("latency", "throughput"), "blocks": 4}
    assert "and outside the machine's noise floor." in page(**shape).certainty
    certainty = page(**shape, name="b", lost=lost(("gunicorn-again",), range(1, 5))).certainty
    assert "and, where it is known, outside the machine's noise floor." in certainty


def test_only_used_blocks_are_counted(page):
    def title(found, name):
        return str(section(found, name).charts[0].spec["title"])

    one = page(lost=lost(("uvicorn",), (1,)))
    assert "mean of 1 to 2 blocks with 95% interval" in title(one, "latency")
    assert "mean of 1 block'" in title(one, "verdicts")
    assert "mean of 1 block'" in title(page(name="b", blocks=1), "latency")
    found = page(name="c", blocks=4, lost=lost(("uvicorn",), (1, 2, 3)))
    assert "No verdict after 1 block:" in found.findings[0].answer


def test_caption_explains_existing_whiskers(page):
    shape = {"tests": ("latency", "throughput", "capacity")}
    one, three = (
        [chart.caption for found in page(**shape, name=name, blocks=blocks).sections for chart in found.charts]
        for name, blocks in (("one", 1), ("three", 3))
    )
    assert [caption for caption in one if "hiskers" in caption] == []
    assert len([caption for caption in three if ". Whiskers are" in caption]) >= 5


def test_missing_result_has_a_reason(page):
    found = page(change=replaced("uvicorn", response_time_ms=NOTHING))
    alt = section(found, "latency").charts[0].alt
    assert "uvicorn not known" in alt
    assert "too few requests" not in alt
    assert "too short" not in verdicts_note(found)
    no_p99 = replaced("uvicorn", response_time_ms=lambda result: {**result.response_time_ms, "p99": None})
    note = verdicts_note(page(change=no_p99, name="b"))
    assert "Not compared, because no block has figures of both gunicorn and another setup: p99 response time." in note
    late = replaced("uvicorn", pacing_lag_ms=lambda one: {**NOTHING, "p99": 0.3 * one.response_time_ms["p99"]})
    [chart] = section(page(change=late, name="c"), "latency").charts
    assert "uvicorn generator delay is 30% of p99" in chart.alt


@pytest.mark.parametrize(
    ("key", "values", "says"),
    [
        ("generator_cpu", (0.92, 0.88), "(88 to 92% of a core, more than 85%)"),
        ("generator_cpu", (0.92, 0.92), "(92% of a core, more than 85%)"),
        ("clock_jump_s", (-0.6, 1.2), "(by -0.60 to +1.20 s)"),
        ("processes_died", (1, 3), "(1 time to 3 times)"),
        ("sent", (9, 8000), "(9 to 8000 of 9000)"),
        ("late", (0.3, 0.4), "(30 to 40% of p50 and 5% of p99)"),
    ],
)
def test_repeated_reason_gives_a_range(build_run, key, values, says):
    run = build_run(labels=("gunicorn",), tests=("latency",))
    for trial, value in zip(run.trials(), values, strict=True):
        result, seen = trial.result, {"planned": 9000, "sent": 9000}
        if key == "late":
            times = result.response_time_ms
            late = {**result.pacing_lag_ms, "p50": value * times["p50"], "p99": 0.05 * times["p99"]}
            result = dataclasses.replace(result, pacing_lag_ms=late)
        else:
            seen[key] = value
        flags = tuple(validity.judge(Evidence(**seen), result))
        run.save_trial(dataclasses.replace(trial, status="invalid", flags=flags, result=result))
    [*_, reported] = section(run, "invalid").paragraphs
    assert ": 2 trials invalid (" in reported
    assert says in reported


def test_advice_names_only_run_options():
    run = get_command(app).commands["run"]
    options = {option for parameter in run.params for option in parameter.opts}
    named = {option for reason in Reason for option in re.findall(r"--[a-z-]+", reason.remedy)}
    assert named <= options


def test_sides_without_common_blocks_are_refused(build_run):
    apart = (*lost(("gunicorn",), (1,)), *lost(("uvicorn",), (2,)))
    run = build_run(labels=LABELS, tests=("latency",), lost=apart)
    with pytest.raises(UserError, match="no metric has a value on both sides"):
        compare_sides(run.path, None, "gunicorn,uvicorn")


@pytest.fixture
def without(build_run):
    """Return a function that returns the page of a run without these setups."""

    def build(*left_out, lost=(), name="a"):
        run = build_run(labels=("gunicorn", "uvicorn", "daphne"), lost=lost, record={"left_out": left_out}, name=name)
        for trial in run.trials():
            if any((trial.label, trial.test) == (one.label, one.test) for one in left_out):
                (run.path / "trials" / f"{trial.name}.json").unlink()
        return page_of(run)

    return build


def test_skipped_setup_differs_from_omitted_test(without):
    found = without(LeftOut("nginx", None, "nginx is not on PATH"), LeftOut("uvicorn", "latency", "it cannot run that"))
    notes = {"Skipped (reasons on the page): nginx.", "Left out (reasons on the page): uvicorn in latency."}
    assert notes <= set(found.answer.notes)
    assert section(found, "invalid").paragraphs[:2] == (
        "nginx was skipped: nginx is not on PATH.",
        "uvicorn was left out of latency: it cannot run that.",
    )
    [latency], [throughput] = section(found, "latency").tables, section(found, "throughput").tables
    assert list(column(latency, "setup")) == ["gunicorn", "daphne"]
    assert "uvicorn" in column(throughput, "setup")
    verdicts, _ = section(found, "verdicts").tables
    assert "uvicorn" not in {row[0].text for row in verdicts.rows}
    assert not any("uvicorn" in finding.answer for finding in found.findings if "ms" in finding.answer)


def test_trials_are_counted_by_reason(without):
    assert section(without(), "invalid").paragraphs == ("No trial was invalid or doubtful.",)
    found = section(without(lost=(("uvicorn", "latency", 1),), name="b"), "invalid")
    [flags, generator] = found.tables
    assert [row[2].text for row in flags.rows] == ["invalid", "invalid"]
    assert found.paragraphs[1].startswith("generator_busy: 2 trials invalid (")
    assert generator.name == "generator"
