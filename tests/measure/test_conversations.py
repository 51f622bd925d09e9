"""Test WebSocket trials with a simulated server: the setup's dialect, its contract, and memory at rest."""

import dataclasses
import os

import pytest

from loadtests.errors import UserError
from loadtests.measure import contract_check
from loadtests.observe.processes import Part
from loadtests.trials import readings
from tests.fixtures.bench import a_block, measure, measure_interleaved
from tests.fixtures.conversations import TABLES, holding


@pytest.fixture
def differences():
    """Return the list of differences that the check of the WebSocket contract reports."""
    return []


@pytest.fixture
def bench(bench_of, differences, monkeypatch):
    """Return a function that returns a bench, a study of one setup, and the study's planned trials.

    The arguments are the kinds of tests and the setup's dialect. The attribute ``verified`` lists the dialects and
    prefixes whose contract was checked.
    """
    monkeypatch.setattr("loadtests.measure.trial.STEP_SETTLED_S", 0.0)

    def broken(url, request, conversation, core):
        build.verified.append((conversation.dialect, conversation.prefix))
        return differences

    monkeypatch.setattr(contract_check.websocket_contract, "broken", broken)

    def build(*kinds, dialect="plain", **changes):
        tests = {kind: {**TABLES[kind], "warmup": "500ms", "duration": "1s", **changes} for kind in kinds}
        made, study, planned = a_block(bench_of, {"setups": ["uvicorn"], "tests": tests})
        made.setups["uvicorn"] = dataclasses.replace(made.setups["uvicorn"], dialect=dialect)
        return made, study, planned

    build.verified = []
    return build


@pytest.mark.parametrize("dialect", ["plain", "socket.io"])
def test_trial_uses_dialect_of_its_setup(bench, bench_of, dialect):
    made, _, [place] = bench("echo", dialect=dialect)
    assert measure(made, place).status == "ok"
    [load] = bench_of.engine.loads
    assert (load.conversation.dialect, load.conversation.prefix) == (dialect, "/ws/")
    assert bench.verified == [(dialect, "/ws/")]


def test_broken_conversation_is_not_measured(bench, bench_of, differences):
    """If the setup is the baseline, the error is raised before any file is written."""
    made, study, places = bench("echo")
    assert contract_check.preflight(made, study)[0] == {"echo": ()}
    differences.append("there is no echo")
    for trial in (measure(made, places[0]), *measure_interleaved(made, places)):
        assert [flag.reason for flag in trial.flags] == ["contract_broken"]
        assert "there is no echo" in trial.log
    assert bench_of.engine.loads == []
    with pytest.raises(UserError, match="test echo: there is no echo"):
        contract_check.preflight(made, study)


def test_trials_with_connections_are_interleaved(bench, bench_of):
    made, _, places = bench("connect", "echo", "echo-throughput", "broadcast")
    assert {trial.status for trial in measure_interleaved(made, places)} == {"ok"}
    assert [seconds for _, _, seconds in bench_of.engine.slices] == [0.5] * 2 * 4
    # Slices with messages wait at most a second for lost messages. Connections may use the whole timeout.
    assert bench_of.engine.graces == [None] * 2 + [1.0] * 2 * 3


@pytest.mark.parametrize("kind", ["echo", "echo-throughput", "broadcast"])
def test_lossy_slices_take_limited_time(bench, bench_of, kind):
    bench_of.engine.in_vain = True
    made, _, [place] = bench(kind, duration="3s")
    measure_interleaved(made, [place])
    [load] = bench_of.engine.loads
    assert (load.timeout_s, load.grace) == (10.0, 1.0)
    assert bench_of.engine.graces == [1.0, 0.5, 0.25, 0.125, 0.1, 0.1]
    took_s = sum(settle_s + seconds for _, settle_s, seconds in bench_of.engine.slices) + sum(bench_of.engine.graces)
    assert load.warmup_s + load.grace + took_s <= 1.5 * place.test.planned_interleaved_s


def test_idle_memory_is_read_per_step(bench, bench_of):
    made, _, [place] = bench("idle")
    usage = bench_of.host.usage

    def growing(parts, folder):
        found = usage(parts, folder)
        steps = bench_of.engine.stepped
        rss_mb = 122.0 + 8.0 * steps if steps else 100.0  # the first connection allocates additional memory
        return {pid: dataclasses.replace(one, rss_mb=rss_mb) for pid, one in found.items()}

    bench_of.host.usage = growing
    bench_of.engine.meanwhile = lambda load: {
        **dict.fromkeys(("planned", "sent", "completed", "ok", "rate"), 0),
        "connections": dataclasses.replace(holding(1000), steps=(250, 500, 750, 1000)),
    }
    trial = measure(made, place)
    assert trial.status == "ok"
    assert bench_of.engine.loads[0].conversation.steps == 4
    for process in trial.processes:
        assert (process.idle_rss_mb, process.step_rss_mb) == (100.0, (130.0, 138.0, 146.0, 154.0))
    [metric] = place.test.judged
    assert metric.read(trial) == pytest.approx(8 * 1024 / 250 * len(trial.processes))


@pytest.mark.parametrize("kind", ["idle", "broadcast"])
def test_closing_connections_costs_nothing(bench, bench_of, kind):
    made, _, [place] = bench(kind)
    usage, closed = bench_of.host.usage, []

    def giving_back(parts, folder):
        cpu_s, rss_mb = (7.0, 50.0) if closed else (1.0, 75.0)
        return {pid: dataclasses.replace(one, cpu_s=cpu_s, rss_mb=rss_mb) for pid, one in usage(parts, folder).items()}

    bench_of.host.usage = giving_back
    bench_of.engine.closing = lambda: closed.append(True)
    trial = measure(made, place)
    assert closed == [True]
    assert {(process.cpu_s, process.rss_mb) for process in trial.processes} == {(0.0, 75.0)}


@pytest.mark.parametrize(("role", "flags"), [("web", ["cost_unseen"]), ("redis", [])])
def test_unseen_service_makes_cost_unknown(bench, bench_of, role, flags):
    made, _, [place] = bench("echo")
    made.setups["uvicorn"] = dataclasses.replace(made.setups["uvicorn"], charges=("redis",))
    bench_of.server.parts = lambda: [Part(role, os.getpid())]
    trial = measure(made, place)
    assert (trial.status, [flag.reason for flag in trial.flags]) == ("ok", flags)
    known = {one.metric for one in readings.observations(trial, place.test)}
    assert ("memory_settled_mb" in known) == (not flags)
    assert "p50_ms" in known
