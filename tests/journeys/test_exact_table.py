"""A journey as a locustfile: alone, and with Locust's own master and workers, it prints our exact table."""

import contextlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from loadtests.files import ROOT
from tests.fixtures.waiting import wait_for

pytestmark = [pytest.mark.servers, pytest.mark.timeout(120)]

LOCUST = Path(sys.executable).with_name("locust")
QUESTIONNAIRE = "loadtests/journeys/questionnaire.py"
FORGETFUL = """
from locust import events
from loadtests.journeys.questionnaire import Questionnaire

def lose(client_id, data):
    if data.get("journeys", {}).get("number") == 2:
        del data["journeys"]

events.init.add_listener(lambda **_: events.report_to_master.add_listener(lose))
"""


def run(*options, file=QUESTIONNAIRE):
    command = [LOCUST, "-f", file, "--users", "4", "--spawn-rate", "100", *options]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def in_all(printed):
    """Planned, answered well, failed, unfinished."""
    return tuple(map(int, re.search(r"^in all +(\d+) +(\d+) +(\d+) +(\d+) ", printed, re.MULTILINE).groups()))


@pytest.mark.parametrize("options", [(), pytest.param(("--processes", "2"), marks=pytest.mark.exhaustive)])
def test_it_prints_what_the_server_counted(survey, options):
    server = survey()
    printed, errors = (process := run("--headless", "-t", "3s", "--host", server.url, *options)).communicate()
    assert process.returncode == 0, errors
    planned, ok, failed, unfinished = in_all(printed)
    assert (planned, failed) == (ok + unfinished, 0)
    # A master ends the test before its users know of it.
    assert 4 < planned <= server.counts["all"] if options else planned == server.counts["all"] > 4
    assert "GET introduction" in printed
    assert "GET      introduction" in errors  # Locust's own


@pytest.fixture
def cluster(survey, unused_port):
    """A function: starts a server, a master with some options, and two workers."""
    with contextlib.ExitStack() as stack:

        def start(*options, file=QUESTIONNAIRE):
            server = survey()
            here = ["--master-bind-host", "127.0.0.1", "--master-bind-port", str(unused_port), "--host", server.url]
            there = ["--worker", "--master-port", str(unused_port)]
            master = run("--master", "--expect-workers", "2", *here, *options, file=file)
            found = [master, *(run(*there, file=file) for _ in range(2))]
            for process in found:
                stack.callback(process.communicate)
                stack.callback(process.kill)
            return server, *found

        yield start


@pytest.mark.exhaustive
def test_a_worker_that_is_killed_and_a_report_that_is_lost_are_missed(cluster, tmp_path):
    (tmp_path / "forgetful.py").write_text(FORGETFUL)
    server, master, worker, _ = cluster("--headless", "-t", "12s", file=tmp_path / "forgetful.py")
    wait_for(lambda: server.counts.get("GET introduction", 0) >= 4, "no load")
    worker.kill()
    printed, _ = master.communicate()
    assert master.returncode == 1
    assert re.search("INCOMPLETE: .* is lost, and with it [0-9]+ requests or more", printed)
    assert len(re.findall("INCOMPLETE: .*: [0-9]+ of its [0-9]+ reports came", printed)) == 1


@pytest.mark.exhaustive
def test_each_load_that_the_page_begins_has_its_table(cluster, free_tcp_port):
    page = ("--web-host", "127.0.0.1", "--web-port", str(free_tcp_port), "--autostart", "-t", "3s", "--autoquit", "1")
    _, master, *_ = cluster(*page)
    printed, errors = master.communicate()
    assert master.returncode == 0, errors
    assert in_all(printed)[1] > 4
