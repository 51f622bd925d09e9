"""Contention: other load takes the cores. It ends a run once every setup has figures, not at the end of the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from loadtests.analyse.reasons import UNVERIFIED, Reason, is_unverified, machines_own
from loadtests.errors import UserError
from loadtests.observe.top_processes import Takers
from loadtests.records import Trial

IN_A_ROW = 4  # what lasts that long is no hiccup
OF_OTHER_MACHINES = frozenset({Reason.clients_differ, Reason.service_swapped, Reason.service_taken})


class TooBusy(UserError):
    """The machine or the generator makes one trial after another invalid."""


class ContentionWatch:
    """Raises TooBusy where several trials in a row are invalid for one reason that is no setup's fault: at the end of a
    block, and at once where nothing is measured at all.

    A row of a single setup's is no proof where the study has several (``labels``): one that is too fast for the
    generator makes only its own trials invalid. Interleaved trials are one moment in time: with them it takes two
    blocks. ``takers`` finds the programs that take the cores.
    """

    def __init__(self, labels: int, takers: Callable[[], Takers]) -> None:
        self._labels = labels
        self._takers = takers
        self._row: list[Trial] = []
        self._shared: set[Reason] = set()

    def add(self, trial: Trial) -> None:
        """Takes a trial that was written. Raises TooBusy where the last ones leave no figures."""
        reasons = machines_own(trial.flags)
        if not self._shared & reasons:
            self._row, self._shared = [], reasons
        if not reasons:
            return
        self._row.append(trial)
        self._shared &= reasons
        if self._shared.isdisjoint(UNVERIFIED):
            self.require_calm()

    def require_calm(self) -> None:
        """Raises TooBusy where the last trials are such a row."""
        labels = {one.label for one in self._row}
        moments = {(one.block, one.test, one.attempt) for one in self._row}
        lasting = len(moments) >= IN_A_ROW or len({one.block for one in self._row}) > 1
        if len(self._row) >= IN_A_ROW and len(labels) >= min(self._labels, 2) and lasting:
            reason = next(reason for reason in Reason if reason in self._shared)
            # What takes the servers' cores does not explain another machine.
            why = reason.remedy if reason in OF_OTHER_MACHINES else self._takers().sentence
            raise TooBusy(f"{len(self._row)} trials in a row are invalid by no setup's fault: {reason.meaning}; {why}")


def spoiled_whole(last: Iterable[Trial | None]) -> bool:
    """Whether contention or the generator made all of a block's trials invalid, of which these are the last ones."""
    return all(trial is not None and is_unverified(trial.flags) for trial in last)


def attempts_to_go_on(trials: Iterable[Trial], usual: int) -> Mapping[int, int]:
    """The attempts by slot number when a run goes on: ``usual`` more for slots whose every trial contention made
    invalid. What a setup did wrong it would do again."""
    trials = list(trials)
    made = Counter(trial.number for trial in trials)
    done = {trial.number for trial in trials if trial.valid or not machines_own(trial.flags)}
    return {number: count + usual for number, count in made.items() if number not in done}
