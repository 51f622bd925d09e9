from collections.abc import Callable
from math import exp

import numpy as np
import pytest

from loadtests.analyse.observations import Observation

Study = Callable[..., list[Observation]]


@pytest.fixture
def study() -> Study:
    """Makes the observations of one test: label -> median value, with noise of ``sd`` in each trial."""

    def make(
        medians: dict[str, float], blocks: int = 10, sd: float = 0.02, seed: int = 1, metric: str = "p50_ms"
    ) -> list[Observation]:
        rng = np.random.default_rng(seed)
        return [
            Observation(label, "latency", block, metric, value * exp(drift + rng.normal(0, sd)))
            for block, drift in enumerate(rng.normal(0, 0.1, blocks), start=1)
            for label, value in medians.items()
        ]

    return make
