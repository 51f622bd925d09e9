"""Test observations during a load: CPU time by role, and the recipe that the setup's origin plays."""

import json
import os
import threading
from types import SimpleNamespace

import pytest

from loadtests.hosts.local import Host
from loadtests.measure import load_watch
from loadtests.measure.load_watch import CpuWatch, OriginWatch
from loadtests.measure.observation import LoadObservation, joined
from loadtests.observe.conditions import Conditions
from loadtests.observe.processes import Part
from loadtests.records import CpuSample, Meanwhile, OriginObservation, OriginStage
from loadtests.serve.http import Answer
from loadtests.services.origin import recipes

STUMBLES = json.loads((recipes.SHIPPED / "stumble.json").read_text(encoding="utf-8"))
COUNTS = {"total_requests": 80, "request_seconds": 120.5}


def test_sample_covers_usage_since_previous_sample():
    times, used = iter([10.0, 11.0, 13.0]), {1: 5.0, 2: 7.0, 3: 1.0}
    roles = {1: SimpleNamespace(role="web"), 2: SimpleNamespace(role="web"), 3: SimpleNamespace(role="redis")}
    host = SimpleNamespace(usage=lambda parts, folder: roles, cpu_s=lambda pids: dict(used))
    watch = CpuWatch(host, SimpleNamespace(folder=None, parts=list), lambda: next(times))
    watch.find_processes()
    watch.start()
    used.update({1: 5.5, 2: 7.25})
    watch.sample()
    used.update({3: 2.0})
    del used[2]  # it has ended
    watch.sample()
    watch._sampler.stop()
    assert watch._samples == [CpuSample(1.0, {"redis": 0.0, "web": 0.75}), CpuSample(3.0, {"redis": 0.5, "web": 0.0})]


def test_processes_are_seen_during_load(tmp_path):
    running = SimpleNamespace(folder=tmp_path, parts=lambda: [Part("web", os.getpid())])
    watch = CpuWatch(Host(), running)
    watch.find_processes()
    assert watch.stop() == ()  # the load never starts
    watch.start()
    threading.Event().wait(0.3)
    assert {tuple(sample.cores) for sample in watch.stop()} == {("web",)}


@pytest.fixture
def origin(tmp_path, monkeypatch):
    """Simulate an origin whose address is in the test's folder. Return the list of requests to the origin."""
    asked, says = [], {"current_count": COUNTS, "current_recipe": [STUMBLES]}

    def ask(host, port, request, timeout_s):
        asked.append((host, port, request.path))
        body = json.dumps(says.get(request.path.removeprefix("/_admin/")))
        return Answer(200, "application/json", body.encode())

    monkeypatch.setattr(load_watch, "ask", ask)
    (tmp_path / "origin.url").write_text("http://127.0.0.1:8001\n", encoding="utf-8")
    return asked


def test_origin_restarts_with_the_load(origin, tmp_path):
    watch = OriginWatch(tmp_path)
    watch.restart()
    seen = watch.observed()
    asked = ["/_admin/restart", "/_admin/current_count", "/_admin/current_recipe"]
    assert origin == [("127.0.0.1", 8001, path) for path in asked]
    assert (seen.requests, seen.request_s, seen.steady) == (80, 120.5, False)
    assert [(stage.t, stage.text, stage.healthy, stage.latency_ms) for stage in seen.stages] == [
        (0.0, "200 after 1000 ms", True, 1000.0),
        (20.0, "200 after 5000 ms", True, 5000.0),
        (40.0, "503 after 50 ms", False, 50.0),
        (60.0, "200 after 1000 ms", True, 1000.0),
    ]


@pytest.mark.parametrize("address", ["http://127.0.0.1:1", "nonsense", ""])
def test_unreachable_origin_has_no_record(tmp_path, address):
    (tmp_path / "origin.url").write_text(address, encoding="utf-8")
    watch = OriginWatch(tmp_path)
    watch.restart()
    assert watch.observed() is None


def watched(settle_s, measured_s, stages, *samples):
    seen = Meanwhile(tuple(CpuSample(t, {"web": 0.5}) for t in samples), OriginObservation(stages, 10, 5.0))
    calm = Conditions(1.0, 0.0, 0.0, 0, None)
    return LoadObservation((), {}, {}, calm, meanwhile=seen, settle_s=settle_s, measured_s=measured_s)


def test_joined_slices_use_measured_time():
    slow = OriginStage(0.0, "200 after 1000 ms", True, 1000.0)
    found = joined([watched(0.1, 0.5, (slow,), sampled_s) for sampled_s in (0.61, 0.7)])
    assert [sample.t for sample in found.cpu] == [0.5, 1.0]
    assert found.origin == OriginObservation((OriginStage(-0.1, "200 after 1000 ms", True, 1000.0),), 20, 10.0)
    assert (found.origin.service_s, found.origin.steady) == (0.5, True)
    assert joined([]) == Meanwhile()
