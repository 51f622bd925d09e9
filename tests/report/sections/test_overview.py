"""Test how the page describes the compared setups and their machines."""

import dataclasses

import pytest

from loadtests.analyse.results import Results
from loadtests.report.sections import overview
from tests.report.changed import resaved


@pytest.fixture
def results_of(build_run):
    """Return a function that returns the results of a run. ``record`` contains fields of the run's record."""

    def results_of(name="a", interleave=True, **record):
        run = build_run(labels=("gunicorn", "uvicorn"), name=name, study={"interleave": interleave}, record=record)
        evidence = dataclasses.replace(run.trials()[0].evidence, calibration_s=(0.1, 0.1))
        return Results(resaved(run, lambda trial: {"evidence": evidence}))

    return results_of


@pytest.mark.parametrize(
    ("interleave", "says"),
    [
        (True, "load was interleaved in slices, in shuffled order. Calibration loop: 1.00 to 1.00 × its usual speed."),
        (False, "one after the other for each test, in shuffled order. Calibration loop: "),
    ],
)
def test_order_of_setups_is_described(results_of, interleave, says):
    assert says in overview.section(results_of(interleave=interleave)).paragraphs[0]


def test_two_machines_with_network_are_described(results_of, other_host):
    results = results_of(servers=other_host)
    [reported] = overview.two_machines(results)
    assert reported.startswith("Servers on ssh://bench@10.0.0.2 (")
    assert "load on another machine (A generator's CPU, 4 cores). " in reported
    assert reported.endswith("an empty answer takes 0.21 ms and a long answer arrives at 943 Mbit/s.")
    back = {"same_machine": True, "round_trip_ms": None, "megabits_per_s": None}
    machines = overview.section(results_of("back", servers=dataclasses.replace(other_host, **back))).tables[2]
    assert [row[0].text for row in machines.rows] == ["servers", "load"]
    assert [field.text for field in machines.rows[1][1::2]] == ["the same machine", "not measured"]
