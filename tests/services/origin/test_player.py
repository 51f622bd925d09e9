"""Test an origin's recipes and counts with a simulated clock."""

from collections import Counter

import pytest

from loadtests.errors import UserError
from loadtests.services.origin import recipes
from loadtests.services.origin.counts import Counts
from loadtests.services.origin.player import Fate, Player, Stocked


class Clock:
    """A clock that only the test advances."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def player(clock):
    """Return a function that returns a player of recipes."""

    def make(*played):
        made = Player(clock)
        made.start(Stocked(recipe, b"the body") for recipe in recipes.parse(list(played), "a.json"))
        return made

    return make


def played(player, path="/"):
    """Return the status, latency in seconds and body of an answer."""
    found = player.begin(path)
    if found.of is not None:
        found.of.end()
    return found.reply.status, found.latency_s, found.reply.body


# The example from the documentation of the original tool: an origin fails, is then overloaded, and then recovers.
DOCUMENTED = {
    "stages": [
        {"at": 0, "status": 404, "latency": "50ms"},
        {"at": "4s", "status": 503, "latency": "2s"},
        {"at": "6s", "status": 200, "latency": "100ms"},
    ],
}


def test_documented_recipe_is_repeatable(player, clock):
    origin = player(DOCUMENTED)
    began = clock.now
    answers = {}
    for after in (0, 1, 3.999, 4, 5.999, 6, 7, 86_400):
        clock.now = began + after
        answers[after] = played(origin)
    wrong, overloaded, well = (404, 0.05, b"Not found"), (503, 2.0, b"Error 503"), (200, 0.1, b"the body")
    assert answers == {
        0: wrong, 1: wrong, 3.999: wrong, 4: overloaded, 5.999: overloaded, 6: well, 7: well, 86_400: well,
    }  # fmt: skip
    origin.restart()
    assert played(origin) == wrong


def test_most_specific_route_wins(player):
    routes = {"/*": 201, "/news": 202, "/news*": 203, "/news/sport/*": 206}
    origin = player(*({"route": route, "stages": [{"at": 0, "status": status}]} for route, status in routes.items()))
    found = {path: played(origin, path)[0] for path in ("/", "/news", "/newsletter", "/news/sport", "/news/sport/1")}
    assert found == {"/": 201, "/news": 202, "/newsletter": 203, "/news/sport": 203, "/news/sport/1": 206}


def test_added_recipe_replaces_its_predecessor(player, clock):
    origin = player({"route": "/news", **DOCUMENTED}, {"route": "/sport", **DOCUMENTED})
    clock.now += 7
    [recipe] = recipes.parse({"route": "/news", "stages": [{"at": 0, "status": 201}]}, "a.json")
    origin.add([Stocked(recipe, b"")])
    assert [played(origin, path)[0] for path in ("/news", "/sport")] == [201, 200]
    assert [one["route"] for one in origin.written()] == ["/news", "/sport"]


def test_oversized_body_is_ignored(player):
    origin = player({"route": "/a", **DOCUMENTED})
    [recipe] = recipes.parse({"route": "/b", **DOCUMENTED}, "a.json")
    with pytest.raises(UserError, match="the bodies together: 80 MB; at most 64 MB are allowed"):
        origin.add([Stocked(recipe, bytes(80 * 1024**2))])
    assert list(origin.routes) == ["/a"]


def test_requests_over_limit_are_refused(player):
    origin = player({"limit": 2, "stages": [{"at": 0, "latency": "1s"}]})
    first, second, third = (origin.begin("/") for _ in range(3))
    assert [one.fate for one in (first, second, third)] == [Fate.ANSWERED, Fate.ANSWERED, Fate.OVER_LIMIT]
    assert (third.reply.status, third.latency_s) == (503, 0.0)
    third.of.end()
    first.of.end()
    assert origin.begin("/").fate is Fate.ANSWERED


CHANCES = {
    "stages": [
        {"at": 0, "latency": "100ms..200ms", "failures": 0.3, "failure_status": 502, "resets": 0.2, "stalls": 0.1}
    ]
}


def lucks(origin, count):
    return [(found.fate, found.latency_s) for found in (origin.begin("/") for _ in range(count))]


def test_shares_match_the_recipe(player):
    origin = player(CHANCES)
    found = [origin.begin("/") for _ in range(10_000)]
    shares = {fate: count / len(found) for fate, count in Counter(one.fate for one in found).items()}
    assert shares == pytest.approx({Fate.ANSWERED: 0.4, Fate.FAILED: 0.3, Fate.RESET: 0.2, Fate.STALLED: 0.1}, abs=0.02)
    assert {one.reply.status for one in found if one.fate is Fate.FAILED} == {502}


def test_seed_determines_all_chances(player):
    origin = player(CHANCES)
    first = lucks(origin, 100)
    origin.restart()
    assert lucks(origin, 100) == first
    assert lucks(player({**CHANCES, "seed": 1}), 100) != first


def test_failures_leave_other_latencies_unchanged(player):
    spread = {"at": 0, "latency": "100ms..200ms"}
    well, failing = (player({"stages": [{**spread, **more}]}) for more in ({}, {"failures": 0.5}))
    assert [latency for _, latency in lucks(well, 50)] == [latency for _, latency in lucks(failing, 50)]


@pytest.fixture
def counts(clock):
    return Counts(clock)


def test_requests_in_flight_are_reported(counts, clock):
    counts.began(True)
    clock.now += 0.5
    counts.began(True)
    clock.now += 1.0  # 1.5 s
    counts.ended(Fate.ANSWERED, 200, 0.0)
    clock.now += 1.5  # 3 s
    assert (counts.totals()["most_in_flight"], counts.totals()["in_flight"]) == (2, 1)
    counts.left(Fate.ANSWERED)
    clock.now += 10
    assert counts.totals()["request_seconds"] == 4.0
    counts.clear()
    assert counts.totals()["request_seconds"] == 0


def test_scheduling_delay_is_reported_as_percentiles(counts):
    assert counts.totals()["late_ms"] == {"p50": None, "p99": None, "max": 0.0}
    for late_ms in range(1, 101):
        counts.began(False)
        counts.ended(Fate.ANSWERED, 200, late_ms / 1000)
    assert counts.totals()["late_ms"] == {"p50": 50.0, "p99": 99.0, "max": 100.0}


def test_reset_keeps_requests_in_flight(counts, clock):
    counts.began(True)
    clock.now += 5
    counts.clear()
    counts.ended(Fate.FAILED, 503, 0.0)
    totals = counts.totals()
    assert (totals["total_requests"], totals["in_flight_before"], totals["in_flight"]) == (0, 1, 0)
    assert (totals["fates"], totals["503"]) == ({"failed": 1}, 1)
