"""Test a user's WebSockets: the clients, the stored texts, and the setups that serve WebSockets.

The tests also cover the sample project on another host.
"""

import dataclasses
import json
from pathlib import Path

import pytest

from loadtests import setups
from loadtests.errors import UserError
from loadtests.setups.application import sample
from loadtests.setups.application.own_websocket import OwnWebsocket, without_secrets
from loadtests.setups.application.project import Options
from loadtests.setups.application.remote_application import RemoteApplication
from loadtests.workload import Conversation, Load, Request
from loadtests.workload.script import Script

GIVEN = {"path": "/ws/chat/", "send": '{"text": "$ID"}'}
SECRETS = {
    "cookie": ["sessionid=hunter2", "csrftoken=swordfish"],
    "header": ["X-Token: opensesame"],
    "subprotocol": ["chat.v1", "hunter2"],
}


@pytest.fixture
def application():
    return dataclasses.replace(sample(), own=True, websocket=OwnWebsocket.parse(GIVEN))


def echo(origin="http://127.0.0.1:1", rooms=1):
    does, receivers = ("echo", 0) if rooms == 1 else ("broadcast", rooms)
    conversation = Conversation(does, prefix="/ws/", size=100, receivers=receivers, rooms=rooms)
    return Load(origin, (Request("GET /ws/"),), protocol="websocket", conversation=conversation, rate=5.0)


def test_load_uses_own_messages(application):
    found = application.with_script(echo())
    assert found.conversation == Conversation(
        "echo", dialect="script", prefix="/ws/chat/", size=100, script=Script('{"text": "$ID"}')
    )
    assert found.requests == (Request("GET /ws/chat/", path="/ws/chat/"),)
    over_http = Load("http://127.0.0.1:1", (Request("GET /"),), rate=5.0)
    assert application.with_script(over_http) == over_http
    assert sample().with_script(echo()) == echo()


def test_handshake_includes_headers_and_origin():
    own = OwnWebsocket.parse({**GIVEN, **SECRETS})
    headers = (("X-Token", "opensesame"), ("Cookie", "sessionid=hunter2; csrftoken=swordfish"))
    of_host = (("Host", "chat.example"), ("Origin", "http://chat.example"))
    assert own.request(None).headers == headers
    assert own.request("chat.example").headers == (*of_host, *headers)
    assert own.script.subprotocols == ("chat.v1", "hunter2")
    other = OwnWebsocket.parse({**GIVEN, "header": ["origin: http://other.example"]})
    assert other.request("chat.example").headers == (("Host", "chat.example"), ("origin", "http://other.example"))


def test_missing_script_is_refused(application):
    with pytest.raises(UserError, match=r"it uses WebSockets\. Add --ws-path and --ws-send"):
        dataclasses.replace(application, websocket=None).with_script(echo())
    with pytest.raises(UserError, match=r"there are 2 rooms. Write \$ROOM instead of the name of a room"):
        application.with_script(echo(rooms=2))
    own = OwnWebsocket.parse({**GIVEN, "path": "/ws/chat/$ROOM/"})
    assert dataclasses.replace(application, websocket=own).with_script(echo(rooms=2)).conversation.rooms == 2


@pytest.mark.parametrize("name", ["uvicorn", "daphne", "hypercorn", "granian-asgi", "gunicorn", "uwsgi"])
def test_only_asgi_setups_serve_websockets(application, name):
    [setup] = setups.find([name])
    assert bool(application.refused(setup, {"websocket", "json-consumer"})) is (name in ("gunicorn", "uwsgi"))


NOT_A_COOKIE = "--ws-cookie: write a name and its value as a browser sends them: "


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"path": "/ws/"}, r"--ws-path also needs --ws-send: --ws-path /ws/chat/ --ws-send .*\$ID"),
        ({"cookie": ["a=b"]}, "--ws-cookie also needs --ws-path"),
        ({**GIVEN, "path": "ws/chat/"}, "--ws-path: must start with '/', not 'ws/chat/'"),
        ({**GIVEN, "path": "/ws/a b/"}, "--ws-path: '/ws/a b/' must be percent-encoded"),
        ({**GIVEN, "header": ["hunter2"]}, "--ws-header: write a name, a colon and a value: 'X-Token: abc'"),
        ({**GIVEN, "header": ["X Y: hunter2"]}, "--ws-header: .*X Y"),
        ({**GIVEN, "header": ["Sec-WebSocket-Protocol: a"]}, "For a subprotocol, use --ws-subprotocol"),
        ({**GIVEN, "header": ["Connection: close"]}, "--ws-header: Connection is set by the load generator"),
        ({**GIVEN, "cookie": ["hunter2"]}, NOT_A_COOKIE),
        ({**GIVEN, "cookie": ["a=hunter2; b=c"]}, NOT_A_COOKIE),
        ({**GIVEN, "cookie": ["a=b"], "header": ["cookie: a=hunter2"]}, "the cookie is also in --ws-cookie"),
    ],
)
def test_error_shows_no_value(given, says):
    with pytest.raises(UserError, match=says) as error:
        OwnWebsocket.parse(given)
    assert "hunter2" not in str(error.value)
    assert "\n" not in str(error.value)


def test_record_has_no_cookie_value():
    said = {**GIVEN, "first": ['{"join": "a"}'], "ready": '"joined"'}
    kept = Options(Path("/site"), websocket=OwnWebsocket.parse({**said, **SECRETS})).to_dict()
    secrets = {"cookie": ["sessionid=REPLACED", "csrftoken=REPLACED"], "header": ["X-Token:REPLACED"]}
    secrets["subprotocol"] = ["REPLACED", "REPLACED"]
    assert kept == {"app": "/site", "websocket": {**said, **secrets}}
    with pytest.raises(UserError, match="the run used --ws-cookie, whose value isn't in the run folder"):
        Options.from_dict(kept)
    without = Options(Path("/site"), websocket=OwnWebsocket.parse({**said, "match": '"text": "$ID"'}))
    assert Options.from_dict(json.loads(json.dumps(without.to_dict()))) == without


def test_recorded_command_has_no_secret():
    words = ["run", "--app", "site", "--ws-cookie", "sessionid=hunter2", "--ws-header", "X-Token: opensesame=1"]
    glued = [
        "--ws-subprotocol=hunter2",
        "--ws-cookie=a=b=hunter2",
        "--ws-header=Authorization: Bearer x",
        "--ws-send",
        '{"a": "$ID"}',
    ]
    assert without_secrets([*words, *glued]) == [
        "run", "--app", "site", "--ws-cookie", "sessionid=REPLACED", "--ws-header", "X-Token:REPLACED",
        "--ws-subprotocol=REPLACED",
        "--ws-cookie=a=REPLACED", "--ws-header=Authorization:REPLACED", "--ws-send", '{"a": "$ID"}',
    ]  # fmt: skip
    assert without_secrets(["--ws-cookie", "hunter2", "--ws-header"]) == ["--ws-cookie", "REPLACED", "--ws-header"]


def test_old_stack_stays_on_this_host():
    class NothingMissing:
        def missing_for(self, setup):
            return None

        def prepare_sample(self):
            raise AssertionError

    remote = RemoteApplication.of(sample(), NothingMissing())
    today, old = setups.find(["gunicorn", "2016-gunicorn"])
    assert remote.obstacle(today) is None
    assert "is only served on the local machine" in remote.obstacle(old)
