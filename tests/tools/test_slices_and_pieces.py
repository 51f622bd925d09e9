"""Test the tool that compares loads in slices with loads in one piece."""

from math import exp

import pytest

from tools.slices_and_pieces import Value, ratios, table, way


def values(by_pair, metric="p50_ms", setups=("a", "b")):
    """Return the values of pairs of blocks with these log ratios. The machine's speed differs between blocks."""
    found = []
    for block in range(1, 2 * len(by_pair) + 1):
        change = exp(by_pair[(block - 1) // 2]) if way(block) == "slices" else 1.0
        found += [
            Value(3, "rate-73", metric, label, block, way(block), change * level)
            for level, label in enumerate(setups, 1)
        ]
    return found


def test_ratio_is_the_mean_over_pairs():
    (found,) = ratios(values([0.02, 0.04, 0.03, 0.03]))
    assert found.value == pytest.approx(exp(0.03))
    assert found.low < found.value < found.high
    assert found.pairs == 4


@pytest.mark.parametrize(
    ("metric", "by_pair", "within"),
    [
        ("p50_ms", [0.05, 0.06, 0.05, 0.06], "yes"),
        ("cpu_ms_per_request", [0.05, 0.06, 0.05, 0.06], "no"),
        ("p50_ms", [-0.2, 0.2, -0.2, 0.2], "no"),
    ],
)
def test_equivalence_needs_the_whole_interval(metric, by_pair, within):
    (row,) = table(ratios(values(by_pair, metric)), 1.5).rows
    assert row[6] == within
