"""Test keys that set the times and connections of HTTP requests."""

import pytest

from loadtests.errors import UserError
from loadtests.plan import kinds
from loadtests.plan import study as studies
from loadtests.workload import Feature, Request
from tests.fixtures.schemas import as_json
from tests.fixtures.studies import a_test, load_of


def latency(**keys):
    return a_test("latency", rate=300, duration="1s", **keys)


@pytest.mark.parametrize(
    ("kind", "keys", "sent"),
    [
        ("latency", {"rate": 300, "duration": "1s"}, "GET / at 300 requests per second"),
        ("capacity", {}, "GET / at the highest rate within p99<50ms"),
    ],
)
def test_arrivals_are_random_by_default(kind, keys, sent):
    test, even = a_test(kind, **keys), a_test(kind, **keys, arrivals="even")
    assert (test.description, load_of(test).arrival_seed) == (f"{sent}, at random moments", 7)
    assert (even.description, load_of(even).arrival_seed) == (sent, None)
    assert Feature.RANDOM_ARRIVALS in load_of(test).features
    assert not test.same_as(even)


def test_replay_follows_recorded_times():
    keys = {"pace": "recorded", "requests": [{"at": [0, 0.5]}]}
    study = studies.parse({"setups": ["gunicorn"], "tests": {"latency": keys}}, "s", "s.toml")
    [test] = study.tests
    assert test.pace.record()["arrivals"] == "recorded"
    assert Feature.RANDOM_ARRIVALS not in load_of(test).features
    assert study.with_requests(test.requests).tests[0].pace.arrivals == "random"
    with pytest.raises(UserError, match="arrivals: is not a known key"):
        a_test("latency", **keys, arrivals="even")


@pytest.mark.parametrize(
    ("keys", "description"),
    [
        ({}, "GET /"),
        ({"clients": "closing"}, "GET /, each over a new connection"),
        ({"clients": "closing", "resumption": False}, "GET /, each over a new connection with a full TLS handshake"),
        ({"protocol": "http2"}, "GET / over HTTP/2"),
        ({"silent": 8}, "GET /, next to 8 silent connections"),
    ],
)
def test_keys_configure_the_connections(keys, description):
    test = latency(**keys)
    load = load_of(test)
    assert [one.closes for one in load.requests] == ["clients" in keys]
    assert (load.protocol, load.resumption) == (keys.get("protocol", "http"), keys.get("resumption", True))
    assert load.silent == keys.get("silent", 0)
    assert test.short_description == description
    assert kinds.from_record(as_json(test.record())) == test
    assert test.record().keys() - latency().record().keys() == keys.keys()
    assert test.same_as(latency()) == (keys == {})
    [other] = test.with_requests((Request("other"),)).requests
    assert other.closes == ("clients" in keys)
