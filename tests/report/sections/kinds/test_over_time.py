"""What was answered second by second is drawn where there are seconds to draw."""

import dataclasses

import pytest

from loadtests.analyse.results import Results
from loadtests.report.sections.kinds import throughput


@pytest.mark.parametrize(("seconds", "drawn"), [(4, []), (5, ["over-time-throughput"])])
def test_a_few_moments_are_no_course(build_run, seconds, drawn):
    def lasted(_label, _test, _block, result):
        return dataclasses.replace(result, timeline=result.timeline[:seconds])

    results = Results(build_run(labels=("gunicorn",), change=lasted))
    assert [chart.name for chart in throughput.charts(results, results.test("throughput"))] == drawn
