"""Test the last sentence that a run prints, which is about the measured view's own time."""

import pytest

from loadtests.analyse.results import Results
from loadtests.records.run.run_record import OwnProject
from loadtests.report import page, worth
from tests.fixtures.costs import with_costs

PROJECT = OwnProject(
    options={"app": "/srv/shop"},
    remarks=(),
    python="3.11.2",
    django="5.2.19",
    debug=False,
    wsgi="shop.wsgi.application",
    asgi=None,
    middleware=7,
    packages={},
)
COSTS = {"gunicorn-gthread": 12.0, "granian-wsgi": 11.76, "uvicorn": 13.6}


@pytest.fixture
def results(build_run):
    def make(costs=COSTS, blocks=6, **options):
        shape = {"tests": ("throughput",), "record": {"application": PROJECT}}
        run = build_run(labels=tuple(costs), blocks=blocks, **shape)
        return Results(with_costs(run, costs, **options))

    return make


def test_own_project_gets_a_cost_sentence(results):
    found = results()
    text = worth.sentence(found)
    assert text.startswith("Your view takes 12.0 ms of CPU time. Compared with gunicorn-gthread, granian-wsgi saves 2")
    assert " and uvicorn costs 13% (" in text
    assert text.endswith("; these intervals aren't adjusted for the other comparisons of the page.")
    assert text in page.compose(found).answer.notes


def test_equal_servers_do_not_differ(results):
    text = worth.sentence(results({"gunicorn-gthread": 12.0, "granian-wsgi": 12.0}))
    assert "granian-wsgi doesn't differ significantly (" in text


def test_useless_interval_is_not_shown(results):
    text = worth.sentence(results(blocks=2, spread=0.2))
    assert "granian-wsgi needs more blocks for a result" in text
    assert "inf" not in text


def test_missing_baseline_prints_no_cost_sentence(results):
    assert worth.sentence(results({"gunicorn": 12.0, "uvicorn": 13.6})) == ""
