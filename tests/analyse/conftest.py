from math import exp

import numpy as np
import pytest

from loadtests.trials.observations import Observation


@pytest.fixture
def study():
    """Return a function that creates a test's observations from each label's median, with noise of ``sd`` per trial."""

    def make(medians, blocks=10, sd=0.02, seed=1, metric="p50_ms"):
        rng = np.random.default_rng(seed)
        return [
            Observation(label, "latency", block, metric, value * exp(drift + rng.normal(0, sd)))
            for block, drift in enumerate(rng.normal(0, 0.1, blocks), start=1)
            for label, value in medians.items()
        ]

    return make
