"""Test unexpected answers from hosts, and invalid calls to the agent.

An unexpected answer leads to an error without control sequences. After an invalid call, the agent answers or ends.
"""

import json
import os
import re
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings

from loadtests.errors import UserError
from loadtests.files import ROOT
from loadtests.hosts import deploy
from loadtests.hosts.agent.calls import AgentCalls, value_of
from loadtests.hosts.proof import ProofServer
from loadtests.observe.machine import boot
from tests.fixtures.hostile import changed

EXAMPLES = int(os.environ.get("HYPOTHESIS_EXAMPLES", "5"))
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# A fake ssh program that answers each method with the method's line in the file ``answers``.
SSH = """#!{python} -IS
import json, os, sys
sys.stdin = open(0, encoding="utf-8")
answers = json.load(open({folder!r} + "/answers"))
os.write(1, b'{{"number": 0}}\\n')
for line in sys.stdin:
    call = json.loads(line)
    if call["number"]:
        os.write(1, (answers[call["method"]].replace("NUMBER", str(call["number"])) + "\\n").encode("latin-1"))
"""
HONEST = {
    "begin": {
        "token": "t", "revision": "abc", "dirty": False, "files": {}, "client": "127.0.0.1", "address": "127.0.0.1",
        "boot": boot(), "python": "3.11.7", "parts": [{"role": "agent", "pid": 1}],
    },
    "allot": {"servers": [0], "generator": [1], "machines": 1},
    "prove": None,
    "end_proof": None,
    "doctor": [["ok", "a governor", ""], ["warning", "it is busy", "end the others"]],
}  # fmt: skip


def reply(value):
    return f'{{"number": NUMBER, "value": {json.dumps(value)}}}'


@pytest.fixture
def check(command, tmp_path, monkeypatch, free_port):
    """Return a function that runs `hosts check` for a host with the given answers.

    A fake ssh program imitates the host, with a minimal server on the servers' port.
    """
    ssh = tmp_path / "ssh"
    ssh.write_text(SSH.format(python=sys.executable, folder=str(tmp_path)))
    ssh.chmod(0o755)
    monkeypatch.setenv("SSH_COMMAND", str(ssh))
    monkeypatch.setattr(deploy, "tracked", list)
    monkeypatch.setattr("loadtests.hosts.proof.LONG_BYTES", 1000)
    server = ProofServer("t", "127.0.0.1", free_port)

    def check(**lines):
        honest = {method: reply(value) for method, value in HONEST.items()}
        (tmp_path / "answers").write_text(json.dumps({**honest, **lines}))
        return command("hosts", "check", "ssh://hostile")

    yield check
    server.close()


def last(errors):
    return errors.splitlines()[-1]


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ({"allot": "\x1b[31mred\x1b[0m"}, r"allot: \x1b[31mred\x1b[0m"),
        ({"allot": "[" * 100_000}, f"allot: {'[' * 100}"),
        ({"allot": '{"number": 999, "value": 1}'}, "allot: 999 to call 2"),
        ({"allot": reply(1e300)}, 'allot: {"number": 2, "value": 1e+300}'),
        ({"begin": reply({**HONEST["begin"], "address": "0.0.0.0;"})}, "begin: '0.0.0.0;' does not appear to be an IP"),
        (
            {"doctor": '{"number": NUMBER, "value": "' + "A" * (2**24 + 2**17) + '"}'},
            "doctor: a line longer than 16 MB",
        ),
    ],
    ids=range(6),
)
def test_invalid_answer_is_a_clear_error(check, lines, why):
    code, printed, errors = check(**lines)
    assert (code, printed) == (1, "")
    assert last(errors).startswith(f"error: ssh://hostile sent an invalid answer: {why}")
    assert len(last(errors)) < 300
    assert "Traceback" not in errors


def test_host_texts_contain_no_control_characters(check):
    doctor = [["warning", "\x1b]0;title\x07it\x00 is \x9b1m busy", "\x1b[2Jfix"]]
    code, printed, _ = check(doctor=reply(doctor))
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
def test_random_answer_causes_no_crash(check, answers):
    code, printed, errors = check(**{method: reply(value) for method, value in answers.items() if method in HONEST})
    assert code in (0, 1)
    assert not CONTROL.search(printed + errors)
    assert sum(line.startswith("error: ") for line in errors.splitlines()) == code
    assert len(last(errors)) < 2000


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
        ("boot", {"x": 1}, "boot: Object contains unknown field `x`"),
        ("calibrate", {"core": "0"}, "calibrate: Expected `int`, got `str`"),
        ("missing_for", {"setup": "../../etc/passwd"}, "unknown setup"),
    ],
)
def test_unknown_method_is_refused(calls, method, arguments, why):
    with pytest.raises(UserError, match=f"^{why}"):
        value_of(calls, method, arguments)


@pytest.mark.servers
def test_paths_stay_in_supervisor_folder(calls):
    number, folder = value_of(calls, "begin_supervisor", {"env": {"PORT": "8000"}})
    assert value_of(calls, "has", {"number": number, "file": "supervisord.log"})
    assert not value_of(calls, "has", {"number": number, "file": f"../{os.path.basename(folder)}/supervisord.log"})
    with pytest.raises(UserError, match=r"^the server's file \.\./\.\./etc/passwd can't be read: No such file"):
        value_of(calls, "read", {"number": number, "file": "../../etc/passwd"})
    assert value_of(calls, "read", {"number": number, "file": "supervisord.log"})


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
        b'{"number": 2, "method": "' + b"x" * 20_000,
        b'{"number": 2, "method": "calibrate", "arguments": {"core": 0}}\n' * 100,
    ],
    ids=["bad JSON", "a huge frame", "a flood"],
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
