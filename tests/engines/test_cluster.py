"""Locust's master and workers as the harness starts them: who takes part, and what is left when one of them is gone."""

import hashlib
import json
import os
import subprocess
import sys
import threading

import psutil
import pytest

from loadtests import journeys
from loadtests.engines import EngineError, cluster, get
from loadtests.engines.generator_process import wait_for as wait_for_event
from loadtests.engines.node import NodeGenerator
from loadtests.files import ROOT
from loadtests.records.histogram import Histogram
from loadtests.workload import Load, Users
from tests.fixtures.waiting import wait_for

pytestmark = [pytest.mark.servers, pytest.mark.exhaustive]

# Knows how Locust speaks, and not the token: says that it is there, then whose it would like to be, and hears nothing.
STRANGER = """
import contextlib, sys
import locust, zmq
from locust.rpc import Message, zmqrpc
client = zmqrpc.Client("127.0.0.1", int(sys.argv[1]), "stranger")
client.socket.linger = 0
for kind, data in (
    ("client_ready", locust.__version__),
    ("here", {"number": 1, "text": '{"event": "here"}'}),
    ("to-harness", '{"event": "answer", "value": 0}'),
):
    with contextlib.suppress(locust.exception.RPCError):  # while a connection that was refused is made anew
        client.send(Message(kind, data, "stranger"))
print(client.socket.poll(1000), flush=True)
"""
# Listens where the master's port should lead, and does not know the token.
IMPOSTOR = """
from locust.rpc import zmqrpc
server = zmqrpc.Server("127.0.0.1", 0)
print(server.port, flush=True)
print(server.socket.poll(3000), flush=True)
"""
# What has the place of node, and prints what it was sent.
NODE = """#!/bin/sh
[ "$1" = --version ] && echo v99.0.0 && exit
exec {python} -c '
import hashlib, json, sys
for line in sys.stdin.buffer:
    says = "A" * json.loads(line).get("says", 0) or hashlib.sha256(line).hexdigest()
    print(json.dumps({{"event": "read", "value": says}}), flush=True)'
"""


def started_by_this(module):
    """The processes of a module below this one."""
    found = psutil.Process().children(recursive=True)
    return [one for one in found if one.is_running() and module in one.cmdline()]


def load(survey, **options):
    who = Users(str(journeys.known()["questionnaire"]), "/questionnaire/", (0.01, 0.03), 4)
    return Load.of_url(f"{survey.url}/", users=who, connections=8, timeout_s=5.0, processes=2, **options)


def test_the_histograms_of_workers_are_added_up_bucket_by_bucket(server):
    openloop = get("openloop")
    load = Load.of_url(f"{server.url}/ok", rate=301, duration_s=1.0, arrival_seed=3, processes=3)
    with cluster.workers("generator", 3, None, ()) as found:
        prepared = NodeGenerator(openloop, found).prepare(load)
        prepared.measure(load.duration_s)
        result = prepared.result()
    assert [part["planned"] for part in prepared.parts] == [101, 100, 100]
    for name in ("response_time", "service_time", "send_lag"):
        raw = [Histogram.decode(part["spreads"][name]["hdr"]).counts for part in prepared.parts]
        merged = Histogram.decode(result.histograms[name]).counts
        assert dict(merged) == {bucket: sum(counts[bucket] for counts in raw) for bucket in set().union(*raw)}
        assert merged.total() == result.ok == 301


@pytest.fixture
def with_node(tmp_path, monkeypatch):
    """Another program has the name of node."""
    (tmp_path / "node").write_text(NODE.format(python=sys.executable))
    (tmp_path / "node").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")


def test_a_job_reaches_the_generator_to_the_letter(with_node):
    job = {"name": "a\x00\x1b[31m\t\u2028é", "body": "A" * 2**25, "seed": 2**63}
    with cluster.workers("generator", 1, None, ()) as [worker]:
        worker.write(job)
        wait_for_event([worker], "read", 60)
        assert worker.last["value"] == hashlib.sha256(json.dumps(job).encode() + b"\n").hexdigest()


@pytest.mark.parametrize("mb", [17, 40])
def test_what_is_too_much_for_a_message_ends_the_load_in_a_line(with_node, mb):
    with cluster.workers("generator", 1, None, ()) as [worker]:
        worker.write({"says": mb * 2**20})
        too_much = f"^a worker answered nonsense: the event read has {mb} MB; at most 16 pass$"
        with pytest.raises(EngineError, match=too_much):
            wait_for_event([worker], "read", 60)


def test_a_worker_says_nothing_to_a_master_who_does_not_know_the_token():
    with subprocess.Popen([sys.executable, "-c", IMPOSTOR], cwd=ROOT, stdout=subprocess.PIPE, text=True) as impostor:
        port = int(impostor.stdout.readline())
        first = {"token": "t", "number": 0, "program": "generator", "core": None, "port": port, "apart": False}
        command = [sys.executable, "-m", cluster.WORKER]
        with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, text=True) as worker:
            worker.stdin.write(f"{json.dumps(first)}\n")
            worker.stdin.flush()
            assert impostor.stdout.readline() == "0\n"
            worker.stdin.close()


def test_a_stranger_on_the_port_takes_no_part():
    with cluster.workers("generator", 1, None, ()) as [worker]:
        [master] = started_by_this(cluster.MASTER)
        [port] = {one.laddr.port for one in master.net_connections() if one.status == psutil.CONN_LISTEN}
        assert {one.laddr.ip for one in master.net_connections()} == {"127.0.0.1"}
        stranger = [sys.executable, "-c", STRANGER, str(port)]
        assert subprocess.run(stranger, cwd=ROOT, capture_output=True, text=True).stdout.split() == ["0"]
        worker.write({"look": 1})
        wait_for_event([worker], "answer", 10)
        assert worker.last["value"] > 0
    wait_for(lambda: not started_by_this(cluster.MASTER) + started_by_this(cluster.WORKER), "it still runs")


@pytest.mark.parametrize("module", [cluster.MASTER, cluster.WORKER])
def test_one_that_is_killed_ends_the_load(survey, module):
    def kill():
        wait_for(lambda: survey.counts.get("all"), "no load")
        started_by_this(module)[0].kill()

    survey = survey()
    threading.Thread(target=kill).start()
    with pytest.raises(EngineError, match="killed by signal 9"):
        get("locust").run(load(survey, duration_s=60))
    wait_for(lambda: not started_by_this(cluster.MASTER) + started_by_this(cluster.WORKER), "it still runs")
