"""What a report says of a capacity in users."""

import dataclasses

import pytest

from loadtests.analyse.results import Results
from loadtests.records import Journeys, RequestResult
from loadtests.report.formats import rest
from tests.fixtures.pages import page_of, section, summary, table, texts
from tests.fixtures.studies import a_test


def the_test(model):
    return a_test("journey-capacity", "most", model=model, start_rate=20, max_rate=1000, probe="8s", confirm="16s")


@pytest.fixture
def results(build_run):
    """A function: a run of which each trial's confirming probe had users, or new ones."""

    def build(model="users"):
        run = build_run(labels=("gunicorn", "uvicorn"), tests=(the_test(model),), blocks=2)
        for trial in run.trials():
            times = trial.result.response_time_ms
            row = RequestResult("GET", 2000, 2000, 2000, 2000, 0, {}, times)
            users = 40 if model == "users" else None
            journeys = Journeys(
                users, None if users else 3.0, 90, 0, 30, 31, times, (row,), 700.0, 15.0, 56.0, 56.1 if users else None
            )
            run.save_trial(dataclasses.replace(trial, result=dataclasses.replace(trial.result, journeys=journeys)))
        return Results(run)

    return build


def test_the_capacity_is_in_users_and_it_is_said_that_it_is_none_in_requests(results):
    found = section(results(), "journey-capacity")
    assert "is no capacity in requests" in found.paragraphs[0]
    names = [one.name for one in found.tables]
    assert names[0] == "journey-capacity-most"
    assert {"way-most", "loop-most", "methods-most"} <= set(names)
    figures = found.tables[0]
    assert figures.columns[:2] == ("setup", "capacity in users")
    assert "It is no capacity in requests." in figures.note
    loop = next(one for one in found.tables if one.name == "loop-most")
    assert texts(loop.rows[0])[:2] == ["gunicorn", "40"]


def test_the_way_there_has_every_probe(results):
    made = results()
    way = table(made, "way-most")
    assert len(way.rows) == sum(len(trial.capacity.probes) for trial in made.trials)
    assert {row[-1].text for row in way.rows} == {"within", "not within"}


def test_new_users_have_no_arithmetic_and_another_unit(results):
    found = section(results("arrivals"), "journey-capacity")
    assert found.tables[0].columns[1] == "capacity in new users/s"
    assert "loop-most" not in [table.name for table in found.tables]


@pytest.mark.parametrize(("model", "column"), [("users", "capacity_users"), ("arrivals", "capacity_users_per_s")])
def test_the_answer_and_the_summary_have_it(results, model, column):
    found = results(model)
    assert all(float(row[column]) > 0 for row in summary(found))
    page = page_of(found)
    assert page.answer.table is not None
    text = rest.rst(page)
    assert "Capacity in users" in text
    assert "sustains the most" in text
