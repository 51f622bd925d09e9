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


@pytest.mark.parametrize(
    ("does", "values", "says"),
    [
        ("shout", {}, "the kind of a conversation must be one of connect, idle, echo, broadcast, not 'shout'"),
        ("idle", {}, "idle needs from 1 to 60,000 receivers, not 0"),
        ("broadcast", {"receivers": 70_000}, "broadcast needs from 1 to 60,000 receivers, not 70000"),
        ("echo", {"receivers": 1}, "echo has no receivers. Set the number of 'connections' instead"),
        ("idle", {"receivers": 3, "steps": 4}, "the number of steps must be 1, or for idle connections"),
        ("broadcast", {"receivers": 3, "steps": 2}, "the number of steps must be 1, or for idle connections"),
        ("broadcast", {"receivers": 3, "rooms": 4}, "3 receivers cannot be in 4 rooms. Each room needs a receiver"),
        ("echo", {"rooms": 0}, "1 receiver cannot be in 0 rooms"),
        ("echo", {"size": 0}, "a payload must be from 1 to 1,000,000 bytes, not 0"),
    ],
)
def test_invalid_log_is_refused(does, values, says):
    with pytest.raises(UserError, match=f"^{says}"):
        Conversation(does, **values)


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


def test_conversation_must_match_protocol():
    with pytest.raises(ValueError, match="The protocol is http"):
        load(protocol="http")
    with pytest.raises(ValueError, match="The protocol is websocket"):
        Load.of_url("http://127.0.0.1:8000/", protocol="websocket")
    assert Conversation("echo", "script", script=Script(SEND)).script == Script(SEND)
    for dialect, script in (("script", None), ("plain", Script(SEND))):
        with pytest.raises(ValueError, match="a script and the dialect script need each other"):
            Conversation("echo", dialect, script=script)


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
        ({"first": ("{'join': 'a'}",)}, f"--ws-first .*: {NO_JSON}: Expecting"),
        ({"first": ("[" * 100_000,)}, f"--ws-first .*: {NO_JSON}"),
        ({"first": ('{"id": "$ID"}',)}, f"{ID_ELSEWHERE}, which"),
        ({"ready": "$ID"}, ID_ELSEWHERE),
        ({"match": "said"}, r"--ws-match 'said': needs \$ID once"),
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


def test_room_is_replaced_everywhere():
    assert Script('42["say","$ID"]', first=("40",), match="$ID").send == '42["say","$ID"]'
    assert Script(SEND).match == "$ID"
    script = Script('["$ROOM", "$ID"]', first=('{"join": "$ROOM"}',), match='"$ROOM", "$ID"', ready='"$ROOM"')
    assert script.names_rooms
    assert not Script(SEND).names_rooms
    assert script.of_room("a") == Script('["a", "$ID"]', first=('{"join": "a"}',), match='"a", "$ID"', ready='"a"')
