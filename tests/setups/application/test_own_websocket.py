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
from loadtests.workload import Conversation, Load, Request
from loadtests.workload.script import Script

GIVEN = {"path": "/ws/chat/", "send": '{"text": "$ID"}'}


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


def test_handshake_includes_headers_and_origin(application):
    with_host = dataclasses.replace(application, host="chat.example", headers=(("Cookie", "sessionid=hunter2"),))
    [request] = with_host.with_script(echo()).requests
    of_host = (("Host", "chat.example"), ("Origin", "http://chat.example"))
    assert sorted(request.headers) == sorted([*of_host, ("Cookie", "sessionid=hunter2")])


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
    assert bool(application.refused(setup, {"websocket"})) is (name in ("gunicorn", "uwsgi"))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"path": "/ws/"}, r"--ws-path also needs --ws-send: --ws-path /ws/chat/ --ws-send .*\$ID"),
        ({"subprotocol": ["hunter2"]}, "--ws-subprotocol also needs --ws-path"),
        ({**GIVEN, "path": "ws/chat/"}, "--ws-path: must start with '/', not 'ws/chat/'"),
    ],
)
def test_error_shows_no_value(given, says):
    with pytest.raises(UserError, match=says) as error:
        OwnWebsocket.parse(given)
    assert "hunter2" not in str(error.value)


def test_record_has_no_subprotocol():
    said = {**GIVEN, "first": ['{"join": "a"}'], "ready": '"joined"'}
    websocket = OwnWebsocket.parse({**said, "subprotocol": ["chat.v1", "hunter2"]})
    kept = Options(Path("/site"), websocket=websocket).to_dict()
    assert kept == {"app": "/site", "websocket": {**said, "subprotocol": ["REPLACED", "REPLACED"]}}
    with pytest.raises(UserError, match="the run used --ws-subprotocol, whose value isn't in the run folder"):
        Options.from_dict(kept)
    without = Options(Path("/site"), websocket=OwnWebsocket.parse({**said, "match": '"text": "$ID"'}))
    assert Options.from_dict(json.loads(json.dumps(without.to_dict()))) == without


def test_recorded_command_has_no_secret():
    words = ["run", "--header", "Authorization: hunter2=1", "--header=Cookie: hunter2", "--header", "X-Tenant: a"]
    assert without_secrets([*words, "--ws-subprotocol=hunter2", "--ws-send", '{"a": "$ID"}', "--ws-subprotocol"]) == [
        "run", "--header", "Authorization:REPLACED", "--header=Cookie:REPLACED", "--header", "X-Tenant: a",
        "--ws-subprotocol=REPLACED", "--ws-send", '{"a": "$ID"}', "--ws-subprotocol",
    ]  # fmt: skip


def test_old_stack_stays_on_this_host():
    class NothingMissing:
        def missing_for(self, setup):
            return None

        def prepare_sample(self):
            raise AssertionError

    remote = dataclasses.replace(sample(), remote=NothingMissing())
    today, old = setups.find(["gunicorn", "2016-gunicorn"])
    assert remote.obstacle(today) is None
    assert "is only served on the local machine" in remote.obstacle(old)
