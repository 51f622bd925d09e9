"""A journey as a locustfile: alone, and with Locust's own master and workers, it prints our exact table."""

import contextlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from loadtests.files import ROOT
from loadtests.records.histogram import Histogram
from tests.fixtures.waiting import wait_for

pytestmark = [pytest.mark.servers, pytest.mark.timeout(120)]

LOCUST = Path(sys.executable).with_name("locust")
QUESTIONNAIRE = "loadtests/journeys/questionnaire.py"
# Keeps the time of each answer, what the master is sent, and loses a worker's second report.
OBSERVED = """
import json, os
from pathlib import Path
from locust import events
from loadtests.journeys import exact_table
from loadtests.journeys.questionnaire import Questionnaire
FOLDER = Path({folder!r})
RAW, TABLE = [], exact_table.table

class Kept(exact_table.Recorder):
    def answered(self, step, at, failure):
        super().answered(step, at, failure)
        if failure is None:
            RAW.append(round((at - step.ready) * 1e6))
            (FOLDER / f"raw-{{os.getpid()}}").write_text(json.dumps(RAW))

def table(parts, wrong=()):
    (FOLDER / "parts").write_text(json.dumps(parts))
    return TABLE(parts, wrong)

def lose(client_id, data):
    if {lose} and data.get("journeys", {{}}).get("number") == 2:
        del data["journeys"]

exact_table.Recorder, exact_table.table = Kept, table
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
def cluster(survey, unused_port, tmp_path):
    """A function: starts a master, with some options, and two workers."""
    with contextlib.ExitStack() as stack:

        def start(*options, lose=False):
            file = tmp_path / "observed.py"
            file.write_text(OBSERVED.format(folder=str(tmp_path), lose=lose))
            here = ["--master-bind-host", "127.0.0.1", "--master-bind-port", str(unused_port)]
            there = ["--worker", "--master-port", str(unused_port)]
            master = run("--master", "--expect-workers", "2", "--host", survey().url, *here, *options, file=file)
            found = [master, *(run(*there, file=file) for _ in range(2))]
            for process in found:
                stack.callback(process.communicate)
                stack.callback(process.kill)
            return found

        yield start


HEADLESS = ("--headless", "-t", "8s")


@pytest.mark.exhaustive
def test_the_histograms_of_workers_add_up_by_bucket(cluster, tmp_path):
    master, *_ = cluster(*HEADLESS)
    printed, errors = master.communicate()
    assert master.returncode == 0, errors
    parts = json.loads((tmp_path / "parts").read_text())
    kept = [json.loads(file.read_text()) for file in tmp_path.glob("raw-*")]
    assert len(parts) == len(kept) == 2
    assert all(part["reports"] > 1 for part in parts)
    merged, wanted = Histogram.empty(), Histogram.empty()
    for route in (route for part in parts for route in part["routes"]):
        merged += Histogram.decode(route["response_time"]["hdr"])
    for value in (value for values in kept for value in values):
        wanted.record(value)
    assert merged == wanted
    assert in_all(printed)[1] == wanted.total > 4


@pytest.mark.exhaustive
def test_a_worker_that_is_killed_is_missed(cluster, tmp_path):
    master, worker, _ = cluster(*HEADLESS)
    wait_for(lambda: len(list(tmp_path.glob("raw-*"))) == 2, "no load")
    worker.kill()
    printed, _ = master.communicate()
    assert master.returncode == 1
    assert re.search("INCOMPLETE: .* is lost, and with it [0-9]+ requests or more", printed)


@pytest.mark.exhaustive
def test_a_report_that_is_lost_is_missed(cluster):
    master, *_ = cluster(*HEADLESS, lose=True)
    printed, _ = master.communicate()
    assert master.returncode == 1
    assert len(re.findall("INCOMPLETE: .*: [0-9]+ of its [0-9]+ reports came", printed)) == 2


@pytest.mark.exhaustive
def test_each_load_that_the_page_begins_has_its_table(cluster, free_tcp_port):
    master, *_ = cluster(
        "--web-host", "127.0.0.1", "--web-port", str(free_tcp_port), "--autostart", "-t", "3s", "--autoquit", "1"
    )
    printed, errors = master.communicate()
    assert master.returncode == 0, errors
    assert in_all(printed)[1] > 4
