"""Test the CPU time per request, and the shares of the processes."""

import dataclasses

import pytest

from tests.fixtures.pages import section
from tests.report.changed import resaved


@pytest.fixture
def cost(build_run):
    """Return a function that returns the cost table of a run.

    ``change(trial)`` returns the processes of a trial.
    """

    def of(change=None, **shape):
        run = build_run(labels=("gunicorn", "daphne-redis"), tests=("latency",), blocks=1, **shape)
        if change:
            resaved(run, lambda trial: {"processes": change(trial)})
        found = section(run, "cost")
        table = found.tables[0]
        rows = {row[0].text: dict(zip(table.columns, row, strict=True)) for row in table.rows}
        return rows, " ".join(found.paragraphs)

    return of


def test_processes_show_their_shares(cost):
    def four(trial):
        web = next(one for one in trial.processes if one.role == "web")
        counts = enumerate((None, 600, 1800, 0))
        return tuple(dataclasses.replace(web, pid=pid, requests=requests) for pid, requests in counts)

    rows, _ = cost(change=lambda trial: four(trial) if trial.label == "gunicorn" else trial.processes)
    shared = rows["gunicorn"]["requests per web process"]
    assert (shared.text, shared.detail) == ("0 to 1,800", "busiest 75% of 3")
    assert rows["daphne-redis"]["requests per web process"].text == "–"


def test_services_have_separate_columns(cost):
    def with_database(trial):
        """Add the process of a service whose cost the setup doesn't include."""
        figures = {"cpu_s": 6.0, "requests": None, "peak_rss_mb": 900.0, "rss_mb": 900.0}
        return (*trial.processes, dataclasses.replace(trial.processes[0], role="postgres", charged=False, **figures))

    alone, text = cost(name="alone")
    assert "not charged" not in text
    assert not any(name.startswith("requests per web") for name in alone["gunicorn"])
    rows, text = cost(change=with_database, name="with_database")
    assert "Supporting services (postgres) are not charged" in text
    shown = rows["gunicorn"].pop("postgres ms, not charged")
    assert shown.text == "2.00"  # 6 CPU seconds for 3,000 requests
    assert rows["gunicorn"] == alone["gunicorn"]
