"""Test runs of the documentation's chat example over WebSockets, and their one-line errors."""

import json
import shutil

import pytest

from loadtests import setups
from loadtests.files import ROOT

pytestmark = [
    pytest.mark.servers,
    pytest.mark.skipif(
        any(setups.missing(setup) for setup in setups.find(["uvicorn", "uvicorn-channels"])),
        reason="Uvicorn or Channels is not installed",
    ),
]

STUDY = """
setups = ["uvicorn", "gunicorn"]
blocks = 1
[tests.echo]
rate = 40
connections = 4
duration = "500ms"
warmup = "200ms"
[tests.room]
kind = "broadcast"
rate = 20
receivers = 6
rooms = 2
duration = "500ms"
warmup = "200ms"
"""
JOINING = ("--ws-first", '{"join": "$ROOM"}', "--ws-ready", '"joined"')
TALKING = ("--ws-path", "/ws/chat/", "--ws-send", '{"text": "$ID"}')
# A project can require a cookie and a header.
GUARD = """
class Guarded(Chat):
    async def connect(self):
        headers = dict(self.scope["headers"])
        cookie, token = headers.get(b"cookie", b""), headers.get(b"x-token", b"")
        if b"sessionid=hunter2" in cookie and token == b"opensesame":
            await self.accept(self.scope["subprotocols"][0])
        else:
            await self.close()
"""


@pytest.fixture
def chat(tmp_path):
    """Return the folder of the chat example."""
    return shutil.copytree(ROOT / "docs" / "examples" / "chat", tmp_path / "chat")


@pytest.fixture
def guarded(chat):
    """Return the folder of a chat that accepts only clients with a cookie and a header."""
    consumers, asgi = chat / "chat" / "consumers.py", chat / "chat" / "asgi.py"
    consumers.write_text(consumers.read_text(encoding="utf-8") + GUARD, encoding="utf-8")
    asgi.write_text(asgi.read_text(encoding="utf-8").replace("import Chat", "import Guarded as Chat"), encoding="utf-8")
    return chat


@pytest.fixture
def study(tmp_path):
    file = tmp_path / "small.toml"
    file.write_text(STUDY, encoding="utf-8")
    return file


@pytest.mark.exhaustive
def test_chat_run_stores_no_secret(command, study, guarded, tmp_path):
    folder = tmp_path / "run"
    headers = ("--header", "Cookie: sessionid=hunter2", "--header", "X-Token: opensesame")
    (tmp_path / "site.env").write_text("DB_PASSWORD=hunter2\nMY_FLAG=hunter2")
    project = ("--app", guarded, "--env-file", tmp_path / "site.env", "--setup-command", "env API_TOKEN=hunter2 true")
    given = (*project, "--output", folder, "--ignore-busy", *JOINING, *TALKING, *headers)
    _, printed, errors = command("run", study, *given, "--ws-subprotocol", "hunter2")
    assert "hunter2" not in printed + errors
    assert "gunicorn" in printed, errors  # gunicorn is left out, because it doesn't support WebSockets
    made = [json.loads(file.read_text(encoding="utf-8")) for file in (folder / "trials").glob("*.json")]
    trials = {(trial["setup"], trial["test"]): trial for trial in made}
    assert trials.keys() == {("uvicorn", "echo"), ("uvicorn", "room")}
    for (_, test), trial in trials.items():
        assert trial["result"]["errors"] == {}, trial["log"]
        found = trial["result"]["deliveries"]
        expected = 20 if test == "echo" else 10 * 3
        assert (found["expected"], found["missing"], found["duplicate"], found["stray"]) == (expected, 0, 0, 0)
    about = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    assert about["application"]["options"]["websocket"]["subprotocol"] == ["REPLACED"]
    assert "--header Cookie:REPLACED" in about["command"].replace("'", "")
    for file in folder.rglob("*"):
        if file.is_file():
            assert not any(secret in file.read_bytes() for secret in (b"hunter2", b"opensesame")), file
    assert "WebSockets were tested at /ws/chat/" in (folder / "report.html").read_text(encoding="utf-8")
    code, _, errors = command("run", "--resume", folder)
    assert code == 1
    assert "the run used --ws-subprotocol, whose value isn't in the run folder. Start a new run" in errors


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param(
            ("--ws-first", '{"hello": "$ROOM"}', *TALKING),
            "test echo: /ws/chat/: echo: 2 of 2 messages were not answered within 5 s",
            marks=pytest.mark.exhaustive,  # slow, because the test waits for a timeout
        ),
        ((), "test echo: it uses WebSockets. Add --ws-path and --ws-send"),
        (TALKING[:2], "--ws-path also needs --ws-send"),
        ((*TALKING, "--header", "hunter2"), "--header: write a name, a colon and a value"),
    ],
)
def test_broken_chat_is_reported_early(refused, study, chat, tmp_path, nothing_is_left, arguments, says):
    folder = tmp_path / "run"
    errors = refused("run", study, "--app", chat, "--output", folder, *arguments)
    assert says in errors
    assert "hunter2" not in errors
    assert not folder.exists()


@pytest.mark.exhaustive
def test_websocket_options_select_websocket_study(command, refused, chat):
    code, printed, errors = command("run", "--app", chat, *TALKING, "--dry-run")
    assert (code, errors) == (0, "")
    assert "echoes of 64 B at 50% of the slowest setup's ceiling" in printed
    says = "--ws-path: no test of own-project uses WebSockets. Use the study own-websockets"
    assert says in refused("run", "own-project", "--app", chat, *TALKING)
