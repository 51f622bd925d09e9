"""A worker on another machine that knows the token and says something else than it is asked, and one whose master is
silent."""

import re
import signal
import sys

import psutil
import pytest

from loadtests.engines import EngineError, cluster
from loadtests.engines.generator_process import wait_for
from loadtests.errors import UserError
from loadtests.files import ROOT
from loadtests.hosts import deploy
from loadtests.hosts.link import Address

pytestmark = [pytest.mark.servers, pytest.mark.exhaustive]

CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
# Instead of ssh: it runs here, on the port that was to be forwarded.
SSH = """#!/bin/sh
while [ "$1" != -R ]; do shift; done
export PYTHONPATH={root}
exec {python} {folder}/there.py ${{2##*:}}
"""
HOSTILE = """
import json, sys
import locust, msgpack
from locust.rpc import Message, zmqrpc
from loadtests.cluster.keys import encrypt
from loadtests.observe import machine

def say(text):
    client.send(Message("to-harness", text, "hostile"))

here = json.dumps({{"event": "here", "value": {{"files": {{}}, "boot": "another", "machine": machine.describe()}}}})
first = json.loads(sys.stdin.readline())
encrypt(first["token"])
client = zmqrpc.Client("127.0.0.1", int(sys.argv[1]), "hostile")
client.send(Message("client_ready", locust.__version__, "hostile"))
client.recv()
for no_message in (b"", b"\\xc1", b"\\xff\\xfe", b"\\x91" * 10**6, *map(msgpack.dumps, (7, [1, 2], [[], {{}}, 1.5]))):
    client.socket.send(no_message)
for kind in ("client_ready", "heartbeat", "stats", "locustfile", "exception", "spawning_complete", "here", "?"):
    for data in (None, 7, [], {{}}, "x"):
        client.send(Message(kind, data, "stranger"))
client.send(Message("here", {{"number": first["number"], "text": {here}}}, "hostile"))
while True:
    if client.recv().type == "to-worker":
        say({answer})
"""
IMPATIENT = """
import contextlib
from loadtests.hosts import deploy, wire
wire.SILENCE_S = 4.0
deploy.read_marker = lambda folder: deploy.Marker("t", None, None, {})
from loadtests.cluster import worker
worker.exclusive = contextlib.nullcontext
worker.main()
"""
HONEST = """'{"event": "answer", "value": 1.5}'"""


@pytest.fixture
def there(tmp_path, monkeypatch):
    """Has another machine whose worker is this program."""
    monkeypatch.setattr(deploy, "tracked", list)
    ssh = tmp_path / "ssh"
    ssh.write_text(SSH.format(root=ROOT, python=sys.executable, folder=tmp_path))
    ssh.chmod(0o755)
    monkeypatch.setenv("SSH_COMMAND", str(ssh))
    return (tmp_path / "there.py").write_text


def ask():
    with cluster.workers("generator", 0, None, (Address("hostile"),)) as [worker]:
        worker.synchronize()
        return worker


def test_the_honest_one_is_understood(there):
    there(HOSTILE.format(here="here", answer=HONEST))
    assert ask().machine == "ssh://hostile"


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("'{'", "{"),
        ("'7'", "Expected `object`, got `int`"),
        ("'[' * 100_000", "[" * 100),
        (r"""'\x1b[31mred\x1b[0m\n\r\x85'""", r"\x1b[31mred\x1b[0m"),
        (r"""'{"event": "answer", "value": "\\u0000\\u001b[2J"}'""", "Expected `float`, got `str`"),
        ("""'{"event": "answer"}'""", "Expected `float`, got `null`"),
        ("""'{"event": "answer", "value": 1e999}'""", '{"event": "answer", "value": 1e999}'),
        ("""'{"event": "nonsense", "value": ["x\\\\u001b[2J"]}'""", "['x']"),
        ("''", "no text, or one of over 16 MB"),
        ("None", "no text, or one of over 16 MB"),
        ("{'event': ['answer']}", "no text, or one of over 16 MB"),
        ("'A' * (2**24 + 2**17)", "no text, or one of over 16 MB"),
    ],
    ids=range(12),
)
def test_nonsense_is_one_line(there, answer, why):
    there(HOSTILE.format(here="here", answer=answer))
    with pytest.raises(EngineError) as raised:
        ask()
    assert str(raised.value).startswith(f"ssh://hostile answered nonsense: {why}")
    assert len(str(raised.value)) < 300
    assert not CONTROL.search(str(raised.value))


@pytest.mark.parametrize(
    ("here", "why"),
    [
        ("'{'", "answered nonsense: {"),
        ("""'{"event": "here"}'""", "answered nonsense: Expected `object`, got `null`"),
        ("here.replace('{}', '[]')", "answered nonsense: Expected `object`, got `array` - at `$.files`"),
        ("here.replace('{}', '{\"\\x1b\": \"\"}', 1)", "answered nonsense: "),
        (r"""here.replace('{}', '{"a\\u001b[2J": "x"}', 1)""", "does not have what is here: a; bring it"),
    ],
)
def test_who_it_is_may_be_nonsense_as_well(there, here, why):
    there(HOSTILE.format(here=here, answer=HONEST))
    with pytest.raises(UserError) as raised:
        ask()
    assert str(raised.value).startswith(f"ssh://hostile {why}")
    assert not CONTROL.search(str(raised.value))


def test_a_worker_whose_master_is_silent_ends_itself(there):
    there(IMPATIENT)
    with cluster.workers("generator", 0, None, (Address("patient"),)) as [worker]:
        [master] = [one for one in psutil.Process().children() if cluster.MASTER in one.cmdline()]
        master.send_signal(signal.SIGSTOP)
        with pytest.raises(EngineError, match=r"^ssh://patient: the master was not heard of any more$"):
            wait_for([worker], "answer", 60)
