"""Test the cost of a million requests, and the processes' shares of this cost."""

import dataclasses

import pytest

from tests.fixtures.pages import section
from tests.report.changed import resaved

MILLION = "cost of a million requests"


@pytest.fixture
def cost(build_run):
    """Return a function that returns the cost table of a run with this price.

    ``change(trial)`` returns the processes of a trial.
    """

    def of(price=None, change=None, **shape):
        run = build_run(labels=("gunicorn", "daphne-redis"), tests=("latency",), blocks=1, **shape)
        if change:
            resaved(run, lambda trial: {"processes": change(trial)})
        found = section(run, "cost", price)
        table = found.tables[0]
        rows = {row[0].text: dict(zip(table.columns, row, strict=True)) for row in table.rows}
        return rows, " ".join(found.paragraphs)

    return of


def test_price_comes_from_option_or_study(cost):
    rows, text = cost(price=0.072)
    # 3.03 CPU seconds for 3,000 requests are 1.01 ms each, or 0.28056 core-hours for a million.
    assert rows["gunicorn"][MILLION].text == "0.0202"
    assert "0.072" in text
    study = {"price_per_core_hour": 1.0}
    assert cost(study=study, name="of a study")[0]["gunicorn"][MILLION].text == "0.281"
    assert cost(price=2.0, study=study, name="other")[0]["gunicorn"][MILLION].text == "0.561"


def test_processes_show_their_shares(cost):
    def four(trial):
        web = next(one for one in trial.processes if one.role == "web")
        counts = enumerate((None, 600, 1800, 0))
        return tuple(dataclasses.replace(web, pid=pid, requests=requests) for pid, requests in counts)

    rows, _ = cost(change=lambda trial: four(trial) if trial.label == "gunicorn" else trial.processes)
    shared = rows["gunicorn"]["requests per web process"]
    assert (shared.text, shared.detail) == ("0 to 1,800", "busiest 75% of 3")
    assert rows["daphne-redis"]["requests per web process"].text == "–"


def service(trial, role):
    """Return the process of a service whose cost the setup doesn't include."""
    figures = {"cpu_s": 6.0, "requests": None, "peak_rss_mb": 900.0, "rss_mb": 900.0}
    return dataclasses.replace(trial.processes[0], role=role, name=role, charged=False, **figures)


def test_services_have_separate_columns(cost):
    alone, text = cost(name="alone")
    assert "not charged" not in text
    assert "--price" in text  # a note replaces the column of prices
    assert not any(name == MILLION or name.startswith("requests per web") for name in alone["gunicorn"])
    rows, text = cost(change=lambda trial: (*trial.processes, service(trial, "postgres")), name="with_database")
    assert "Supporting services (postgres) are not charged" in text
    shown = rows["gunicorn"].pop("postgres ms, not charged")
    assert shown.text == "2.00"  # 6 CPU seconds for 3,000 requests
    assert rows["gunicorn"] == alone["gunicorn"]


def test_partly_charged_role_has_two_columns(cost):
    def with_redis(trial):
        return (*trial.processes, *([service(trial, "redis")] if trial.label == "gunicorn" else []))

    rows, _ = cost(change=with_redis)
    shown = {label: (row["redis ms"].text, row["redis ms, not charged"].text) for label, row in rows.items()}
    assert shown == {"gunicorn": ("–", "2.00"), "daphne-redis": ("0.505", "–")}
