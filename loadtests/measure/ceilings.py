"""What each setup holds, in a short search before the first block, where a study leaves a rate to the run.

A rate that one setup cannot hold says nothing of its response times, and a rate far below all ceilings little of a
setup under load. So each setup is asked as much as it answers for a second, all by turns, and the rate is a share of
the least that any of them answered: the same rate for all.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Container

from loadtests.analyse.holding import FAILED, failed_share
from loadtests.analyse.validity import is_setups_own
from loadtests.errors import UserError, said
from loadtests.measure.bench import Bench
from loadtests.measure.seen import TrialPlace
from loadtests.measure.turns import run_by_turns
from loadtests.plan.schedule import Slot
from loadtests.plan.study import Study
from loadtests.store import Ceilings


def settle(bench: Bench, study: Study, left_out: Container[tuple[str, str]]) -> tuple[Study, Ceilings]:
    """The study with the rates that were left to the run, and by test and label the requests per second that each setup
    answered. Raises UserError where none of them answered."""
    tests = {test.name: search for test in study.tests if (search := test.ceiling_test) is not None}
    places = [
        TrialPlace(Slot(1, 1, entry.label, name), entry, test, 1)
        for name, test in tests.items()
        for entry in study.entries
        if (entry.label, name) not in left_out
    ]
    found: Ceilings = {name: {} for name in tests}
    why: dict[str, str] = {}
    for at_once in _together(study, places):
        for trials in run_by_turns(bench, at_once, lambda what, seconds: None):
            for trial in trials:
                why[trial.test] = f": {said(trial.log)}" if trial.log else ""
                # That the machine was disturbed makes it no less a ceiling.
                sound = not is_setups_own(trial.flags) and failed_share([trial]) <= FAILED
                if sound and trial.result is not None and trial.result.rate > 0:
                    found[trial.test][trial.label] = round(trial.result.rate, 1)
    for name, by_label in found.items():
        if not by_label:
            raise UserError(
                f"test {name}: no setup answered well, so there is no rate that all hold{why.get(name, '')}"
            )
    settled = tuple(test.at(min(found[test.name].values())) if test.name in found else test for test in study.tests)
    return dataclasses.replace(study, tests=settled), found


def _together(study: Study, places: list[TrialPlace]) -> list[list[TrialPlace]]:
    """All at once, or setup by setup where the study is measured so."""
    if study.interleave:
        return [places] if places else []
    return [[place for place in places if place.entry == entry] for entry in study.entries]
