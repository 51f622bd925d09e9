"""Test a short measurement of an origin's delays."""

import dataclasses

import pytest

from tools import origin_accuracy

FOUND = origin_accuracy.OriginAccuracy(
    rate=2000.0, latency_s=1.0, core=0, client_core=1, sent=30_000, ok=30_000, most_in_flight=2140, connections=2140,
    late_p50_ms=0.6, late_p99_ms=1.4, late_max_ms=9.0, seen_p50_ms=1.1, seen_p99_ms=2.5, send_lag_p99_ms=1.2, cpu=0.1,
    client_cpu=0.3,
)  # fmt: skip


@pytest.mark.exhaustive
@pytest.mark.servers
def test_origin_answers_every_request():
    found = origin_accuracy.measure(rate=50, latency_s=0.1, duration_s=1)
    assert found.sent == found.ok == 50
    assert 1 <= found.most_in_flight <= 50
    assert found.late_p50_ms >= 0
    assert found.cpu > 0


def test_late_origin_is_reported():
    assert FOUND.in_time
    assert not dataclasses.replace(FOUND, late_p99_ms=5.0).in_time
    assert not dataclasses.replace(FOUND, seen_p99_ms=5.0).in_time
    assert not dataclasses.replace(FOUND, ok=29_999).in_time
