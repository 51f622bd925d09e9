"""Test the warning for an address that other machines can reach."""

import pytest

from loadtests.serve.foreground import exposure_warning


@pytest.mark.parametrize(
    ("bind", "warned"), [("0.0.0.0", True), ("10.0.0.1", True), ("127.0.0.1", False), ("localhost", False)]
)
def test_public_address_prints_a_warning(bind, warned):
    assert bool(exposure_warning(bind)) == warned
