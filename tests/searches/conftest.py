from collections.abc import Callable, Sequence

import pytest

from loadtests.searches.judge import Measured, Second


@pytest.fixture
def measured() -> Callable[..., Measured]:
    """Makes a probe at 1,000 requests/s for 10 s; everything is well unless said otherwise."""

    def make(
        p99: float | None = 20.0,
        ok: int = 10_000,
        errors: int = 0,
        backlog: Sequence[int] = (5,) * 10,
        lost: str | None = None,
        generator_limit: str | None = None,
    ) -> Measured:
        before = (0, *backlog[:-1])
        timeline = [Second(1000, 1000 - (now - then)) for then, now in zip(before, backlog, strict=True)]
        return Measured(1000.0, 10_000, ok, errors, {"p99": p99}, timeline, lost, generator_limit)

    return make
