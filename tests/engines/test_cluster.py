"""Test the messages between the harness and Locust's workers, invalid answers, and a master that doesn't answer."""

import hashlib
import json
import os
import re
import signal
import subprocess
import sys

import psutil
import pytest

from loadtests.engines import EngineError, cluster, load_token
from loadtests.engines.expected import Expected
from loadtests.engines.generator_process import wait_for
from loadtests.errors import UserError
from loadtests.files import ROOT
from loadtests.hosts import deploy
from loadtests.hosts.link import Address

pytestmark = [pytest.mark.servers, pytest.mark.exhaustive]

# A stand-in for node that prints the hash of each input line, or a long text.
NODE = """#!/bin/sh
[ "$1" = --version ] && echo v99.0.0 && exit
exec {python} -c '
import hashlib, json, sys
for line in sys.stdin.buffer:
    says = "A" * json.loads(line).get("says", 0) or hashlib.sha256(line).hexdigest()
    print(json.dumps({{"event": "read", "value": says}}), flush=True)'
"""


@pytest.fixture
def with_node(tmp_path, monkeypatch):
    """Put the stand-in for node on PATH."""
    (tmp_path / "node").write_text(NODE.format(python=sys.executable))
    (tmp_path / "node").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")


def test_job_is_forwarded_unchanged(with_node):
    job = {"name": "a\x00\x1b[31m\t\u2028é", "body": "A" * 2**25, "seed": 2**63}
    with cluster.workers("generator", 1, None, ()) as [worker]:
        worker.write(job)
        wait_for([worker], "read", 60)
        assert worker.last["value"] == hashlib.sha256(json.dumps(job).encode() + b"\n").hexdigest()


@pytest.mark.parametrize("mb", [17, 40])
def test_oversized_message_ends_the_load(with_node, mb):
    with cluster.workers("generator", 1, None, ()) as [worker]:
        worker.write({"says": mb * 2**20})
        too_much = f"^a worker sent an invalid answer: the event read is {mb} MB; at most 16 MB are allowed$"
        with pytest.raises(EngineError, match=too_much):
            wait_for([worker], "read", 60)


CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
# A stand-in for ssh that runs the worker on this machine. The worker's argument is the forwarded port.
SSH = """#!/bin/sh
while [ "$1" != -R ]; do shift; done
export PYTHONPATH={root}
exec {python} {folder}/there.py ${{2##*:}}
"""
HOSTILE = """
import json, sys
import locust, msgpack
from locust.rpc import Message, zmqrpc
from loadtests.cluster.keys import secure_worker
from loadtests.observe import machine

def say(text):
    client.send(Message("to-harness", text, "hostile"))

here = json.dumps({{"event": "here", "value": {{"files": {{}}, "boot": "another", "machine": machine.describe()}}}})
first = json.loads(sys.stdin.readline())
secure_worker(first["token"])
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
MISNUMBERED = """
import sys
import locust
from locust.rpc import Message, zmqrpc
from loadtests.cluster.keys import secure_worker

port, token = sys.argv[1:]
secure_worker(token)
client = zmqrpc.Client("127.0.0.1", int(port), "hostile")
client.send(Message("client_ready", locust.__version__, "hostile"))
client.recv()
client.send(Message("here", {"number": 9999, "text": '{"event": "here"}'}, "hostile"))
print(client.recv().data)
"""
HONEST = """'{"event": "answer", "value": 1.5}'"""


@pytest.fixture
def there(tmp_path, monkeypatch):
    """Return a function that writes the program that the worker on the other machine runs."""
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


NONSENSE = "sent an invalid answer: "
NO_TEXT = f"{NONSENSE}not text, or longer than 16 MB"


@pytest.mark.parametrize(
    ("which", "text", "why"),
    [
        ("answer", "'{'", NONSENSE + "{"),
        ("answer", "'7'", NONSENSE + "Expected `object`, got `int`"),
        ("answer", "'[' * 100_000", NONSENSE + "[" * 100),
        ("answer", r"""'\x1b[31mred\x1b[0m\n\r\x85'""", NONSENSE + r"\x1b[31mred\x1b[0m"),
        ("answer", r"""'{"event": "answer", "value": "\\u0000\\u001b[2J"}'""", NONSENSE + "Expected `float`, got `s"),
        ("answer", """'{"event": "answer"}'""", NONSENSE + "Expected `float`, got `null`"),
        ("answer", """'{"event": "answer", "value": 1e999}'""", NONSENSE + '{"event": "answer", "value": 1e999}'),
        ("answer", """'{"event": "nonsense", "value": ["x\\\\u001b[2J"]}'""", NONSENSE + "['x']"),
        ("answer", "None", NO_TEXT),
        ("answer", "{'event': ['answer']}", NO_TEXT),
        ("answer", "'A' * (2**24 + 2**17)", NO_TEXT),
        ("here", "'{'", NONSENSE + "{"),
        ("here", """'{"event": "here"}'""", NONSENSE + "Expected `object`, got `null`"),
        ("here", "here.replace('{}', '[]')", NONSENSE + "Expected `object`, got `array` - at `$.files`"),
        ("here", "here.replace('{}', '{\"\\x1b\": \"\"}', 1)", NONSENSE),
        (
            "here",
            r"""here.replace('{}', '{"a\\u001b[2J": "x"}', 1)""",
            "files differ from this machine's: a. Copy them",
        ),
    ],
    ids=range(16),
)
def test_invalid_worker_answer_is_explained(there, which, text, why):
    there(HOSTILE.format(**{"here": "here", "answer": HONEST, which: text}))
    with pytest.raises(UserError) as raised:
        ask()
    assert re.match(f"ssh://hostile:? {re.escape(why)}", str(raised.value))
    assert len(str(raised.value)) < 300
    assert not CONTROL.search(str(raised.value))


def test_worker_exits_if_master_is_silent(there):
    there(IMPATIENT)
    with cluster.workers("generator", 0, None, (Address("patient"),)) as [worker]:
        [master] = [one for one in psutil.Process().children() if cluster.MASTER in one.cmdline()]
        master.send_signal(signal.SIGSTOP)
        with pytest.raises(EngineError, match=r"^ssh://patient: lost the connection to the master$"):
            wait_for([worker], "answer", 60)


def test_worker_with_wrong_number_is_refused(request, monkeypatch, free_port, tmp_path):
    (file := tmp_path / "token").write_text(token := load_token.drawn())
    monkeypatch.setenv("LOAD_TOKEN_FILE", str(file))
    command = [sys.executable, "-c", MISNUMBERED, str(free_port), load_token.of_workers(token)]
    expected = Expected(1, "127.0.0.1", free_port, 5)
    worker = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    request.addfinalizer(worker.kill)  # on a busy machine, a worker that starts after the run's end would wait forever
    with (
        pytest.raises(UserError, match=r"^only 0 of 1 worker connected within 5 s$"),
        expected.working("generator", None),
    ):
        pass
    assert json.loads(worker.communicate(timeout=60)[0])["end"].startswith("the run refuses this worker")
