"""Test the requests of a mix in the report, and in the comparison of runs."""

import dataclasses

import pytest

from loadtests.analyse.compare.differences import differences
from loadtests.analyse.results import Results
from loadtests.records import RequestResult
from loadtests.report.sections import requests
from loadtests.workload import Request
from tests.fixtures.pages import texts
from tests.fixtures.runs import known_test
from tests.report.changed import replaced

MIX = (Request("GET /rarely", path="/rarely"), Request("GET /often", path="/often", weight=9))


def of_request(name, p50, planned, ok):
    times = dict.fromkeys(("p50", "p90", "p95", "p99", "p99.9", "max", "mean"), p50)
    if p50 is not None:
        times["p99"] = p50 * 10
    counts = {"planned": planned, "sent": planned, "completed": ok, "ok": ok, "unfinished": planned - ok}
    return RequestResult(name, **counts, errors={}, response_time_ms=times)


def answered(label, test, block, result):
    often, rarely = of_request("GET /often", 1.0 + block, 1300, 1300), of_request("GET /rarely", None, 20, 0)
    return dataclasses.replace(result, requests=(often, rarely))


@pytest.fixture
def results(build_run):
    """Return a function that builds a run whose tests send these requests."""

    def build(*sent, change=answered, **shape):
        tests = tuple(known_test(name).with_requests(sent) for name in ("latency", "throughput"))
        return Results(build_run(labels=("gunicorn", "uvicorn"), tests=tests, change=change, **shape))

    return build


def test_frequent_requests_come_first(results):
    table, _ = requests.section(results(*MIX)).tables
    assert list(map(texts, table.rows)) == [
        ["GET /often", "gunicorn", "2.50", "2.50", "2.50", "25.0", "–", "2,600", "0"],
        ["GET /often", "uvicorn", "2.50", "2.50", "2.50", "25.0", "–", "2,600", "0"],
        # 20 requests fail, and p90 needs 100 answers
        ["GET /rarely", "gunicorn", "not reached", "–", "–", "–", "–", "40", "40"],
        ["GET /rarely", "uvicorn", "not reached", "–", "–", "–", "–", "40", "40"],
    ]
    assert table.caption.endswith(", ms: a mix of 2 requests at 300 requests per second, at random moments")


def test_rare_requests_are_omitted(results):
    many = [Request(f"GET /{number}", path=f"/{number}", weight=number + 1) for number in range(20)]

    asked = tuple(of_request(one.name, 1.0, 1, 1) for one in many)
    table, _ = requests.section(results(*many, change=replaced(requests=asked))).tables
    assert len({row[0].text for row in table.rows}) == requests.SHOWN
    assert table.rows[0][0].text == "GET /19"
    assert table.note == "Not shown: 8 requests sent less often."


def test_run_without_mix_has_no_section(results):
    one, mix = results(Request("GET /", path="/"), change=None), results(*MIX, name="mix")
    assert requests.section(one) is None
    difference = next(found for found in differences(one.record, mix.record) if found.kind == "test")
    assert difference.what == "latency asks for"
    assert difference.before.startswith("GET / (")
    assert difference.after.startswith("a mix of 2 requests (")
