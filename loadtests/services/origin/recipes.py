"""Recipes: what an origin does on a route, stage by stage."""

from __future__ import annotations

import bisect
import dataclasses
from typing import Any

from loadtests.services.origin.content import Content
from loadtests.services.origin.latencies import Constant, Distribution

EVERYTHING = "/*"
SEED = 2016
AT_ONCE = Constant(0.0)
NOTHING = Content()


@dataclasses.dataclass(frozen=True)
class Stage:
    """What happens from ``at_s`` on, in seconds after the recipe was taken.

    Shares of the requests (0 to 1) are answered with ``failure_status`` instead of ``status`` (``failures``), end with
    their connection (``resets``), or are never answered (``stalls``).
    """

    at_s: float
    status: int = 200
    latency: Distribution = AT_ONCE
    failures: float = 0.0
    failure_status: int = 500
    resets: float = 0.0
    stalls: float = 0.0


@dataclasses.dataclass(frozen=True)
class Recipe:
    """What an origin does on a ``route``: a path, or with ``*`` at its end all that begin with what stands before.

    ``content`` is what it answers with where all is well, or else what the URL ``origin`` answers. ``limit`` is
    how many requests may be in flight at a time. ``gzip`` compresses the content; ``closes`` ends the connection after
    each answer. ``written`` is the recipe as it was given.
    """

    stages: tuple[Stage, ...]
    route: str = EVERYTHING
    content: Content = NOTHING
    origin: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    gzip: bool = False
    closes: bool = False
    limit: int | None = None
    seed: int = SEED
    written: dict[str, Any] = dataclasses.field(default_factory=dict, compare=False)

    def stage(self, elapsed_s: float) -> Stage:
        """The stage at so many seconds after the recipe was taken: the last one that has begun. The last of all
        persists."""
        return self.stages[bisect.bisect_right(self.stages, elapsed_s, key=lambda stage: stage.at_s) - 1]
