"""Test whether two setups lose deliveries in different shares of their trials.

Losses come in bursts, so the deliveries of a trial depend on each other. Trials are independent, so Fisher's exact test
uses the numbers of trials with losses.
"""

from __future__ import annotations

from dataclasses import dataclass

from loadtests.analyse.results import Results
from loadtests.trials.overload import LOST, lost_share

SIGNIFICANT_P = 0.05


@dataclass(frozen=True)
class LossTest:
    """The numbers of trials with losses, and of all trials, for two setups."""

    losing: tuple[int, int]
    trials: tuple[int, int]

    @property
    def p(self) -> float:
        from scipy import stats  # slow to import

        table = [[losing, trials - losing] for losing, trials in zip(self.losing, self.trials, strict=True)]
        return float(stats.fisher_exact(table).pvalue)

    @property
    def is_significant(self) -> bool:
        return self.p < SIGNIFICANT_P

    def __str__(self) -> str:
        kind = "a significant difference" if self.is_significant else "no significant difference"
        (losing, other_losing), (trials, other_trials) = self.losing, self.trials
        return f"{kind} ({losing} of {trials} trials against {other_losing} of {other_trials}, p = {self.p:.2g})"


def loss_test(results: Results, label: str, other: str, test: str) -> LossTest:
    """Compare the lost deliveries of two setups. The trials of an A/A copy count as trials of the baseline.

    Raises:
        LookupError: If one of the setups has no valid trial.
    """
    found = []
    for name in (label, other):
        labels = [name, results.aa_copy] if name == results.baseline and results.aa_copy else [name]
        trials = [trial for one in labels if (one, test) in results.cells for trial in results.cells[one, test].valid]
        if not trials:
            raise LookupError(f"{name} has no valid trial")
        found.append((sum(lost_share([trial]) > LOST for trial in trials), len(trials)))
    (losing, count), (other_losing, other_count) = found
    return LossTest((losing, other_losing), (count, other_count))
