"""Test a short run of the engines' benchmark."""

import pytest

from tools import engines


@pytest.mark.servers
@pytest.mark.exhaustive
def test_benchmark_measures_all_engines():
    figures = engines.measure(rounds=1, rate=200.0, ceiling_s=0.5, fixed_s=0.5, websockets=100)
    websockets = ["echo", "broadcast", "many connections"]
    assert list(figures) == ["openloop", "loadtest", *websockets]
    assert figures["openloop"]["sent"] == 100
    assert figures["loadtest"]["send_lag_p99_ms"] is None
    assert min(figures[name]["messages_per_s"] for name in websockets) > 0
    assert figures["many connections"]["missing"] == 0
