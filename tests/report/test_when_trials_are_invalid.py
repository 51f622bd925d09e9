"""Test reports of runs with omitted setups, or with invalid or doubtful trials.

The report lists these setups and trials, and every sentence is true for any combination, even without trials.
"""

import itertools
import re

import pytest
from typer.main import get_command

from loadtests.analyse.results import Results
from loadtests.cli import app
from loadtests.records.result import NOTHING
from loadtests.records.run.run_record import LeftOut
from loadtests.report.formats.rest import rst
from loadtests.trials.reasons import Reason
from tests.fixtures.pages import column, page_of, section
from tests.report.changed import replaced, resaved

LABELS = ("gunicorn", "uvicorn")


def lost(labels, blocks=(1, 2)):
    return tuple(itertools.product(labels, ("latency",), blocks))


@pytest.fixture
def page(build_run):
    return lambda **shape: page_of(build_run(**{"labels": LABELS, "tests": ("latency",), **shape}))


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


def test_missing_result_has_a_reason(page):
    found = page(change=replaced("uvicorn", response_time_ms=NOTHING))
    alt = section(found, "latency").charts[0].alt
    assert "uvicorn not known" in alt
    assert "too few requests" not in alt


def test_advice_names_only_run_options():
    run = get_command(app).commands["run"]
    options = {option for parameter in run.params for option in parameter.opts}
    named = {option for reason in Reason for option in re.findall(r"--[a-z-]+", reason.remedy)}
    assert named <= options


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
    [latency], [verdicts, _] = section(found, "latency").tables, section(found, "verdicts").tables
    assert list(column(latency, "setup")) == ["gunicorn", "daphne"]
    assert verdicts.note.startswith("The noise floor is unknown")
    assert "uvicorn" not in {row[0].text for row in verdicts.rows}
    assert not any("uvicorn" in finding.answer for finding in found.findings if "ms" in finding.answer)


def test_trials_are_counted_by_reason(without):
    assert section(without(), "invalid").paragraphs == ("No trial was invalid or doubtful.",)
    found = section(without(lost=(("uvicorn", "latency", 1),), name="b"), "invalid")
    [flags, generator] = found.tables
    assert [row[2].text for row in flags.rows] == ["invalid", "invalid"]
    assert found.paragraphs[1].startswith("generator_busy: 2 trials invalid (")
    assert generator.name == "generator"
