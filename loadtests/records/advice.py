"""What a search for good knobs decided on, round by round."""

from __future__ import annotations

import dataclasses

from loadtests.records.bounds import Amount, Name, Ordinal, Positive


@dataclasses.dataclass(frozen=True)
class Round:
    """What to measure: each of ``candidates`` once in each of ``blocks`` (numbers that no round before had)."""

    candidates: tuple[Name, ...]
    blocks: tuple[Ordinal, ...]


@dataclasses.dataclass(frozen=True)
class AdviceOutcome:
    """What a search found. ``ratio`` is that of the pick's figure over the runner-up's, with its 95% interval, from the
    blocks of the last round alone: the finalists were fixed before it, so no selection flatters it. Without a
    runner-up (no other has a value), or a second block that both have, there is none."""

    pick: Name
    runner_up: Name | None = None
    ratio: Positive | None = None
    low: Amount | None = None
    high: Positive | None = None

    @property
    def told_apart(self) -> bool:
        """Whether the difference between the two is more than noise."""
        return self.low is not None and self.high is not None and not self.low <= 1 <= self.high


@dataclasses.dataclass(frozen=True)
class Advice:
    """A search so far: the metric that decides, its rounds, what was found (None until it has ended), how long it took,
    and about how long it would have taken to measure every candidate as often as the finalists, in seconds."""

    metric: str
    rounds: tuple[Round, ...]
    outcome: AdviceOutcome | None
    seconds: Amount
    grid_seconds: Amount
