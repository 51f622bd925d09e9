"""What each setup holds, in a short search before the first block, where a study leaves a rate to the run.

A rate that one setup cannot hold says nothing of its response times, and a rate far below all ceilings little of a
setup under load. So each setup is asked as much as it answers for a second, all by turns, and the rate is a share of
the least that any of them answered: the same rate for all. Of broadcasts it is what was delivered that counts, in
messages: a layer takes more than it delivers.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Container, Iterator

from loadtests.analyse.reasons import is_setups_own
from loadtests.errors import UserError, reason_of
from loadtests.measure.bench import Bench
from loadtests.measure.interleaved import run_by_turns
from loadtests.measure.observation import TrialPlace
from loadtests.observe.cores import pinned
from loadtests.plan.schedule import Slot
from loadtests.plan.study import Study
from loadtests.records import Trial
from loadtests.records.run.run_record import Ceilings


def settle(bench: Bench, study: Study, left_out: Container[tuple[str, str]]) -> tuple[Study, Ceilings]:
    """The study with the rates that were left to the run, and by test and label what each setup held, in what the test
    sends per second. Raises UserError where none of them held anything."""
    searches = study.ceiling_tests
    places = [
        TrialPlace(Slot(1, 1, entry.label, search.name), entry, search, 1)
        for name, search in searches.items()
        for entry in study.entries
        if name == search.name and (entry.label, name) not in left_out
    ]
    found: Ceilings = {search.name: {} for search in searches.values()}
    asking = {search.name: search for search in searches.values()}
    why: dict[str, str] = {}
    for trial in _trials(bench, study, places):
        if trial.evidence.connection_lost:
            raise UserError(trial.log)
        why[trial.test] = f": {reason_of(trial.log)}" if trial.log else ""
        holds = asking[trial.test].sustained_rate(trial)
        # That the machine was disturbed makes it no less a ceiling.
        if holds and not is_setups_own(trial.flags):
            found[trial.test][trial.label] = round(holds, 1)
    for name, by_label in found.items():
        if not by_label:
            raise UserError(
                f"test {name}: no setup answered well, so there is no rate that all hold{why.get(name, '')}"
            )
    ceilings = {name: found[search.name] for name, search in searches.items()}
    tests = tuple(
        test.at_ceiling(min(ceilings[test.name].values())) if test.name in ceilings else test for test in study.tests
    )
    return dataclasses.replace(study, tests=tests), ceilings


def _trials(bench: Bench, study: Study, places: list[TrialPlace]) -> Iterator[Trial]:
    with pinned(bench.cores.generator[0]):  # off the servers' cores, as in the run itself
        for at_once in _together(study, places):
            for trials in run_by_turns(bench, at_once, lambda what, seconds: None):
                yield from trials


def _together(study: Study, places: list[TrialPlace]) -> list[list[TrialPlace]]:
    """All at once, or as many as may run at once, or setup by setup where the study is measured so."""
    if study.interleave:
        labels = list(dict.fromkeys(place.entry.label for place in places))
        most = study.at_once or max(1, len(labels))
        groups = [labels[first : first + most] for first in range(0, len(labels), most)]
        return [[place for place in places if place.entry.label in group] for group in groups]
    return [[place for place in places if place.entry == entry] for entry in study.entries]
