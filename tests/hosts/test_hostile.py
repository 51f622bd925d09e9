"""Test unexpected answers from hosts, and invalid calls to the agent.

An unexpected answer leads to an error without control sequences. After an invalid call, the agent answers or ends.
"""

import itertools
import json
import os
import re
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings

from loadtests.errors import UserError
from loadtests.files import ROOT
from loadtests.hosts import deploy, wire
from loadtests.hosts.agent.calls import AgentCalls, value_of
from loadtests.hosts.error_tail import MAX_BYTES, ErrorTail
from loadtests.hosts.proof import ProofServer
from loadtests.observe import machine
from loadtests.observe.machine import boot
from tests.fixtures.hostile import changed

EXAMPLES = int(os.environ.get("HYPOTHESIS_EXAMPLES", "10"))
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# A fake ssh program that answers each method with the method's line in the file ``answers``.
SSH = """#!{python} -IS
import json, os, sys
sys.stdin = open(0, encoding="utf-8")
answers = json.load(open({folder!r} + "/answers"))
os.write(1, (answers["greeting"] + "\\n").encode(errors="surrogatepass"))
for line in sys.stdin:
    call = json.loads(line)
    if call["number"]:
        os.write(1, (answers[call["method"]].replace("NUMBER", str(call["number"])) + "\\n").encode("latin-1"))
"""
HONEST = {
    "begin": {
        "token": "t", "revision": "abc", "dirty": False, "files": {}, "client": "127.0.0.1", "address": "127.0.0.1",
        "ipv4": "127.0.0.1", "boot": boot(), "python": "3.11.7", "parts": [{"role": "agent", "pid": 1}],
    },
    "versions": {**machine.versions(), "packages": {"Django": "5.2.19"}, "node_packages": {"undici": "7.30.2"}},
    "clock": 1.8e9,
    "allot": {"servers": [0], "generator": [1], "machines": 1},
    "prove": None,
    "end_proof": None,
    "doctor": [["ok", "a governor", ""], ["warning", "it is busy", "end the others"]],
}  # fmt: skip


class FakeHost:
    """A host that a fake ssh program imitates, with a minimal server on the servers' port."""

    where = "ssh://hostile"

    def __init__(self, folder):
        self._file = folder / "answers"
        self.ssh = folder / "ssh"
        self.ssh.write_text(SSH.format(python=sys.executable, folder=str(folder)))
        self.ssh.chmod(0o755)

    def answers(self, greeting='{"number": 0}', **lines):
        honest = {method: reply(value) for method, value in HONEST.items()}
        self._file.write_text(json.dumps({"greeting": greeting, **honest, **lines}))


def reply(value):
    return f'{{"number": NUMBER, "value": {json.dumps(value)}}}'


@pytest.fixture
def host(tmp_path, monkeypatch, free_port):
    made = FakeHost(tmp_path)
    monkeypatch.setenv("SSH_COMMAND", str(made.ssh))
    monkeypatch.setattr(deploy, "tracked", list)
    ours = machine.versions()
    monkeypatch.setattr(machine, "versions", lambda: ours)
    monkeypatch.setattr("loadtests.hosts.proof.LONG_BYTES", 1000)
    server = ProofServer("t", "127.0.0.1", free_port)
    yield made
    server.close()


def last(errors):
    return errors.splitlines()[-1]


WITHOUT_PACKAGES = {name: value for name, value in HONEST["versions"].items() if name != "packages"}


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ({"clock": "{"}, "clock: {"),
        ({"clock": "\x1b[31mred\x1b[0m"}, r"clock: \x1b[31mred\x1b[0m"),
        ({"clock": "\xff\xfe"}, "clock: ��"),
        ({"clock": "[" * 100_000}, f"clock: {'[' * 100}"),
        ({"clock": "7"}, "clock: Expected `object`, got `int`"),
        ({"clock": '{"number": 999, "value": 1}'}, "clock: 999 to call 3"),
        ({"clock": reply("now")}, "clock: Expected `float`, got `str`"),
        ({"clock": reply(1e300)}, 'clock: {"number": 3, "value": 1e+300}'),
        ({"versions": reply(WITHOUT_PACKAGES)}, "versions: Object missing required field `packages`"),
        ({"versions": reply({**HONEST["versions"], "packages": []})}, "versions: Expected `object`, got `array` - at"),
        ({"begin": reply({**HONEST["begin"], "ipv4": "0.0.0.0;"})}, "begin: '0.0.0.0;' does not appear to be an IPv4"),
        ({"doctor": reply([["fatal", "x", "y"]])}, "doctor: Invalid enum value 'fatal' - at `$[0][0]`"),
        (
            {"doctor": '{"number": NUMBER, "value": "' + "A" * (2**24 + 2**17) + '"}'},
            "doctor: a line longer than 16 MB",
        ),
    ],
    ids=range(13),
)
def test_invalid_answer_is_a_clear_error(command, host, lines, why):
    host.answers(**lines)
    code, printed, errors = command("hosts", "check", host.where)
    assert (code, printed) == (1, "")
    assert last(errors).startswith(f"error: ssh://hostile sent an invalid answer: {why}")
    assert len(last(errors)) < 300
    assert "Traceback" not in errors


def test_refusal_is_printed_without_control_characters(command, host):
    host.answers(clock=json.dumps({"number": 3, "error": "no\x00 \x1b[2J\nclock\r" + "A" * 10_000}))
    _, _, errors = command("hosts", "check", host.where)
    assert last(errors) == f"error: ssh://hostile: no clock{'A' * 992}"


def test_host_texts_contain_no_control_characters(command, host):
    doctor = [["warning", "\x1b]0;title\x07it\x00 is \x9b1m busy", "\x1b[2Jfix"]]
    host.answers(doctor=reply(doctor))
    code, printed, _ = command("hosts", "check", host.where)
    assert code == 0
    assert "it is 1m busy" in printed
    assert not CONTROL.search(printed)


@pytest.mark.slow
@settings(
    derandomize=EXAMPLES < 1000,
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(answers=changed(HONEST))
def test_random_answer_causes_no_crash(command, host, answers):
    host.answers(**{method: reply(value) for method, value in answers.items() if method in HONEST})
    code, printed, errors = command("hosts", "check", host.where)
    assert code in (0, 1)
    assert not CONTROL.search(printed + errors)
    assert sum(line.startswith("error: ") for line in errors.splitlines()) == code
    assert len(last(errors)) < 2000


def test_slow_answer_times_out(monkeypatch):
    reading, writing = os.pipe()
    os.write(writing, b"{" * 100)
    monkeypatch.setattr(wire, "READ_BYTES", 1)
    monkeypatch.setattr(wire.time, "monotonic", itertools.count().__next__)
    with pytest.raises(TimeoutError):
        wire.MessageReader(reading).next(wire.AgentReply, 20)
    assert os.read(reading, 100)
    os.close(reading)
    os.close(writing)


def test_only_last_errors_are_kept():
    tail = ErrorTail()
    subprocess.run([sys.executable, "-c", "print('a' * 500_000 + 'the end')"], stdout=tail.descriptor, check=True)
    tail.close()
    assert len(tail.text()) == MAX_BYTES
    assert tail.text().endswith("the end\n")


# Start the agent as on another machine, but without the files that `hosts prepare` copies.
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
        ("no_such", {}, "the agent has no method 'no_such' in its current state"),
        ("__init__", {}, "the agent has no method '__init__' in its current state"),
        ("start", {"number": 1, "group": "gunicorn"}, "the agent has no method 'start' in its current state"),
        ("clock", {"x": 1}, "clock: Object contains unknown field `x`"),
        ("calibrate", {"core": "0"}, r"calibrate: Expected `int \| null`, got `str`"),
        ("supervise", {"env": {"PORT": 1}}, "supervise: Expected `str`, got `int`"),
        ("missing_for", {"setup": "../../etc/passwd"}, "unknown setup"),
    ],
)
def test_unknown_method_is_refused(calls, method, arguments, why):
    with pytest.raises(UserError, match=f"^{why}"):
        value_of(calls, method, arguments)


@pytest.mark.servers
def test_paths_stay_in_supervisor_folder(calls):
    number, folder = value_of(calls, "supervise", {"env": {"PORT": "8000"}})
    assert value_of(calls, "has", {"number": number, "file": "supervisord.log"})
    assert not value_of(calls, "has", {"number": number, "file": f"../{os.path.basename(folder)}/supervisord.log"})
    assert not value_of(calls, "has", {"number": number, "file": "/etc/passwd"})
    with pytest.raises(UserError, match=r"^the server's file \.\./\.\./etc/passwd can't be read: No such file"):
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
def test_agent_ends_after_invalid_call(agent, last):
    agent.stdin.write(b'{"number": 1, "method": "start", "arguments": {"number": []}}\n')
    agent.stdin.flush()
    answer = json.loads(agent.stdout.readline())
    assert answer["number"] == 1
    assert answer["error"].startswith("start failed: TypeError: ")
    agent.stdin.write(last)
    agent.stdin.flush()
    assert agent.wait(WITHIN_S) == 0
