"""``engines``: its table."""

import pytest

from loadtests.commands.engines import print_engines
from loadtests.engines.benchmark import EngineFigures, EnginesReport
from loadtests.engines.websocket_ceilings import WebSocketCeiling, WebSocketFigures


def figures(engine, **others):
    values = {
        "ceiling_rate": 9000.0, "ceiling_rounds": [9000.0], "ceiling_cpu": 0.95, "requests_per_cpu_s": 9500.0,
        "ceiling_server_cpu": 0.4, "planned": 30000, "sent": 30000, "unfinished": 0, "p50_ms": 0.5, "p99_ms": 1.5,
        "send_lag_p99_ms": 0.25, "send_lag_p99_rounds": [0.25], "cpu": 0.6,
    }  # fmt: skip
    return EngineFigures(engine=engine, **{**values, **others})


def websocket():
    def turn(rate, lag_ms):
        return WebSocketCeiling(rate, cpu=0.5, per_cpu_s=2 * rate, server_cpu=0.4, lag_p99_ms=lag_ms, missing=3)

    return WebSocketFigures(turn(40_000.0, None), turn(41_000.0, None), turn(90_000.0, 2.5), turn(20_000.0, 7.25), 5000)


@pytest.fixture
def report():
    loadtest = figures("loadtest", ceiling_rate=3000.0, send_lag_p99_ms=None, send_lag_p99_rounds=[])
    return EnginesReport(6000.0, (0,), 1, [figures("openloop"), loadtest], websocket())


def test_the_engines_stand_side_by_side(report, capsys):
    print_engines(report)
    printed = capsys.readouterr().out
    assert "Load generators on core 1, against a fast server on another" in " ".join(printed.split())
    [lag] = [line for line in printed.splitlines() if "  send lag p99, ms" in line]
    assert lag.replace("│", " ").split()[-2:] == ["0.25", "–"]
    assert "openloop's ceiling is 3.0 times loadtest's; 2 is asked for." in printed
    assert "run this again" not in printed


def test_a_core_that_was_shared_with_others_is_reported(report, capsys):
    shared = [*report.engines[:1], figures("loadtest", ceiling_cpu=0.5)]
    print_engines(EnginesReport(6000.0, (0,), 0, shared, websocket()))
    printed = capsys.readouterr().out
    assert "all on core 0" in printed
    assert "Something else ran on the generators' core: run this again on a quiet machine." in printed


def test_what_the_generator_can_do_over_websockets_is_reported(report, capsys):
    print_engines(report)
    printed = capsys.readouterr().out
    rows = [line.replace("│", " ").split() for line in printed.splitlines()]
    [masked] = [row for row in rows if row[:3] == ["ceiling", "of", "echoes,"]]
    assert masked[-5:] == ["40,000", "50%", "80,000", "–", "40%"]
    assert "20,000 deliveries/s to 5,000 connections are asked for" in printed
    assert "20,000 with 50%, 3 missing." in " ".join(printed.split())
