from collections.abc import Callable, Sequence
from typing import Any

import pytest

from loadtests.measure.searches.judge import ProbeFigures
from loadtests.records import Second


@pytest.fixture
def measured() -> Callable[..., ProbeFigures]:
    """Makes a probe at 1,000 requests/s for 10 s; everything is well unless said otherwise."""

    def make(
        p99: float | None = 20.0,
        ok: int = 10_000,
        errors: int = 0,
        backlog: Sequence[int] = (5,) * 10,
        lost: str | None = None,
        generator_limit: str | None = None,
        over: dict[str, float] | None = None,
        delay_p99: float = 20.0,
        **seen: Any,
    ) -> ProbeFigures:
        before = (0, *backlog[:-1])
        answered = [1000 - (now - then) for then, now in zip(before, backlog, strict=True)]
        timeline = [Second(t, 1000, count, count, 0, None, None) for t, count in enumerate(answered)]
        times = {"p99": p99, "lag p99": p99, "delay p99": delay_p99}
        return ProbeFigures(1000.0, 10_000, ok, errors, times, timeline, lost, generator_limit, over, **seen)

    return make
