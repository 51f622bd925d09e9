"""Test that the setup's name is shown next to a label that doesn't contain this name."""

import pytest

from loadtests.plan.entries import Entry
from tests.fixtures.pages import chart, column, page_of

THREADS = Entry("threads-64", "gunicorn-gthread", {"THREADS": "64"})
PLAIN, MORE = Entry("uvicorn", "uvicorn", {}), Entry("uvicorn-2", "uvicorn", {"WORKERS": "2"})
NOTE = "Each label is gunicorn-gthread with other settings; see the compared setups."


@pytest.fixture
def labelled(build_run):
    """Return a function that builds a run with these labels and setups.

    The function returns the page, and the setup that the page's top table shows for each label.
    """

    def build(*entries):
        page = page_of(build_run(labels=tuple(entry.label for entry in entries), study={"entries": entries}))
        return page, {label: field.detail for label, field in column(page.top.table, "setup").items()}

    return build


def test_tables_and_charts_name_the_setup(labelled):
    page, details = labelled(PLAIN, MORE, THREADS)
    assert details == {"uvicorn": "", "uvicorn-2": "", "threads-64": "gunicorn-gthread"}
    for name in ("headline", "latency-", "cpu-"):
        assert '{"threads-64": "threads-64 (gunicorn-gthread)"}' in str(chart(page, name).spec)


def test_common_setup_is_noted_once(labelled):
    page, details = labelled(THREADS, Entry("threads-8", "gunicorn-gthread", {"THREADS": "8"}))
    assert NOTE in page.top.notes
    assert set(details.values()) == {""}
