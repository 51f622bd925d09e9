"""Test the messages between the harness and a worker over SSH, and a master that doesn't answer."""

import re
import signal
import sys

import psutil
import pytest

from loadtests.engines import EngineError, cluster
from loadtests.engines.generator_process import wait_for
from loadtests.files import ROOT
from loadtests.hosts.link import Address

pytestmark = [pytest.mark.servers, pytest.mark.exhaustive]

# A stand-in for ssh that runs the worker on this machine. The worker's argument is the forwarded port.
SSH = """#!/bin/sh
while [ "$1" != -R ]; do shift; done
export PYTHONPATH={root}
exec {python} {folder}/there.py ${{2##*:}}
"""
# A worker that answers the messages to its load program with ``answer``, and ends soon if the master is silent.
THERE = """
import contextlib
from loadtests.hosts import wire
wire.SILENCE_S = 4.0
from loadtests.cluster import worker
worker.exclusive = contextlib.nullcontext
real = worker.Carrier._do
def do(self, message):
    if "look" in message:
        self._runner.send_message(worker.TO_HARNESS, {answer})
    else:
        real(self, message)
worker.Carrier._do = do
worker.main()
"""


@pytest.fixture
def hostile(tmp_path, monkeypatch):
    """Return a function that starts a worker with this answer and yields the worker."""
    ssh = tmp_path / "ssh"
    ssh.write_text(SSH.format(root=ROOT, python=sys.executable, folder=tmp_path))
    ssh.chmod(0o755)
    monkeypatch.setenv("SSH_COMMAND", str(ssh))

    def hostile(answer="None"):
        (tmp_path / "there.py").write_text(THERE.format(answer=answer))
        return cluster.workers("generator", None, (Address("hostile"),))

    return hostile


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("'7'", "Expected `object`, got `int`"),
        (r"""'{"event": "answer", "value": "\\u0000\\u001b[2J"}'""", "Expected `float`, got `s"),
        ("'A' * (2**24 + 2**17)", "not text, or longer than 16 MB"),
    ],
    ids=range(3),
)
def test_invalid_worker_answer_is_explained(hostile, answer, why):
    with (
        hostile(answer) as [worker],
        pytest.raises(EngineError, match=f"^ssh://hostile sent an invalid answer: {re.escape(why)}") as raised,
    ):
        worker.synchronize()
    assert len(str(raised.value)) < 300
    assert str(raised.value).isprintable()


def test_worker_exits_if_master_is_silent(hostile):
    with hostile() as [worker]:
        [master] = [one for one in psutil.Process().children() if cluster.MASTER in one.cmdline()]
        master.send_signal(signal.SIGSTOP)
        with pytest.raises(EngineError, match=r"^ssh://hostile: lost the connection to the master$"):
            wait_for([worker], "answer", 60)
