"""Test the errors of a machine's predicted ratios. The predictions use the ratios of the other machines."""

from math import log

import pytest
import transfer

SERVERS = ("granian", "uvicorn")


def machine(*ratios):
    return {(label, "throughput"): log(one) for label, one in zip(SERVERS, ratios, strict=True)}


@pytest.mark.parametrize(
    ("machines", "errors"),
    [
        ([machine(0.5, 2), machine(0.5, 2)], [1, 1, 1, 1]),
        # The geometric mean of ×1 and ×4 predicts ×2 correctly. The mean of ×2 and ×4 predicts ×2.83 instead of ×1.
        ([machine(1, 1), machine(1, 2), machine(1, 4)], [1, 1, 1, 1, 8**0.5, 8**0.5]),
        ([machine(0.5, 2), {("granian", "throughput"): log(1)}], [2, 2]),  # only Granian was measured on both machines
    ],
)
def test_machine_is_predicted_by_other_machines(machines, errors):
    assert transfer.left_out_errors(machines) == pytest.approx([log(one) for one in errors])
