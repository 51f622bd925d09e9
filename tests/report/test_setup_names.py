"""A label that does not say which setup it is has the setup's name with it."""

import pytest

from loadtests.plan.entries import Entry
from tests.fixtures.pages import chart, column, page_of
from tests.fixtures.runs import FIVE

THREADS = Entry("threads-64", "gunicorn-gthread", {"THREADS": "64"})
PLAIN, MORE = Entry("uvicorn", "uvicorn", {}), Entry("uvicorn-2", "uvicorn", {"WORKERS": "2"})


@pytest.fixture
def labelled(build_run):
    """A function: the page of a run with these entries."""

    def page(*entries):
        labels = tuple(entry.label for entry in entries)
        return page_of(build_run(labels=labels, study={"entries": entries}))

    return page


def test_the_top_table_and_the_charts_name_the_setup(labelled):
    page = labelled(PLAIN, MORE, THREADS)
    shown = {label: field.detail for label, field in column(page.top.table, "setup").items()}
    assert shown == {"uvicorn": "", "uvicorn-2": "", "threads-64": "gunicorn-gthread"}
    [panel] = page.top.chart.panels()
    assert {row["label"]: row.get("setup") for row in panel.rows} == {
        "uvicorn": None, "uvicorn-2": None, "threads-64": "gunicorn-gthread"
    }  # fmt: skip
    for name in ("headline", "latency-", "cpu-"):
        assert '{"threads-64": "threads-64 (gunicorn-gthread)"}' in str(chart(page, name).spec)


def test_where_all_are_one_setup_a_note_says_it_once(labelled):
    page = labelled(THREADS, Entry("threads-8", "gunicorn-gthread", {"THREADS": "8"}))
    assert "Each is gunicorn-gthread with other settings: see what was compared." in page.top.notes
    assert {field.detail for field in column(page.top.table, "setup").values()} == {""}


def test_labels_that_are_names_have_nothing_with_them(build_run):
    page = page_of(build_run(labels=FIVE))
    assert {field.detail for field in column(page.top.table, "setup").values()} == {""}
    assert "labelExpr" not in str(page.top.chart.spec)
    assert not any("with other settings" in note for note in page.top.notes)
