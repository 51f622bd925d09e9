"""Compare the announced time of studies with the measured time of the committed runs."""

import datetime

import pytest

from loadtests.files import RESULTS
from loadtests.measure.run import REPEATS
from loadtests.plan.schedule import planned_seconds
from loadtests.records.run.read import run_record

RECORDS = {file.parent.name: run_record(file) for file in RESULTS.glob("reference-*/run.json")}
# The searches in older runs took longer than today's searches.
SEARCHED_LONGER_BEFORE = "2026-11-25T17:34"
LONGER = sorted(
    name
    for name, record in RECORDS.items()
    if record.created < SEARCHED_LONGER_BEFORE and any(test.search for test in record.study.tests)
)
WITHIN = 0.25
# In these runs, the answers of some servers have gaps, which count as pauses. Each pause makes a slice longer.
LONG_SLICES = {f"reference-2026-11-28-{study}" for study in ("two-workers", "free-threading", "granian-backpressure")}


# In the run of the study crowd, trials end later, because the generator waits for messages that layers have lost.
@pytest.mark.parametrize("name", sorted(RECORDS.keys() - {*LONGER, "reference-2026-11-29-crowd"}))
def test_announced_time_is_close_to_measured_time(name):
    record = RECORDS[name]
    begun, ended = map(datetime.datetime.fromisoformat, (record.created, record.ended))
    announced_s = (1 + REPEATS) * planned_seconds(record.study, record.order)
    within = 0.4 if name in LONG_SLICES else WITHIN
    assert announced_s == pytest.approx((ended - begun).total_seconds(), rel=within)
