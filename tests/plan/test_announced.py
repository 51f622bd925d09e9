"""Compare the announced time of studies with the measured time of the committed runs.

The searches in older runs took longer than today's searches. Simulated searches with the same results replace the
older searches.
"""

import datetime

import numpy as np
import pytest

from loadtests.files import RESULTS
from loadtests.measure.run import REPEATS
from loadtests.plan.objective import parse
from loadtests.plan.schedule import planned_seconds
from loadtests.records.run.folder import Run
from loadtests.records.run.read import run_record
from tools.simulation.servers import m_m_1_capacity, queue, search

RECORDS = {file.parent.name: run_record(file) for file in RESULTS.glob("reference-*/run.json")}
SEARCHED_LONGER_BEFORE = "2026-11-25T17:34"
LONGER = sorted(
    name
    for name, record in RECORDS.items()
    if record.created < SEARCHED_LONGER_BEFORE and any(test.search for test in record.study.tests)
)
WITHIN = 0.25
# In these runs, the answers of some servers have gaps, which count as pauses. Each pause makes a slice longer.
LONG_SLICES = {f"reference-2026-11-28-{study}" for study in ("two-workers", "free-threading", "granian-backpressure")}
MOST = 10_000.0  # Simulate a faster server with this rate, because searches at higher rates take about the same time.


# In the run of the study crowd, trials end later, because the generator waits for messages that layers have lost.
@pytest.mark.parametrize("name", sorted(RECORDS.keys() - {*LONGER, "reference-2026-11-29-crowd"}))
def test_announced_time_is_close_to_measured_time(name):
    record = RECORDS[name]
    begun, ended = map(datetime.datetime.fromisoformat, (record.created, record.ended))
    announced_s = (1 + REPEATS) * planned_seconds(record.study, record.order)
    within = 0.4 if name in LONG_SLICES else WITHIN
    assert announced_s == pytest.approx((ended - begun).total_seconds(), rel=within)


@pytest.mark.parametrize("name", LONGER)
def test_announced_searches_are_within_25_percent(name):
    announced_s = simulated_s = 0.0
    trials = {(one.label, one.test): one for one in Run.open(RESULTS / name).trials() if one.capacity.known}
    tests = {test.name: test for test in RECORDS[name].study.tests}
    for trial in trials.values():
        test = tests[trial.test]
        _, plan = test.search
        [limit, *_] = test.search[0].limits
        objective = parse(f"p{limit.percentile:g}<{limit.ms:g}ms")
        known = min(trial.capacity.known, MOST)
        slack = 1e6 - m_m_1_capacity(1e6, objective)
        simulated_s += search(queue(known + slack, objective), plan, objective, np.random.default_rng(1)).seconds
        announced_s += test.pace.seconds
    assert announced_s == pytest.approx(simulated_s, rel=WITHIN)
