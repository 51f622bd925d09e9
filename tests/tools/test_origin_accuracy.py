"""Test a short measurement of an origin's delays."""

import pytest

from tools import origin_accuracy


@pytest.mark.exhaustive
@pytest.mark.servers
def test_origin_answers_every_request():
    found = origin_accuracy.measure(rate=50, latency_s=0.1, duration_s=1)
    assert found.sent == found.ok == 50
    assert 1 <= found.most_in_flight <= 50
    assert found.late_p50_ms >= 0
    assert found.cpu > 0
