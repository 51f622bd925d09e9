"""The rounds of a search for good knobs, and its outcome."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from typing import Annotated

from loadtests.records.bounds import Amount, Name, Ordinal, Positive, about


@dataclasses.dataclass(frozen=True)
class Round:
    """One round of a search."""

    candidates: Annotated[tuple[Name, ...], about("The candidates. Each is measured once in each block.")]
    blocks: Annotated[tuple[Ordinal, ...], about("The numbers of its blocks, which earlier rounds didn't have.")]


@dataclasses.dataclass(frozen=True)
class AdviceOutcome:
    """The outcome of a search.

    The interval uses only the last round. The finalists were chosen before that round, so the selection doesn't bias
    it.
    """

    pick: Annotated[Name, about("The best candidate.")]
    runner_up: Annotated[Name | None, about("The second best, or null if no other has a value.")] = None
    ratio: Annotated[Positive | None, about("The ratio of the winner's figure to the second best.")] = None
    low: Annotated[Amount | None, about("The lower end of the ratio's 95% interval.")] = None
    high: Annotated[Positive | None, about("Its upper end.")] = None

    @property
    def significant(self) -> bool:
        """Whether the two candidates differ significantly."""
        return self.low is not None and self.high is not None and not self.low <= 1 <= self.high


@dataclasses.dataclass(frozen=True)
class Advice:
    """The state of a search."""

    metric: Annotated[str, about("The metric that decides.")]
    rounds: Annotated[tuple[Round, ...], about("Its rounds.")]
    outcome: Annotated[AdviceOutcome | None, about("The outcome, or null until the search has ended.")]
    seconds: Annotated[Amount, about("The duration of the search.")]
    grid_seconds: Annotated[Amount, about("The estimated time to measure every candidate like a finalist.")]

    def require_known(self, labels: Collection[str]) -> None:
        """Check the names of candidates.

        Raises:
            ValueError: If a candidate isn't one of the labels.
        """
        named = [name for one in self.rounds for name in one.candidates]
        named += [name for name in (self.outcome.pick, self.outcome.runner_up) if name] if self.outcome else []
        if unknown := set(named) - set(labels):
            raise ValueError(f"advice: {min(unknown)!r} is not among {', '.join(sorted(labels))}")
