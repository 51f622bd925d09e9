"""Test the verdicts in the report: their wording, order and remarks."""

import pytest

from loadtests.analyse.results import Results
from loadtests.report.sections import verdicts
from loadtests.report.verdict_text import what_would_settle
from tests.fixtures.changes import failing, slowed
from tests.fixtures.pages import drawn
from tests.report.changed import replaced

TWO = ("gunicorn", "uvicorn")


@pytest.fixture
def section(build_run):
    """Return the section of verdicts for a run with a latency test."""
    return lambda **shape: verdicts.section(
        Results(build_run(**{"labels": TWO, "tests": ("latency",), "blocks": 10, **shape}))
    )


def rows(section, metric):
    [table] = section.tables
    return {row[0].text: row for row in table.rows if row[1].text == metric}


def test_verdict_has_size_with_sign(section):
    found = section(change=replaced("uvicorn", ok=2000), aa=True)
    assert rows(found, "p50 response time")["uvicorn"][3].text == "50% higher response time"
    assert rows(found, "CPU per request")["uvicorn"][3].text == "50% more CPU per request"
    assert list(dict.fromkeys(row[1].short for row in found.tables[0].rows)) == ["p50", "p99", "CPU"]
    [chart] = found.charts
    assert "p50 response time, uvicorn: 50% higher response time" in chart.alt
    assert {row["kind"] for row in drawn(chart, "kind")} == {"WSGI", "equivalent (±3%)", "noise floor"}


def test_best_ratio_is_first_row(section):
    found = section(labels=("daphne", "uvicorn", "gunicorn", "daphne-ipc"))
    assert list(rows(found, "p99 response time")) == ["gunicorn", "uvicorn", "daphne-ipc"]


def test_unknowable_percentile_is_mentioned_once(section):
    found = section(change=replaced(**dict.fromkeys(("planned", "sent", "completed", "ok"), 600)))
    [table], [chart] = found.tables, found.charts
    assert "p99" not in chart.alt
    assert "Not compared, because no block has enough figures: p99 response time." in table.note
    assert {row[1].text for row in table.rows} == {"p50 response time", "CPU per request"}


@slowed
def wild(label, test, block):
    """Return times on a machine that stalls: one setup's times differ by a factor of a hundred between blocks."""
    return 100.0 ** (block % 2) if label == "uvicorn" else 1.0


def test_uninformative_interval_is_open(section):
    row = rows(section(blocks=2, change=wild), "p50 response time")["uvicorn"]
    assert [field.text for field in row[3:5]] == ["inconclusive", ""]
    assert row[2].detail == "open interval"


@pytest.mark.parametrize(
    ("shape", "is_useful"),
    [
        ({"blocks": 2, "change": wild}, True),
        # More blocks wouldn't settle the comparison.
        ({"blocks": 6, "tests": ("throughput",), "change": failing("uvicorn", times=0.1)}, False),
    ],
    ids=["wild", "failing"],
)
def test_inconclusive_remedy_is_one_sentence(build_run, shape, is_useful):
    comparisons = Results(build_run(labels=TWO, **shape)).comparisons.values()
    assert bool(what_would_settle(comparisons)) == is_useful


def test_setup_is_not_compared_with_itself(section):
    assert section(labels=("gunicorn",)) is None
    found = section(labels=("gunicorn",), aa=True, name="again")
    assert found.tables == ()
    assert found.paragraphs[0].startswith("Noise floor: gunicorn against itself as gunicorn-again gave")
