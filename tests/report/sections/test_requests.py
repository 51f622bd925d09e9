"""The requests of a mix in the report, and in what differs between runs."""

import pytest

from loadtests.analyse.compare.differences import differences, same_test
from loadtests.analyse.results import Results
from loadtests.report.sections import requests
from loadtests.report.words import asked, what
from loadtests.workload import Request

LABELS = ("gunicorn", "uvicorn")


def row(name, p50, planned, ok):
    times = dict.fromkeys(("p50", "p90", "p95", "p99", "p99.9", "max", "mean"), p50)
    if p50 is not None:
        times["p99"] = p50 * 10
    counts = {"planned": planned, "sent": planned, "completed": ok, "ok": ok}
    return {"name": name, **counts, "errors": {}, "response_time_ms": times}


def answered(label, test, block, result):
    result["requests"] = [row("GET /often", 1.0 + block, 1300, 1300), row("GET /rarely", None, 20, 0)]


@pytest.fixture
def results(build_run):
    """A function: a run whose tests ask these requests."""

    def build(*sent, recorded=(), change=answered):
        run = build_run(labels=LABELS, change=change)
        for test in run.about["study"]["tests"]:
            del test["path"]
            speed = 2.0 if recorded else None
            test |= {"requests": [one.to_dict() for one in sent], "recorded": list(recorded), "speed": speed}
        return Results(run)

    return build


MIX = (Request("GET /rarely", path="/rarely"), Request("GET /often", path="/often", weight=9))


def test_each_request_has_a_row_for_each_setup_the_most_frequent_first(results):
    table, _ = requests.section(results(*MIX)).tables
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["GET /often", "gunicorn", "2.50", "25.0", "2,600", "0"],
        ["GET /often", "uvicorn", "2.50", "25.0", "2,600", "0"],
        ["GET /rarely", "gunicorn", "–", "–", "40", "40"],
        ["GET /rarely", "uvicorn", "–", "–", "40", "40"],
    ]
    assert table.caption == "Response time by request, ms: a mix of 2 requests at 300 requests per second"


def test_of_very_many_the_most_frequent_are_shown(results):
    many = [Request(f"GET /{number}", path=f"/{number}", weight=number + 1) for number in range(20)]

    def change(label, test, block, result):
        result["requests"] = [row(request.name, 1.0, 1, 1) for request in many]

    table, _ = requests.section(results(*many, change=change)).tables
    assert len({row[0].text for row in table.rows}) == requests.SHOWN
    assert table.rows[0][0].text == "GET /19"
    assert table.note == "8 requests sent less often not shown."
    assert table.folded


def test_a_run_without_a_mix_has_no_such_section(results, build_run):
    assert requests.section(results(Request("GET /"), change=None)) is None
    assert requests.section(Results(build_run(labels=LABELS, name="before"))) is None


def test_what_a_test_asks_in_words(results):
    before = {"kind": "latency", "path": "/old", "rate": 300.0}
    assert what(before) == "GET /old at 300 requests per second"
    [one, _] = results(Request("a", "POST", "/echo")).tests
    assert asked(one) == "POST /echo"


def test_a_recording_in_words(results):
    [replay, _] = results(*MIX, recorded=[(0, 0), (1, 1), (2, 1)]).tests
    assert asked(replay) == "a recording of 3 requests"
    assert what(replay) == "a recording of 3 requests at 2 times its pace, 300 requests per second on average"


def test_a_run_of_before_asked_the_same_as_one_of_today(results, build_run):
    today = results(Request("GET /")).about
    before = build_run(labels=LABELS, name="before").about
    assert same_test(today["study"]["tests"][0], before["study"]["tests"][0])
    assert [one for one in differences(before, today) if one.kind == "test"] == []


def test_two_mixes_are_told_apart(results, build_run):
    about = results(*MIX).about
    before = build_run(labels=LABELS, name="before").about
    assert not same_test(about["study"]["tests"][0], before["study"]["tests"][0])
    found = next(one for one in differences(before, about) if one.kind == "test")
    assert (found.what, found.before) == ("latency asks for", "GET /")
    assert found.after.startswith("a mix of 2 requests (")
