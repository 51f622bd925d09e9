"""Test that the engine ``locust`` counts the requests of journeys in the same way as the server."""

import os
import time

import pytest

from loadtests import journeys
from loadtests.engines import get
from loadtests.engines.base import Watch
from loadtests.records.histogram import decoded
from loadtests.workload import Load, Users
from tests.fixtures.exhaustive import exhaustive_but

pytestmark = pytest.mark.servers

locust = get("locust")
QUESTIONNAIRE = str(journeys.known()["questionnaire"])
THINK_S = (0.01, 0.03)
EXHAUSTIVE = pytest.mark.exhaustive


def load(survey, users=4, arrivals=None, think_s=THINK_S, **options):
    who = Users(QUESTIONNAIRE, "/questionnaire/", think_s, None if arrivals else users, arrivals)
    options = {"duration_s": 1.5, "timeout_s": 5.0, **options}
    return Load.of_url(f"{survey.url}/", users=who, connections=max(users, 8), **options)


@pytest.mark.parametrize("processes", exhaustive_but((2,), [1, 2]))
def test_closed_loop_requests_are_counted_once(survey, processes):
    server = survey()
    result = locust.run(load(server, processes=processes))
    counts = server.counts
    assert result.planned == result.sent == result.completed == result.ok == counts["all"] > 50
    assert (result.unfinished, result.errors, result.waited) == (0, {}, 0)
    assert {one.name: one.ok for one in result.journeys.methods} == {"GET": counts["GET"], "POST": counts["POST"]}
    assert {one.name: one.ok for one in result.requests} == {
        name: count for name, count in counts.items() if " " in name
    }
    assert result.journeys.users == 4
    assert result.journeys.arrivals is None
    assert 0 < result.journeys.completed <= counts["GET thank-you"]
    assert result.journeys.broken_off == 0
    assert sum(row.sent for row in result.timeline) == sum(row.ok for row in result.timeline) == result.ok
    get, post, whole = (decoded(result.histograms[name]) for name in ("get", "post", "response_time"))
    assert (get + post).counts == whole.counts
    assert whole.total == result.ok
    assert decoded(result.histograms["journey"]).total == result.journeys.completed
    assert result.response_time_ms["p50"] == pytest.approx(whole.percentile(50) / 1000)


@pytest.mark.parametrize(
    ("wrong", "every", "processes", "kind", "example"),
    [
        pytest.param("mix_up", 3, 1, "mixed-up", "answers differ from the entered answers: ", marks=EXHAUSTIVE),
        ("mix_up", 3, 2, "mixed-up", "answers differ from the entered answers: "),
        pytest.param("lose", 2, 1, "mixed-up", "moved is None", marks=EXHAUSTIVE),
        pytest.param("forget", 20, 1, "lost-session", "redirected to /questionnaire/signed-out/", marks=EXHAUSTIVE),
    ],
)
def test_all_wrong_answers_are_counted(survey, wrong, every, processes, kind, example):
    server = survey(**{wrong: every})
    result = locust.run(load(server, processes=processes))
    assert result.errors == {kind: server.counts[wrong]}
    assert result.errors[kind] > 1
    assert result.completed == result.planned == result.ok + result.errors[kind] == server.counts["all"]
    assert example in result.examples[kind]
    if kind == "mixed-up":
        assert {one.name: one.errors for one in result.requests if one.errors} == {"GET summary": result.errors}


@pytest.mark.parametrize("method", exhaustive_but(("POST",), ["GET", "POST"]))
@pytest.mark.parametrize(("wrong", "kind"), [("fail", "status"), pytest.param("cut", "reset", marks=EXHAUSTIVE)])
def test_failures_are_counted_by_kind(survey, wrong, kind, method):
    server = survey(**{wrong: 20, "of": method})
    result = locust.run(load(server))
    assert result.errors == {kind: server.counts[wrong]}
    assert result.errors[kind] > 1
    assert result.sent == server.counts["all"]
    assert 0 < result.journeys.broken_off <= server.counts[wrong]
    assert decoded(result.histograms["failed"]).total == server.counts[wrong]


@pytest.mark.parametrize("method", exhaustive_but(("POST",), ["GET", "POST"]))
def test_unanswered_requests_are_unfinished(survey, method):
    server = survey(never=10, of=method)
    result = locust.run(load(server, timeout_s=0.5))
    assert result.errors.get("timeout", 0) + result.unfinished == server.counts["never"] > 0
    assert result.ok + server.counts["never"] == result.planned == server.counts["all"]
    assert set(result.errors) == {"timeout"}


@pytest.mark.exhaustive
def test_warmup_is_not_counted(survey):
    server = survey()
    began = []
    result = locust.run(load(server, warmup_s=1.0), Watch(on_start=lambda: began.append(time.monotonic())))
    held = [moment for moment in server.moments if moment >= began[0]]
    assert len(began) == 1
    assert result.planned < server.counts["all"]
    assert result.planned == pytest.approx(len(held), rel=0.1)


def test_end_of_load_precedes_grace_period(survey):
    events = []
    result = locust.run(
        load(survey(delay_ms=700), duration_s=0.5),  # all answers arrive in the grace period
        Watch(
            lambda row: events.append("answers" if row.ok else "a second"),
            on_start=lambda: events.append("start"),
            on_end=lambda: events.append("end"),
        ),
    )
    assert [what for what in events if what != "a second"] == ["start", "end", "answers"]
    assert (result.ok, result.billed) == (4, 0)


@pytest.mark.exhaustive
def test_slow_answers_do_not_delay_arrivals(survey):
    # A journey needs at least 17 answers of 30 ms, which take longer than the time between two arrivals.
    server = survey(delay_ms=30)
    result = locust.run(load(server, arrivals=20, duration_s=2, warmup_s=1, arrival_seed=7))
    assert server.counts["GET launch"] == 60
    assert result.journeys.arrivals == 20
    assert result.journeys.expected_per_s is None
    assert result.errors == {}
    # An employed user sends 19 requests and thinks 8 times. Other users send 17 requests and think 7 times.
    assert result.journeys.duration_ms["p50"] >= 15 * 30 + 7 * 10
    assert result.journeys.under_way_first > 0


@pytest.mark.exhaustive
def test_unreachable_server_is_reported(survey, unused_port):
    server = survey()
    server.url = f"http://127.0.0.1:{unused_port}"
    result = locust.run(load(server, processes=2, core=max(os.sched_getaffinity(0)), duration_s=1))
    assert set(result.errors) == {"refused"}
    assert (result.ok, result.journeys.completed, result.rate) == (0, 0, 0)
    assert len(result.generator) == 2
    assert all(one.cpu_s > 0 and one.wall_s == 1 for one in result.generator)
    assert result.pacing_lag_ms["p99"] is not None
    assert result.send_lag_ms["p99"] is not None
