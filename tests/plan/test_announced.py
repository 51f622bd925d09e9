"""The time that is announced, against the time that the committed runs took."""

import datetime

import pytest

from loadtests.files import RESULTS
from loadtests.measure.run import REPEATS
from loadtests.plan.schedule import planned_seconds
from loadtests.records.run.read import run_record

RUNS = sorted(file.parent.name for file in RESULTS.glob("reference-*/run.json"))
WITHIN = 0.25


@pytest.mark.parametrize("name", RUNS)
def test_what_would_be_announced_is_within_a_quarter_of_what_it_took(name):
    record = run_record(RESULTS / name / "run.json")
    if any(test.search for test in record.study.tests):
        pytest.skip("how long a search takes depends on what it finds")
    begun, ended = map(datetime.datetime.fromisoformat, (record.created, record.ended))
    announced_s = (1 + REPEATS) * planned_seconds(record.study, record.order)
    assert announced_s == pytest.approx((ended - begun).total_seconds(), rel=WITHIN)
