"""The benchmark of the engines runs through; what it finds depends on the machine."""

import io
import json

import pytest
from rich.console import Console

from loadtests.engines import benchmark


@pytest.mark.servers
def test_the_benchmark_compares_the_engines(monkeypatch):
    monkeypatch.setattr(benchmark, "ROUNDS", 1)
    monkeypatch.setattr(benchmark, "RATE", 200.0)
    monkeypatch.setattr(benchmark, "CEILING_S", 0.5)
    monkeypatch.setattr(benchmark, "FIXED_S", 0.5)
    report = benchmark.measure()
    figures = json.loads(json.dumps(benchmark.to_json(report)))
    assert [row["engine"] for row in figures["engines"]] == ["openloop", "loadtest"]
    assert figures["engines"][0]["sent"] == 100
    assert figures["ceiling_ratio"] > 0
    printed = io.StringIO()
    benchmark.print_table(report, Console(file=printed, width=120))
    assert "openloop's ceiling is" in printed.getvalue()
