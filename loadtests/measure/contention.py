"""End a run early if other load disturbs several trials in a row, but not before every setup has figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from loadtests.errors import UserError
from loadtests.observe.top_processes import Takers
from loadtests.records import Trial
from loadtests.trials.reasons import UNVERIFIED, Reason, is_unverified, machines_own

IN_A_ROW = 4  # four invalid trials in a row aren't a coincidence
OF_OTHER_MACHINES = frozenset({Reason.clients_differ})


class TooBusy(UserError):
    """The machine or the generator made several trials in a row invalid."""


class ContentionWatch:
    """End a run if several trials in a row are invalid for the same reason, and no setup is the cause.

    The run ends at the end of a block, or immediately if nothing can be measured. If the study has several setups,
    invalid trials of a single setup don't end the run, because a setup that is too fast for the generator makes only
    its own trials invalid. Interleaved trials run at the same time, so they end the run only if they belong
    to two blocks or to four attempts at tests.

    Args:
        labels: The number of setups in the study.
        takers: Finds the programs that use the cores.
    """

    def __init__(self, labels: int, takers: Callable[[], Takers]) -> None:
        self._labels = labels
        self._takers = takers
        self._row: list[Trial] = []
        self._shared: set[Reason] = set()

    def add(self, trial: Trial) -> None:
        """Add a completed trial to the trials in a row.

        Raises:
            TooBusy: If several trials in a row are invalid and have no figures.
        """
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
        """Check whether the run can continue after the last trials.

        Raises:
            TooBusy: If the trials are invalid for the same reason, and no setup is the cause.
        """
        labels = {one.label for one in self._row}
        moments = {(one.block, one.test, one.attempt) for one in self._row}
        lasting = len(moments) >= IN_A_ROW or len({one.block for one in self._row}) > 1
        if len(self._row) >= IN_A_ROW and len(labels) >= min(self._labels, 2) and lasting:
            reason = next(reason for reason in Reason if reason in self._shared)
            # Programs on the servers' machine don't explain a problem on another machine.
            why = reason.remedy if reason in OF_OTHER_MACHINES else self._takers().sentence
            raise TooBusy(
                f"{len(self._row)} trials in a row are invalid, and the setups aren't the cause: "
                f"{reason.meaning}; {why}"
            )


def spoiled_whole(last: Iterable[Trial | None]) -> bool:
    """Return whether contention or the generator made all latest trials of a block invalid."""
    return all(trial is not None and is_unverified(trial.flags) for trial in last)


def attempts_to_go_on(trials: Iterable[Trial], usual: int) -> Mapping[int, int]:
    """Return the number of attempts that a resumed run allows, by slot number.

    A slot gets ``usual`` more attempts if contention made all its trials invalid. If a setup made a trial invalid,
    another attempt would fail, too.
    """
    trials = list(trials)
    made = Counter(trial.number for trial in trials)
    done = {trial.number for trial in trials if trial.valid or not machines_own(trial.flags)}
    return {number: count + usual for number, count in made.items() if number not in done}
