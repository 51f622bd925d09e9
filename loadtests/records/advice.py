"""Define the record of a search for good values of knobs: its rounds and its outcome."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from typing import Annotated

from loadtests.records.bounds import Amount, Name, Ordinal, Positive, about


@dataclasses.dataclass(frozen=True)
class Round:
    """One round of a search for good values of knobs."""

    candidates: Annotated[tuple[Name, ...], about("The candidates, each of which is measured once per block.")]
    blocks: Annotated[tuple[Ordinal, ...], about("The numbers of the round's blocks. Each round has new blocks.")]


@dataclasses.dataclass(frozen=True)
class AdviceOutcome:
    """The outcome of a search for good values of knobs.

    The interval uses only the last round. The finalists were chosen before that round, so their selection doesn't bias
    the interval.
    """

    pick: Annotated[Name, about("The best candidate.")]
    runner_up: Annotated[Name | None, about("The second-best candidate, or null if there isn't one.")] = None
    ratio: Annotated[Positive | None, about("The ratio of the best figure to the second-best figure.")] = None
    low: Annotated[Amount | None, about("The lower end of the ratio's 95% interval.")] = None
    high: Annotated[Positive | None, about("The upper end of the ratio's 95% interval.")] = None

    @property
    def significant(self) -> bool:
        """Whether the best and the second-best candidate differ significantly."""
        return self.low is not None and self.high is not None and not self.low <= 1 <= self.high


@dataclasses.dataclass(frozen=True)
class Advice:
    """The state of a search for good values of knobs."""

    metric: Annotated[str, about("The metric that decides which candidate is better.")]
    rounds: Annotated[tuple[Round, ...], about("The rounds.")]
    outcome: Annotated[AdviceOutcome | None, about("The outcome, or null until the search has ended.")]
    seconds: Annotated[Amount, about("The duration of the search.")]
    grid_seconds: Annotated[Amount, about("The estimated time to measure every candidate as often as a finalist.")]

    def require_known(self, labels: Collection[str]) -> None:
        """Check that all candidates are in ``labels``.

        Raises:
            ValueError: If a candidate isn't in ``labels``.
        """
        named = [name for one in self.rounds for name in one.candidates]
        named += [name for name in (self.outcome.pick, self.outcome.runner_up) if name] if self.outcome else []
        if unknown := set(named) - set(labels):
            raise ValueError(f"advice: {min(unknown)!r} is not among {', '.join(sorted(labels))}")
