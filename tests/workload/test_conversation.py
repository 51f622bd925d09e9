"""Test WebSocket conversations, including those with a user's application. Invalid values are one-line errors."""

import pytest

from loadtests.errors import UserError
from loadtests.workload import Conversation, Feature, Load, Request
from loadtests.workload.script import Script

SEND = '{"text": "$ID"}'
RATE_0 = "the rate 0 is for idle connections only. This load is"


def load(does="echo", talk=None, **options):
    given = {"protocol": "websocket", "rate": 5.0, "duration_s": 10.0, **options}
    return Load("http://127.0.0.1:8000", (Request(does),), conversation=Conversation(does, **talk or {}), **given)


@pytest.mark.parametrize("size", [0, 1_000_001])
def test_size_is_limited(size):
    with pytest.raises(UserError, match="a payload must be from 1 to 1,000,000 bytes, not"):
        Conversation("echo", size=size)


@pytest.mark.parametrize(
    ("does", "talk", "options", "says"),
    [
        ("echo", {}, {"rate": 0}, f"{RATE_0} echo at 0"),
        ("idle", {"receivers": 5}, {"rate": 1.0}, f"{RATE_0} idle at 1.0"),
        ("idle", {"receivers": 1}, {"rate": 0, "processes": 2}, "1 receiver cannot be shared by 2 processes"),
    ],
)
def test_invalid_load_is_refused(does, talk, options, says):
    with pytest.raises(UserError, match=f"^{says}"):
        load(does, talk, **options)


def test_default_connections_depend_on_conversation():
    assert [load(does).connection_count for does in ("echo", "connect")] == [10, 1000]
    assert load("broadcast", {"receivers": 5}).connection_count == 10
    assert load(connections=500).connection_count == 500
    idle = load("idle", {"receivers": 5}, rate=0, processes=3)
    assert (idle.planned, idle.features) == (0, {Feature.FIXED_RATE, Feature.PROCESSES})


NO_JSON = "starts like JSON but is invalid"
ID_ELSEWHERE = r"--ws-first and --ws-ready can't contain \$ID"
ASCII = "--ws-send .*: only a line of ASCII can be sent"


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        ({"send": '{"text": "hello"}'}, r"--ws-send '{\"text\": \"hello\"}': has no \$ID, which identifies a message"),
        ({"send": '{"text": "$ID"'}, f"--ws-send .*: {NO_JSON}: Expecting ',' delimiter"),
        ({"first": ("[" * 100_000,)}, f"--ws-first .*: {NO_JSON}"),
        ({"first": ('{"id": "$ID"}',)}, f"{ID_ELSEWHERE}, which"),
        ({"match": "$ID $ID"}, r"--ws-match .*: needs \$ID once"),
        ({"send": '{"é": "$ID"}'}, rf"{ASCII}; in JSON, write other characters as \\u00e9"),
        ({"send": "a\n$ID"}, ASCII),
        ({"subprotocols": ("a", "b, c")}, "--ws-subprotocol: write one word, such as graphql-ws"),
    ],
)
def test_unprintable_message_is_refused(texts, says):
    with pytest.raises(UserError, match=says) as error:
        Script(**{"send": SEND, **texts})
    assert "\n" not in str(error.value)


def test_room_can_be_in_any_text():
    for text in ("send", "match", "ready"):
        assert Script(**{"send": SEND, text: "$ROOM $ID" if text != "ready" else "$ROOM"}).names_rooms
    assert not Script(SEND).names_rooms
