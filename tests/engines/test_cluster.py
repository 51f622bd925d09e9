"""Locust's master and workers as the harness starts them: who takes part, and what is left when one of them is gone."""

import subprocess
import sys
import threading

import psutil
import pytest

from loadtests import journeys
from loadtests.engines import EngineError, cluster, get
from loadtests.engines.generator_process import wait_for as wait_for_event
from loadtests.files import ROOT
from loadtests.workload import Load, Users
from tests.fixtures.waiting import wait_for

pytestmark = [pytest.mark.servers, pytest.mark.exhaustive]

# Knows how Locust speaks, and not the token: says that it is there, then whose it would like to be.
STRANGER = """
import sys
from locust.rpc import Message, zmqrpc
client = zmqrpc.Client("127.0.0.1", int(sys.argv[1]), "stranger")
client.send(Message("client_ready", -1, "stranger"))
client.send(Message("here", {"token": "guessed", "number": 1, "text": '{"event": "here"}'}, "stranger"))
client.send(Message("here", None, "stranger"))
client.send(Message("to-harness", '{"event": "answer", "value": 0}', "stranger"))
print(client.recv().type, client.socket.poll(1000), flush=True)
"""


def started_by_this(module):
    """The processes of a module below this one."""
    found = psutil.Process().children(recursive=True)
    return [one for one in found if one.is_running() and module in one.cmdline()]


def load(survey, **options):
    who = Users(str(journeys.known()["questionnaire"]), "/questionnaire/", (0.01, 0.03), 4)
    return Load.of_url(f"{survey.url}/", users=who, connections=8, timeout_s=5.0, processes=2, **options)


def test_a_stranger_on_the_port_takes_no_part():
    with cluster.workers("generator", 1, None, ()) as [worker]:
        [master] = started_by_this(cluster.MASTER)
        [port] = {one.laddr.port for one in master.net_connections() if one.status == psutil.CONN_LISTEN}
        assert {one.laddr.ip for one in master.net_connections()} == {"127.0.0.1"}
        stranger = [sys.executable, "-c", STRANGER, str(port)]
        assert subprocess.run(stranger, cwd=ROOT, capture_output=True, text=True).stdout.split() == ["ack", "0"]
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
