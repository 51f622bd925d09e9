"""What is said over WebSockets of the user's: texts from which a delivery can be recognised."""

import pytest

from loadtests.errors import UserError
from loadtests.workload import Conversation
from loadtests.workload.script import Script

SEND = '{"text": "$ID"}'


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        ({"send": '{"text": "hello"}'}, r"--ws-send '{\"text\": \"hello\"}': has no \$ID, by which a message is known"),
        ({"send": '{"text": "$ID"'}, r"--ws-send .*: begins as JSON does, and is none: Expecting ',' delimiter"),
        (
            {"send": SEND, "first": ("{'join': 'a'}",)},
            "--ws-first .*: begins as JSON does, and is none: Expecting",
        ),
        ({"send": SEND, "first": ("[" * 100_000,)}, "--ws-first .*: begins as JSON does, and is none"),
        (
            {"send": SEND, "first": ('{"id": "$ID"}',)},
            r"--ws-first and --ws-ready have no \$ID: it is that of",
        ),
        ({"send": SEND, "ready": "$ID"}, r"--ws-first and --ws-ready have no \$ID"),
        ({"send": SEND, "match": "said"}, r"--ws-match 'said': needs \$ID once"),
        ({"send": SEND, "match": "$ID $ID"}, r"--ws-match .*: needs \$ID once"),
        ({"send": '{"é": "$ID"}'}, r"--ws-send .*: only a line of ASCII can be sent; in JSON write others as \\u00e9"),
        ({"send": "a\n$ID"}, "--ws-send .*: only a line of ASCII can be sent"),
        ({"send": SEND, "subprotocol": "a, b"}, "--ws-subprotocol 'a, b': is one word, such as graphql-ws"),
    ],
)
def test_what_cannot_be_said_or_shown_is_refused_in_a_line(texts, says):
    with pytest.raises(UserError, match=says) as error:
        Script(**texts)
    assert "\n" not in str(error.value)


def test_what_is_not_json_need_not_be():
    assert Script('42["say","$ID"]', first=("40",), match="$ID").send == '42["say","$ID"]'
    assert Script(SEND).match == "$ID"


def test_a_room_stands_wherever_it_is_named():
    script = Script('["$ROOM", "$ID"]', first=('{"join": "$ROOM"}',), match='"$ROOM", "$ID"', ready='"$ROOM"')
    assert script.names_rooms
    assert not Script(SEND).names_rooms
    assert script.of_room("a") == Script('["a", "$ID"]', first=('{"join": "a"}',), match='"a", "$ID"', ready='"a"')


def test_a_script_is_for_its_dialect():
    assert Conversation("echo", "script", script=Script(SEND)).script == Script(SEND)
    for dialect, script in (("script", None), ("plain", Script(SEND))):
        with pytest.raises(ValueError, match="a script is for the dialect script"):
            Conversation("echo", dialect, script=script)
