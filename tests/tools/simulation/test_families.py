"""Simulate studies in which the setups of a family share noise."""

import pytest

from tools.simulation.studies import FAMILIES, Scenario, simulate


@pytest.mark.exhaustive
def test_shared_noise_rarely_causes_false_verdicts():
    # When shared noise wasn't considered, 10% of these studies contained a false verdict.
    scenario = Scenario(FAMILIES, noise=FAMILIES, blocks=6, candidates=5, metrics=4)
    assert simulate(scenario, studies=200, seed=7).false <= 0.08
