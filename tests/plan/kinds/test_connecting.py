"""How the connections of requests are made: kept or not, resumed or not, HTTP/1.1 or HTTP/2."""

import pytest

from loadtests.errors import UserError
from loadtests.plan import kinds
from loadtests.workload import Request
from tests.fixtures.schemas import as_json
from tests.fixtures.studies import a_test, load_of


def latency(**keys):
    return a_test("latency", rate=50, duration="10s", **keys)


@pytest.mark.parametrize(
    ("keys", "description"),
    [
        ({}, "GET /"),
        ({"clients": "closing"}, "GET /, each over a new connection"),
        (
            {"clients": "closing", "resumption": False},
            "GET /, each over a new connection with a full TLS handshake",
        ),
        ({"protocol": "http2"}, "GET / over HTTP/2"),
    ],
)
def test_the_load_connects_as_the_keys_say_and_its_description_says_it(keys, description):
    test = latency(**keys)
    load = load_of(test)
    assert [one.closes for one in load.requests] == ["clients" in keys]
    assert (load.protocol, load.resumption) == (keys.get("protocol", "http"), keys.get("resumption", True))
    assert test.exact_description == description
    assert kinds.from_record(as_json(test.record())) == test
    assert test.record().keys() - latency().record().keys() == keys.keys()
    assert test.same_as(latency()) == (keys == {})
    [other] = test.with_requests((Request("other"),)).requests
    assert other.closes == ("clients" in keys)


def test_a_closed_loop_over_http2_has_one_connection():
    test = a_test("throughput", duration="1s", connections=8, protocol="http2")
    assert test.condition == "with 8 requests at once over one connection"


@pytest.mark.parametrize("keys", [{"protocol": "http3"}, {"clients": "some"}, {"resumption": "no"}])
def test_another_value_is_refused(keys):
    with pytest.raises(UserError, match=next(iter(keys))):
        latency(**keys)


def test_a_deployment_has_clients_of_both_kinds():
    with pytest.raises(UserError, match="clients"):
        a_test("deployment", way="kill", rate=40, duration="10s", clients="closing")
