"""What a report says of users' journeys."""

import dataclasses

import pytest

from loadtests.analyse.results import Results
from loadtests.records import Journeys, RequestResult
from loadtests.records.result import FIGURES
from loadtests.report.formats import rest
from tests.fixtures.pages import page_of, section, summary, table, texts
from tests.fixtures.studies import a_test

SLOWER = {"gunicorn": 1.0, "uvicorn": 2.0}


def journey_test(**fields):
    return a_test("journey", "users", duration="30s", **fields)


def times(typical):
    spread = {"p50": 1.0, "p90": 2.0, "p95": 3.0, "p99": 5.0, "p99.9": 9.0, "max": 12.0, "mean": 1.5}
    return {key: typical * spread[key] for key in FIGURES}


def row(name, typical, count=2000, errors=None):
    failed = sum((errors or {}).values())
    return RequestResult(name, count, count, count, count - failed, 0, errors or {}, times(typical))


def walked(users=64, errors=None):
    """A change of a result: what a trial of journeys measured."""

    def change(label, test, block, result):
        slower = SLOWER[label] * (1 + block / 100)
        journeys = Journeys(
            users=users,
            arrivals=None if users else 2.0,
            completed=300 - 10 * block,
            broken_off=0 if errors is None else 10,
            under_way_first=60,
            under_way_last=62,
            duration_ms=times(12_000.0 * slower),
            methods=(row("GET", 10 * slower), row("POST", 20 * slower, 1000, errors)),
            think_ms=700.0,
            wait_ms=15.0,
            ended_per_s=89.0,
            expected_per_s=64_000 / 715 if users else None,
        )
        routes = (row("GET name", 9 * slower), row("POST name", 19 * slower, 500))
        return dataclasses.replace(result, requests=routes, journeys=journeys)

    return change


@pytest.fixture
def results(build_run):
    def build(test=None, change=None):
        run = build_run(
            labels=("gunicorn", "uvicorn"), tests=(test or journey_test(users=64),), blocks=2, change=change or walked()
        )
        return Results(run)

    return build


def test_its_section_says_what_a_closed_loop_is_no_measure_of(results):
    found = section(results(), "journey")
    assert found.heading == "Users' journeys"
    assert "it is no capacity" in found.paragraphs[0]
    assert [one.name for one in found.tables] == [
        "journey-users", "methods-users", "whole-users", "loop-users", "routes-users",
    ]  # fmt: skip


def test_the_figures_are_those_of_all_requests_and_of_journeys(results):
    figures = table(results(), "journey-users")
    assert figures.columns[1:8] == (
        "p50", "p99", "GET p99", "POST p99", "journeys/min", "completed, %", "CPU ms/journey",
    )  # fmt: skip
    gunicorn = dict(zip(figures.columns, texts(figures.rows[0]), strict=True))
    assert gunicorn["setup"] == "gunicorn"
    assert gunicorn["GET p99"] == "50.7"  # the mean of 50.5 and 51.0
    assert gunicorn["POST p99"] == "101"
    assert gunicorn["journeys/min"] == "1,710"  # that of 290 and 280 in 10 s, each
    assert gunicorn["completed, %"] == "100"


def test_get_and_post_stand_apart_with_their_failures_next_to_them(results):
    found = table(results(change=walked(errors={"mixed-up": 3, "status": 1})), "methods-users")
    assert found.columns == ("method", "setup", "p50", "p90", "p95", "p99", "p99.9", "sent", "failed")
    rows = {(one[0].text, one[1].text): one for one in found.rows}
    assert texts(rows["GET", "uvicorn"])[2:] == ["20.3", "40.6", "60.9", "102", "–", "4,000", "0"]
    assert texts(rows["POST", "gunicorn"])[2:] == ["20.3", "40.6", "60.9", "102", "–", "2,000", "8"]
    assert rows["POST", "gunicorn"][-1].detail == "mixed-up 6, status 2"
    assert rows["POST", "gunicorn"][-1].tone == "bad"


def test_each_route_has_a_row_in_which_too_few_requests_know_no_percentile(results):
    rows = {(one[0].text, one[1].text): texts(one) for one in table(results(), "routes-users").rows}
    assert rows["GET name", "gunicorn"][2:] == ["9.13", "18.3", "27.4", "45.7", "–", "4,000", "0"]
    assert rows["POST name", "gunicorn"][5] == "–"


def test_a_setup_that_stops_answering_is_not_unknown(results):
    def stopped(label, test, block, result):
        found = walked()(label, test, block, result)
        lost = dataclasses.replace(row("GET", 10), planned=1200, sent=1200, completed=900, ok=900, unfinished=300)
        journeys = dataclasses.replace(found.journeys, methods=(lost,))
        return dataclasses.replace(found, journeys=journeys, requests=(dataclasses.replace(lost, name="GET name"),))

    found = results(change=stopped)
    assert texts(table(found, "methods-users").rows[0])[5] == "not reached"
    assert texts(table(found, "routes-users").rows[0])[5] == "not reached"
    figures = table(found, "journey-users")
    assert dict(zip(figures.columns, texts(figures.rows[0]), strict=True))["GET p99"] == "not reached"


def test_the_arithmetic_of_the_closed_loop_stands_next_to_the_measured_rate(results):
    rows = [texts(one) for one in table(results(), "loop-users").rows]
    assert rows[0] == ["gunicorn", "64", "700", "15.0", "89.5", "89.0", "+0.6%"]


def test_an_open_loop_has_no_such_arithmetic(results):
    found = section(results(journey_test(rate=2.0), walked(users=None)), "journey")
    assert "loop-users" not in [one.name for one in found.tables]


def test_whole_journeys_are_reported_in_seconds(results):
    rows = [texts(one) for one in table(results(), "whole-users").rows]
    assert rows[0] == ["gunicorn", "570", "0", "12.2", "24.4", "–", "60", "62"]


def test_the_answer_and_the_summary_have_them(results):
    found = results()
    answer = page_of(found).answer
    assert answer.table is not None
    assert "p50, ms" in answer.table.columns
    assert "CPU, ms" in answer.table.columns
    rows = {one["label"]: one for one in summary(found)}
    assert float(rows["gunicorn"]["get_p50_ms"]) == pytest.approx(10.15, rel=0.001)
    assert float(rows["uvicorn"]["journeys_completed_percent"]) == 100
    assert "Users' journeys" in rest.rst(page_of(found))


def test_cost_is_that_of_a_completed_journey_by_role(results):
    found = results()
    cost = section(found, "cost")
    rows = [dict(zip(cost.tables[0].columns, texts(row), strict=True)) for row in cost.tables[0].rows]
    # 3.03 CPU seconds for 290 journeys, and 3.06 for 280.
    assert {rows[0][heading] for heading in ("CPU ms", "web ms")} == {"10.7"}
    assert float(rows[0]["journeys/CPU s"]) == pytest.approx(93.6, rel=0.01)
    assert "for each journey completed: the cost of failed journeys" in cost.paragraphs[0]
    row = summary(found)[0]
    assert row["cpu_ms_per_journey"] == row["web_cpu_ms_per_journey"]
    assert float(row["cpu_ms_per_request"]) < float(row["cpu_ms_per_journey"])
    assert "that 1 request in 100 exceeds" in rest.rst(page_of(found))


def test_a_cell_without_journeys_has_no_row(results):
    found = results(change=lambda label, test, block, result: result)
    assert [one.name for one in section(found, "journey").tables] == ["journey-users"]
