"""Find the best of many candidates by successive halving, at a fraction of the cost of measuring all candidates well.

Each round drops the worse half of the candidates and measures the better half twice as often. All rounds therefore take
about the same time, and the search spends most of its time on candidates that differ little (Karnin, Koren and Somekh,
*Almost optimal exploration in multi-armed bandits*, ICML 2013; Jamieson and Talwalkar, *Non-stochastic best arm
identification and hyperparameter optimization*, AISTATS 2016). Later rounds have more blocks instead of longer trials,
because most of the noise is due to differences between starts of a server. The search is a pure state machine: ``next``
returns the next round, and ``record`` receives the measured values, until ``next`` returns an ``AdviceOutcome``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, log

from loadtests.analyse import intervals
from loadtests.analyse.best import ranked
from loadtests.analyse.compare.within import ratios
from loadtests.records import AdviceOutcome, Round

FINALISTS = 2


def plan(candidates: int, first_blocks: int) -> list[tuple[int, int]]:
    """Return the number of candidates and the number of blocks in each round. The last round has two candidates."""
    rounds = [(candidates, first_blocks)]
    while rounds[-1][0] > FINALISTS:
        count, blocks = rounds[-1]
        rounds.append((max(FINALISTS, ceil(count / 2)), 2 * blocks))
    return rounds


def trials(candidates: int, first_blocks: int) -> int:
    """Return the maximum number of trials in the whole search."""
    return sum(count * blocks for count, blocks in plan(candidates, first_blocks))


def grid_trials(candidates: int, first_blocks: int) -> int:
    """Return the number of trials if every candidate were measured as often as the finalists."""
    return candidates * sum(blocks for _, blocks in plan(candidates, first_blocks))


class Halving:
    """A search for the best of two or more ``candidates``. The first round has ``first_blocks`` blocks."""

    def __init__(self, candidates: Sequence[str], first_blocks: int, more_is_better: bool = True) -> None:
        self.left = tuple(candidates)
        self.more_is_better = more_is_better
        self.plan = plan(len(self.left), first_blocks)
        self.rounds: list[Round] = []
        self._logs: dict[str, dict[int, float]] = {candidate: {} for candidate in candidates}

    def next(self) -> Round | AdviceOutcome:
        """Return the next round, or the outcome."""
        done = len(self.rounds)
        if done == len(self.plan) or len(self.left) < FINALISTS:
            return self._outcome()
        first = 1 + sum(len(past.blocks) for past in self.rounds)
        return Round(self.left, tuple(range(first, first + self.plan[done][1])))

    def record(self, measured: Round, values: Mapping[str, Mapping[int, float]]) -> None:
        """Add the measured values of a round, by candidate and block. All values must be above 0.

        A candidate that isn't in ``values`` has failed and is dropped, even if it was good before. A candidate without
        values stays in the search, because contention made its trials invalid.

        Raises:
            ValueError: If no candidate is left.
        """
        for candidate, by_block in values.items():
            self._logs[candidate].update({block: log(value) for block, value in by_block.items()})
        working = [candidate for candidate in measured.candidates if candidate in values]
        ranked = self._ranked(working)
        if not ranked:
            raise ValueError("no candidate has a valid trial with successful answers")
        self.rounds.append(measured)
        room = self.plan[len(self.rounds)][0] if len(self.rounds) < len(self.plan) else len(ranked)
        kept = {*ranked[:room], *(candidate for candidate in working if not self._logs[candidate])}
        self.left = tuple(candidate for candidate in self.left if candidate in kept)

    def _ranked(self, candidates: Sequence[str]) -> list[str]:
        """Sort candidates by all their values, with the best first."""
        return ranked({one: self._logs[one] for one in candidates}, self.more_is_better)

    def _outcome(self) -> AdviceOutcome:
        ranked = self._ranked(self.left)
        if len(ranked) < FINALISTS:
            return AdviceOutcome(ranked[0])
        pick, runner_up = ranked[:FINALISTS]
        last = self.rounds[-1].blocks
        one, other = self._logs[pick], self._logs[runner_up]
        differences = [one[block] - other[block] for block in last if block in one and block in other]
        # A single difference has no interval. If the last round had more than two candidates, the same blocks selected
        # the best two, so their difference is biased.
        if len(differences) < 2 or len(self.rounds[-1].candidates) > FINALISTS:
            return AdviceOutcome(pick, runner_up)
        found = AdviceOutcome(pick, runner_up, *ratios(intervals.alone(differences)))
        if found.significant and found.ratio is not None and (found.ratio > 1) != self.more_is_better:
            # The pick is better in all rounds together, but worse in the last round. Only the last round isn't biased
            # by the selection.
            return AdviceOutcome(runner_up, pick, *ratios(intervals.alone([-one for one in differences])))
        return found
