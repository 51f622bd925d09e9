"""Test reports of users' journeys, and of capacities in users."""

import dataclasses
import functools

import pytest

from loadtests.analyse.results import Results
from loadtests.records import Journeys, RequestResult
from loadtests.records.result import FIGURES
from loadtests.report.formats import rest
from tests.fixtures.pages import page_of, rows_of, section, summary, table, texts
from tests.fixtures.studies import a_test

LABELS = ("gunicorn", "uvicorn")
SLOWER = {"gunicorn": 1.0, "uvicorn": 2.0}
USERS = a_test("journey", "users", duration="30s", users=64)


def times(typical):
    spread = {"p50": 1.0, "p90": 2.0, "p95": 3.0, "p99": 5.0, "p99.9": 9.0, "max": 12.0, "mean": 1.5}
    return {key: typical * spread[key] for key in FIGURES}


def row(name, typical, count=2000, errors=None):
    failed = sum((errors or {}).values())
    return RequestResult(name, count, count, count, count - failed, 0, errors or {}, times(typical))


def walked(label, test, block, result, users=64, errors=None):
    """Change a result to the measurements of a journey trial."""
    slower = SLOWER[label] * (1 + block / 100)
    journeys = Journeys(
        users=users, arrivals=None if users else 2.0, completed=300 - 10 * block, broken_off=10 if errors else 0,
        under_way_first=60, under_way_last=62, duration_ms=times(12_000.0 * slower),
        methods=(row("GET", 10 * slower), row("POST", 20 * slower, 1000, errors)),
        think_ms=700.0, wait_ms=15.0, ended_per_s=89.0, expected_per_s=64_000 / 715 if users else None,
    )  # fmt: skip
    routes = (row("GET name", 9 * slower), row("POST name", 19 * slower, 500))
    return dataclasses.replace(result, requests=routes, journeys=journeys)


@pytest.fixture
def results(build_run):
    def build(change=walked, test=USERS, name="a", **changes):
        change = functools.partial(change, **changes)
        return Results(build_run(labels=LABELS, tests=(test,), change=change, name=name))

    return build


def by_two(table):
    """Return a table's rows by their first two fields."""
    return {(one[0].text, one[1].text): texts(one)[2:] for one in table.rows}


def test_journey_section_has_four_tables(results):
    found = section(results(errors={"mixed-up": 3, "status": 1}), "journey")
    tables = {one.name: one for one in found.tables}
    assert list(tables) == ["journey-users", "methods-users", "whole-users", "routes-users"]
    # The 99th percentile of GET is the mean of 50.5 and 51.0. The journeys per minute follow from the mean of 290 and
    # 280 in 10 s.
    assert rows_of(tables["journey-users"])["gunicorn"][3:7] == ["50.7", "–", "1,710", "96.6"]
    assert rows_of(tables["whole-users"])["gunicorn"][1:] == ["570", "20", "12,180", "24,360", "60", "62"]
    routes = by_two(tables["routes-users"])
    assert routes["GET name", "gunicorn"] == ["9.13", "18.3", "27.4", "45.7", "–", "4,000", "0"]
    assert routes["POST name", "gunicorn"][3] == "–"  # too few values for p99
    methods = by_two(tables["methods-users"])
    assert methods["GET", "uvicorn"] == ["20.3", "40.6", "60.9", "102", "–", "4,000", "0"]
    assert methods["POST", "gunicorn"] == ["20.3", "40.6", "60.9", "102", "–", "2,000", "8"]
    failed = tables["methods-users"].rows[2][-1]
    assert (failed.detail, failed.tone) == ("mixed-up 6, status 2", "bad")


def test_unresponsive_setup_has_values(results):
    def stopped(*of_trial):
        found = walked(*of_trial)
        lost = dataclasses.replace(row("GET", 10), planned=1200, sent=1200, completed=900, ok=900, unfinished=300)
        journeys = dataclasses.replace(found.journeys, methods=(lost,))
        return dataclasses.replace(found, journeys=journeys, requests=(dataclasses.replace(lost, name="GET name"),))

    found = page_of(results(stopped))
    assert texts(table(found, "methods-users").rows[0])[5] == "not reached"
    assert texts(table(found, "routes-users").rows[0])[5] == "not reached"
    assert rows_of(table(found, "journey-users"))["gunicorn"][3] == "not reached"


def test_missing_journeys_are_explained(results):
    def stuck(*of_trial):
        found = walked(*of_trial)
        journeys = dataclasses.replace(found.journeys, completed=0, duration_ms=dict.fromkeys(FIGURES))
        return dataclasses.replace(found, journeys=journeys)

    [headline, *_] = page_of(results(stuck)).answer.headlines
    assert headline.startswith(
        "Unusable answers with 64 users: gunicorn and uvicorn (no user completed a journey in 10 s. Measure for longer "
    )


def test_cost_belongs_to_completed_journeys(results):
    found = results()
    page = page_of(found)
    assert {"p50, ms", "CPU, ms"} <= set(page.answer.table.columns)
    gunicorn, uvicorn = summary(found)
    assert float(gunicorn["get_p50_ms"]) == pytest.approx(10.15, rel=0.001)
    assert float(uvicorn["journeys_completed_percent"]) == 100
    assert float(gunicorn["cpu_ms_per_request"]) < float(gunicorn["cpu_ms_per_journey"])
    cost = section(page, "cost")
    costs = dict(zip(cost.tables[0].columns, texts(cost.tables[0].rows[0]), strict=True))
    # In the two blocks, 290 journeys use 3.03 CPU seconds, and 280 journeys use 3.06 CPU seconds.
    assert (costs["CPU, ms"], costs["web ms"]) == ("10.7", "10.7")


def test_capacity_is_in_users(build_run):
    keys = {"model": "users", "start_rate": 20, "max_rate": 1000, "probe": "8s", "confirm": "16s"}
    run = build_run(labels=LABELS, tests=(a_test("journey-capacity", "most", **keys),), blocks=2)
    for trial in run.trials():
        result = walked(trial.label, trial.test, trial.block, trial.result, users=40)
        run.save_trial(dataclasses.replace(trial, result=dataclasses.replace(result, requests=())))
    found = Results(run)
    tables = {one.name: one for one in section(found, "journey-capacity").tables}
    assert set(tables) >= {"journey-capacity-most", "way-most", "methods-most"}
    figures = tables["journey-capacity-most"]
    assert figures.columns[:2] == ("setup", "capacity in users")
    assert "The result isn't a capacity in requests per second." in figures.note
    # The steps of the search contain every probe.
    assert len(tables["way-most"].rows) == sum(len(trial.capacity.probes) for trial in found.trials)
    assert {row[-1].text for row in tables["way-most"].rows} == {"within", "not within"}
    assert all(float(row["capacity_users"]) > 0 for row in summary(found))
    assert "sustains the most" in rest.rst(page_of(found))
