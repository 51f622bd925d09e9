"""Test the keys and metrics of deployment tests."""

import dataclasses
import math

import pytest

from loadtests.plan import kinds
from loadtests.plan.kinds.deployment import DOWNTIME, LONGEST, disturbed_s, losses, lost_by
from loadtests.records import Deployment, Meanwhile, Second
from loadtests.setups import find
from loadtests.workload import Request
from tests.fixtures.results import histogram_of, well
from tests.fixtures.schemas import as_json
from tests.fixtures.studies import a_test, load_of


def deployment(way, **keys):
    return a_test("deployment", **{"way": way, "path": "/wait?ms=20", "rate": 40, "duration": "20s", **keys})


def test_both_kinds_of_clients_send_requests():
    found = deployment("reload")
    assert [(one.name, one.closes, one.path) for one in load_of(found).requests] == [
        ("GET /wait?ms=20, keep-alive", False, "/wait?ms=20"),
        ("GET /wait?ms=20, closing", True, "/wait?ms=20"),
    ]
    assert found.description == (
        "GET /wait?ms=20 while its workers are replaced gracefully at 40 requests per second, at random moments"
    )
    assert kinds.from_record(as_json(found.record())) == found
    assert (found.can_interleave, found.fixed_rate, found.quick().pace.duration_s) == (False, None, 6)


def test_only_max_requests_limits_workers():
    found = deployment("max-requests")
    assert found.start_options.knobs == (("MAX_REQUESTS", "250"), ("MAX_REQUESTS_JITTER", "100"))
    assert "after 250 to 350 requests" in found.description


@pytest.mark.parametrize(
    ("way", "setup", "why"),
    [
        ("reload", "daphne", "it cannot replace its workers gracefully on demand"),
        ("max-requests", "granian-asgi", "it cannot replace a worker after a number of requests"),
        ("kill", "daphne", None),
    ],
)
def test_unsupported_replacement_is_explained(way, setup, why):
    assert find([setup])[0].refuses(deployment(way).setup_features) == why


def second(t, ok=40, errors=0, p50_ms=21.0, **ends):
    return Second(float(t), 40, ok, ok, errors, p50_ms, p50_ms, ends={"200": ok, **ends})


@pytest.fixture
def tried(build_run):
    """Return a function that returns a trial of 20 normal seconds, in which processes are replaced at 3.5 s.

    The function's arguments are other seconds, which take the places of normal seconds.
    """
    [trial] = build_run(labels=("gunicorn",), tests=(deployment("reload"),), blocks=1).trials()

    def tried(*otherwise, t=3.5, replaced=2, **changes):
        seconds = {at: second(at) for at in range(20)} | {one.t: one for one in otherwise}
        result = well(800, 20.0, timeline=tuple(seconds.values()), **changes)
        seen = Meanwhile(deployment=Deployment("reload", t, replaced, 110.0, 112.5))
        return dataclasses.replace(trial, result=result, meanwhile=seen)

    return tried


def test_losses_are_reported_by_kind(tried):
    errors = {"refused": 5, "reset": 4, "status": 6, "timeout": 2, "wrong-body": 1}
    seconds = (second(3, errors=5, **{"502": 2, "503": 2, "500": 1}), second(4, errors=1, **{"503": 1}))
    found = losses(tried(*seconds, errors=errors, unfinished=1).result)
    assert found == {"refused": 5, "reset": 4, "502/503": 5, "timed out": 3, "other": 2}


def test_disturbed_seconds_are_counted_after_start(tried):
    assert disturbed_s(tried()) == 0
    two_phases = (second(3, p50_ms=900.0), second(8, ok=39, errors=1), second(9, ok=0, p50_ms=None))
    assert disturbed_s(tried(*two_phases)) == 3
    assert disturbed_s(tried(second(1, p50_ms=900.0), t=3.5)) == 0  # this second is before the replacement
    assert disturbed_s(tried(*(second(at, ok=0, p50_ms=None) for at in range(17, 20)))) == math.inf
    assert disturbed_s(tried(t=2.0)) is None  # two seconds are too few to know the normal values


def test_downtime_is_median_of_trials(tried):
    trials = [tried(outage_ms=float(ms)) for ms in (480, 500, 900)]
    assert DOWNTIME.over(trials) == 500
    assert DOWNTIME.over([tried()]) is None  # an older run
    assert DOWNTIME.over([tried(outage_ms=480.0, replaced=0)]) is None


def test_longest_wait_covers_all_requests(tried):
    times = {"response_time_ms": {"p50": 21.0, "p99": 30.0, "max": 640.0}}
    failed = tried(**times, histograms={"failed": histogram_of({2_000_000: 1})})
    assert LONGEST.read(tried(**times)) == 640
    assert LONGEST.read(failed) == pytest.approx(2000, rel=0.001)
    assert kinds.metric("memory_after_mb").read(failed) == 112.5
    nothing = tried(replaced=0)
    assert (LONGEST.read(nothing), disturbed_s(nothing)) == (None, None)
    assert deployment("reload").why_unknown(nothing) == "none of the server's processes was replaced"


@pytest.mark.servers
def test_dropped_requests_are_counted(measured, server):
    """Of ten requests from each kind of client, two are reset, three get 503, 502 and 500, and one gets no answer."""
    paths = ["/ok"] * 4 + ["/reset"] * 2 + ["/status/503", "/status/502", "/status/500", "/never"]
    test = deployment("reload", rate=200, duration="1s", arrivals="even").with_requests(
        tuple(Request(f"{place}", path=path) for place, path in enumerate(paths))
    )
    opened = server.opened()
    load = dataclasses.replace(test.load(server.url, test.requests, (), None), timeout_s=0.5, grace_s=0.5)
    result = measured(load)
    assert (result.planned, result.ok) == (200, 80)
    assert result.outage_ms > 0
    assert losses(result) == {"refused": 0, "reset": 40, "502/503": 40, "timed out": 20, "other": 20}
    assert (lost_by(result, "keep-alive"), lost_by(result, "closing")) == (60, 60)
    # Each request of a closing client opens a connection. Keep-alive clients open a new connection for each
    # lost connection, and a few connections for simultaneous requests.
    assert 100 + 30 <= server.opened() - opened < 200
