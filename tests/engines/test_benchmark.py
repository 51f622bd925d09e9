"""The benchmark of the engines runs through; what it finds depends on the machine."""

import json

import pytest

from loadtests.engines import benchmark

pytestmark = pytest.mark.exhaustive


@pytest.mark.servers
def test_the_benchmark_compares_the_engines():
    turns = []
    report = benchmark.measure(
        rounds=1, rate=200.0, ceiling_s=0.5, fixed_s=0.5, connections=100, progress=lambda *turn: turns.append(turn)
    )
    figures = json.loads(json.dumps(report.to_dict()))
    assert turns == [("openloop", 0, 3), ("loadtest", 1, 3), ("openloop, WebSockets", 2, 3)]
    assert [row["engine"] for row in figures["engines"]] == ["openloop", "loadtest"]
    assert figures["engines"][0]["sent"] == 100
    assert figures["engines"][1]["send_lag_p99_ms"] is None
    assert figures["ceiling_ratio"] > 0
    talk = figures["websocket"]
    assert min(talk[name]["rate"] for name in ("echo", "echo_unmasked", "broadcast", "many")) > 0
    assert (talk["many"]["missing"], talk["connections"]) == (0, 100)
