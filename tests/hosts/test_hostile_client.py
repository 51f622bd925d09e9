"""A client of the agent that calls what there is not, and sends what is no call: the agent answers, or ends."""

import json
import os
import subprocess
import sys

import pytest

from loadtests.errors import UserError
from loadtests.files import ROOT
from loadtests.hosts import deploy
from loadtests.hosts.agent.calls import AgentCalls, value_of

# As it is started there, without what `hosts prepare` leaves.
AGENT = """
from loadtests.hosts import deploy, wire
deploy.read_marker = lambda folder: deploy.Marker("t", None, None, {})
wire.Lines.__init__.__defaults__ = (10_000,)
from loadtests.hosts.agent import main
import contextlib
main.exclusive = contextlib.nullcontext
main.main(0.0)
"""
WITHIN_S = 60


@pytest.fixture
def calls(monkeypatch):
    monkeypatch.setattr(deploy, "read_marker", lambda folder: deploy.Marker("t", None, None, {}))
    made = AgentCalls()
    yield made
    made.close()


@pytest.mark.parametrize(
    ("method", "arguments", "why"),
    [
        ("no_such", {}, "the agent has no method 'no_such', or not now"),
        ("_started", {}, "the agent has no method '_started', or not now"),
        ("__init__", {}, "the agent has no method '__init__', or not now"),
        ("start", {"number": 1, "group": "gunicorn"}, "the agent has no method 'start', or not now"),
        ("clock", {"x": 1}, "clock: Object contains unknown field `x`"),
        ("calibrate", {}, "calibrate: Object missing required field `core`"),
        ("calibrate", {"core": "0"}, r"calibrate: Expected `int \| null`, got `str`"),
        ("require_free", {"bind": ["x"], "port": 8000}, "require_free: Expected `str`, got `array`"),
        ("supervise", {"env": {"PORT": 1}}, "supervise: Expected `str`, got `int`"),
        ("usage", {"parts": [{"role": 1}], "folder": ""}, "usage: "),
        ("missing_for", {"setup": "../../etc/passwd"}, "unknown setup"),
    ],
)
def test_what_cannot_be_called_is_refused(calls, method, arguments, why):
    with pytest.raises(UserError, match=f"^{why}"):
        value_of(calls, method, arguments)


@pytest.mark.servers
def test_no_path_leads_out_of_a_supervisors_folder(calls):
    number, folder = value_of(calls, "supervise", {"env": {"PORT": "8000"}})
    assert value_of(calls, "has", {"number": number, "file": "supervisord.log"})
    assert not value_of(calls, "has", {"number": number, "file": f"../{os.path.basename(folder)}/supervisord.log"})
    assert not value_of(calls, "has", {"number": number, "file": "/etc/passwd"})
    with pytest.raises(UserError, match=r"^\.\./\.\./etc/passwd of a server cannot be read: No such file"):
        value_of(calls, "read", {"number": number, "file": "../../etc/passwd"})
    assert value_of(calls, "read", {"number": number, "file": "supervisord.log"})
    assert value_of(calls, "usage", {"parts": [], "folder": folder}) == {}


@pytest.fixture
def agent():
    process = subprocess.Popen(
        [sys.executable, "-c", AGENT], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert json.loads(process.stdout.readline()) == {"number": 0, "value": None, "error": None}
    yield process
    process.kill()
    process.communicate()


@pytest.mark.parametrize(
    "last",
    [
        b"{\n",
        b'"\xff"\n',
        b"[" * 5_000 + b"\n",
        b'{"number": -1}\n',
        b'{"number": 2, "method": 7}\n',
        b'{"number": 2, "method": "' + b"x" * 20_000,
        b'{"number": 2, "method": "calibrate", "arguments": {"core": 0}}\n' * 100,
    ],
    ids=["bad JSON", "no text", "nested", "no number", "no name", "a huge frame", "a flood"],
)
def test_it_answers_a_call_and_ends_with_what_is_none(agent, last):
    agent.stdin.write(b'{"number": 1, "method": "start", "arguments": {"number": []}}\n')
    agent.stdin.flush()
    answer = json.loads(agent.stdout.readline())
    assert answer["number"] == 1
    assert answer["error"].startswith("start broke off: TypeError: ")
    agent.stdin.write(last)
    agent.stdin.flush()
    assert agent.wait(WITHIN_S) == 0
