"""When the machine is too busy to measure anything: said after a few trials, not at the end of the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from loadtests.analyse.reasons import Reason, machines_own
from loadtests.errors import UserError
from loadtests.observe.top_processes import Takers
from loadtests.records import Trial

IN_A_ROW = 4  # what lasts that long is no hiccup
OF_OTHER_MACHINES = frozenset({Reason.clients_differ, Reason.service_swapped, Reason.service_taken})


class TooBusy(UserError):
    """The machine or the generator spoils one trial after another."""


class SpoiledInARow:
    """Is told each trial once it is written, and raises TooBusy where several in a row were spoiled for one reason.

    ``labels`` is how many the study has: where there are several, a row of a single one's is no proof, for a setup that
    is too fast for the generator would spoil its own trials and no others. Trials that were measured by turns are one
    moment, and a bad one may spoil them all: with them it takes a repeat that was spoiled as well. ``takers`` says who
    takes the cores.
    """

    def __init__(self, labels: int, takers: Callable[[], Takers]) -> None:
        self._labels = labels
        self._takers = takers
        self._row: list[Trial] = []
        self._shared: set[Reason] = set()

    def written(self, trial: Trial) -> None:
        """A trial was written. Raises TooBusy."""
        reasons = machines_own(trial.flags)
        if not self._shared & reasons:
            self._row, self._shared = [], reasons
        if not reasons:
            return
        self._row.append(trial)
        self._shared &= reasons
        labels = {one.label for one in self._row}
        moments = {(one.block, one.test, one.attempt) for one in self._row}
        lasting = len(moments) >= IN_A_ROW or any(one.attempt > 1 for one in self._row)
        if len(self._row) >= IN_A_ROW and len(labels) >= min(self._labels, 2) and lasting:
            reason = next(reason for reason in Reason if reason in self._shared)
            # Who takes the servers' cores says nothing of another machine.
            why = reason.remedy if reason in OF_OTHER_MACHINES else self._takers().sentence
            raise TooBusy(f"{len(self._row)} trials in a row are invalid by no setup's fault: {reason.meaning}; {why}")


def attempts_to_go_on(trials: Iterable[Trial], usual: int) -> Mapping[int, int]:
    """How many attempts the places have, by number, that were spoiled each time, when a run goes on: ``usual`` more.

    Others have the usual number: what a setup did wrong it would do again.
    """
    trials = list(trials)
    made = Counter(trial.number for trial in trials)
    done = {trial.number for trial in trials if trial.valid or not machines_own(trial.flags)}
    return {number: count + usual for number, count in made.items() if count >= usual and number not in done}
