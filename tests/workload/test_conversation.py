"""What is done over WebSockets: what makes no sense is refused in one line."""

import pytest

from loadtests.errors import UserError
from loadtests.workload import Conversation, Feature, Load, Request


def load(does="echo", talk=None, **options):
    given = {"protocol": "websocket", "rate": 5.0, "duration_s": 10.0, **options}
    return Load("http://127.0.0.1:8000", (Request(does),), conversation=Conversation(does, **talk or {}), **given)


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"does": "shout"}, "a conversation does 'shout'; it can do one of: connect, idle, echo, broadcast"),
        ({"does": "idle"}, "idle holds from 1 to 60,000 receivers, not 0"),
        ({"does": "broadcast", "receivers": 70_000}, "broadcast holds from 1 to 60,000 receivers, not 70000"),
        ({"does": "echo", "receivers": 1}, "echo has no receivers; 'connections' is their number"),
        ({"does": "rejoin", "receivers": 3}, "rejoin publishes at a rate, and nothing else does"),
        (
            {"does": "idle", "receivers": 3, "publishes_per_s": 1.0},
            "rejoin publishes at a rate, and nothing else does; this is idle",
        ),
        ({"does": "idle", "receivers": 3, "steps": 4}, "what is opened in steps are idle connections, one at"),
        ({"does": "broadcast", "receivers": 3, "steps": 2}, "what is opened in steps are idle connections"),
        ({"does": "broadcast", "receivers": 3, "rooms": 4}, "3 receivers cannot be in 4 rooms; each room needs one"),
        ({"does": "echo", "rooms": 0}, "1 receiver cannot be in 0 rooms"),
        ({"does": "echo", "size": 0}, "a payload has from 1 to 1,000,000 bytes, not 0"),
    ],
)
def test_nonsense_is_refused(values, says):
    with pytest.raises(UserError) as caught:
        Conversation(**values)
    assert str(caught.value).startswith(says)


@pytest.mark.parametrize(
    ("does", "talk", "options", "says"),
    [
        ("echo", {}, {"rate": 0}, "idle and rejoin have the rate 0, and nothing else has; this is echo at 0"),
        (
            "idle",
            {"receivers": 5},
            {"rate": 1.0},
            "idle and rejoin have the rate 0, and nothing else has; this is idle at 1.0",
        ),
        (
            "idle",
            {"receivers": 5},
            {"rate": None},
            "idle and rejoin have the rate 0, and nothing else has; this is idle at None",
        ),
        ("idle", {"receivers": 1}, {"rate": 0, "processes": 2}, "1 receiver cannot be shared by 2 processes"),
        ("broadcast", {"receivers": 5}, {"processes": 6}, "5 receivers cannot be shared by 6 processes"),
        ("rejoin", {"receivers": 5, "publishes_per_s": 1.0}, {"rate": 0, "processes": 2}, "a rejoin is made by one"),
    ],
)
def test_a_load_that_makes_no_sense_is_refused(does, talk, options, says):
    with pytest.raises(UserError) as caught:
        load(does, talk, **options)
    assert str(caught.value).startswith(says)


def test_a_conversation_and_its_protocol_go_together():
    with pytest.raises(ValueError, match="this is http"):
        load(protocol="http")
    with pytest.raises(ValueError, match="this is websocket"):
        Load.of_url("http://127.0.0.1:8000/", protocol="websocket")


def test_few_connections_speak_unless_it_is_said():
    assert [load(does).connection_count for does in ("echo", "connect")] == [10, 1000]
    assert load("broadcast", {"receivers": 5}).connection_count == 10
    assert load(connections=500).connection_count == 500


def test_a_load_that_only_holds_plans_nothing():
    idle = load("idle", {"receivers": 5}, rate=0, processes=3)
    assert (idle.planned, idle.features) == (0, {Feature.FIXED_RATE, Feature.PROCESSES})
