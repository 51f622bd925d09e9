"""Measure each setup's ceiling for a second before the first block, if the rate of a test is ``"auto"``.

If a setup can't sustain a rate, its response times can't be compared. If a rate is far below all ceilings, no setup is
under load. All setups therefore get the same rate, a share of the lowest ceiling. The ceiling of a broadcast counts
delivered messages, because a channel layer accepts more messages than it delivers.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Container, Iterator

from loadtests.errors import UserError, reason_of
from loadtests.measure.bench import Bench
from loadtests.measure.interleaved import run_interleaved
from loadtests.measure.observation import PlannedTrial
from loadtests.observe.cores import pinned
from loadtests.plan.schedule import Slot
from loadtests.plan.study import Study
from loadtests.records import Trial
from loadtests.records.run.run_record import Ceilings
from loadtests.setups.variants import is_deployed
from loadtests.trials.reasons import is_setups_own
from loadtests.trials.refused import failures, refusal


def settle(bench: Bench, study: Study, left_out: Container[tuple[str, str]]) -> tuple[Study, Ceilings]:
    """Return the study with the measured rates, and the ceilings by test and label.

    The unit of a ceiling is the test's sends per second: requests, connections or sent messages.

    Raises:
        UserError: If no setup has a ceiling, or the user's deployed command doesn't start.
    """
    searches = study.ceiling_tests
    distinct = {search.name: search for search in searches.values()}
    found: Ceilings = {name: {} for name in distinct}
    why: dict[str, str] = {}
    planned = [
        PlannedTrial(Slot(1, 1, entry.label, name), entry, search, 1)
        for name, search in distinct.items()
        for entry in study.entries
        if (entry.label, name) not in left_out
    ]
    for trial in _trials(bench, study, planned):
        if trial.evidence.connection_lost:
            raise UserError(trial.log)
        entry = next(one for one in study.entries if one.label == trial.label)
        if trial.evidence.started is False and is_deployed(entry.variant):
            raise UserError(f"{trial.label}: your deployed command did not start: {reason_of(trial.log)}")
        if trial.evidence.contract_differences:
            reason = trial.log.partition("\n")[0]  # the other lines are the server's log
        else:
            reason = refusal(trial.result, distinct[trial.test].sign_in) or failures(trial.result)
            reason = reason or (reason_of(trial.log) if trial.log else "")
        why[trial.test] = f": {trial.label}: {reason}" if reason else ""
        ceiling = distinct[trial.test].sustained_rate(trial)
        # A trial is invalid if there was contention, but its throughput is still a usable ceiling.
        if ceiling and not is_setups_own(trial.flags):
            found[trial.test][trial.label] = round(ceiling, 1)
    for name, by_label in found.items():
        if not by_label:
            raise UserError(f"test {name}: no setup answered successfully, so the rate is unknown{why.get(name, '')}")
    ceilings = {name: found[search.name] for name, search in searches.items()}
    tests = tuple(
        test.at_ceiling(min(ceilings[test.name].values())) if test.name in ceilings else test for test in study.tests
    )
    return dataclasses.replace(study, tests=tests), ceilings


def _trials(bench: Bench, study: Study, planned: list[PlannedTrial]) -> Iterator[Trial]:
    """Measure all setups at once, or one after the other if the study isn't interleaved."""
    labels = list(dict.fromkeys(one.entry.label for one in planned))
    most = max(1, len(labels)) if study.interleave else 1
    with pinned(bench.cores.generator[0]):  # as in the run, this process must not use the servers' cores
        for first in range(0, len(labels), most):
            group = [one for one in planned if one.entry.label in labels[first : first + most]]
            for trials in run_interleaved(bench, group, lambda what, seconds: None):
                yield from trials
