from math import exp

import numpy as np
import pytest

from loadtests.analyse.observations import Observation


@pytest.fixture
def study():
    """Make the observations of one test from a median value for each label, with noise of ``sd`` in each trial."""

    def make(medians, blocks=10, sd=0.02, seed=1, metric="p50_ms"):
        rng = np.random.default_rng(seed)
        return [
            Observation(label, "latency", block, metric, value * exp(drift + rng.normal(0, sd)))
            for block, drift in enumerate(rng.normal(0, 0.1, blocks), start=1)
            for label, value in medians.items()
        ]

    return make
