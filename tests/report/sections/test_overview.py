"""Test how the page describes the compared setups and their machines."""

import dataclasses

import pytest

from loadtests.analyse.results import Results
from loadtests.records import HostConditions
from loadtests.report.sections import overview


@pytest.fixture
def results_of(build_run):
    """Return a function that returns the results of a run with changed trials.

    Other arguments are fields of the run's record or study.
    """

    def results_of(change=lambda trial: trial, interleave=True, **record):
        shape = {"study": {"interleave": interleave}, "record": record}
        results = Results(build_run(labels=("gunicorn", "uvicorn"), **shape))
        results.trials[:] = map(change, results.trials)
        return results

    return results_of


def with_evidence(trial, **values):
    return dataclasses.replace(trial, evidence=dataclasses.replace(trial.evidence, **values))


@pytest.mark.parametrize(
    ("slices", "interleave", "says", "not_said"),
    [
        ((20, 2), True, "load was interleaved in 0.5 to 5 s slices, in shuffled order.", "whole test"),
        ((20, 20), True, "load was interleaved in 0.5 s slices, in shuffled order. Calibration loop: ", "whole test"),
        ((20, 1), True, "In throughput, whose answers take long, a slice was the whole test.", "In latency"),
        ((1, 1), True, "In latency and throughput, whose answers take long", "0.5 s"),
        ((0, 0), False, "one after the other for each test, in shuffled order.", "slice"),
    ],
)
def test_order_of_setups_is_described(results_of, slices, interleave, says, not_said):
    def sliced(trial):
        return with_evidence(trial, calibration_s=(0.1,) * slices[trial.test == "throughput"])

    said = overview.section(results_of(sliced, interleave)).paragraphs[1]
    assert says in said
    assert not_said not in said


def test_calibration_of_machines_is_reported(results_of, other_host):
    here = HostConditions("", True, 0.0, 0, None, (0.1, 0.2))
    redis = HostConditions("ssh://redis", False, 0.0, 0, None, (0.3, 0.3))

    def observed(trial):
        # A failed trial records only the servers' machine.
        hosts = (here, redis) if trial.label == "gunicorn" else ()
        return with_evidence(trial, calibration_s=(0.1, 0.1), other_hosts=hosts)

    reported = overview.section(results_of(observed, servers=other_host)).paragraphs[1]
    assert "Calibration loop on the servers' machine: 1.00 to 1.00 × its usual speed" in reported
    assert "; on the machine that generated the load 1.00 to 2.00 ×; on ssh://redis 1.00 to 1.00 ×." in reported


def test_two_machines_with_network_are_described(results_of, other_host):
    results = results_of(servers=other_host)
    [reported] = overview.two_machines(results)
    assert reported.startswith("Servers on ssh://bench@10.0.0.2 (")
    assert "load from another machine (A generator's CPU, 4 cores); " in reported
    assert reported.endswith("an empty answer takes 0.21 ms and a long answer arrives at 943 Mbit/s.")
    assert "The load came from another machine" in overview.section(results).paragraphs[0]


def test_same_machine_has_no_network_figures(build_run, results_of, other_host):
    back = {"same_machine": True, "round_trip_ms": None, "megabits_per_s": None}
    [reported] = overview.two_machines(results_of(servers=dataclasses.replace(other_host, **back)))
    assert "load from the same machine (" in reported
    assert reported.endswith("the network was not measured.")
    assert list(overview.two_machines(Results(build_run(name="here")))) == []


@pytest.mark.parametrize(("generator", "said"), [((1,), ", as did the load generator."), ((3,), ".")])
def test_remote_services_are_described(results_of, generator, said):
    def served(trial):
        cores = {**trial.cores, "generator": generator, "services": (1, 2)}
        return dataclasses.replace(trial, cores=cores) if trial.label == "uvicorn" else trial

    reported = overview.section(results_of(served)).paragraphs[0]
    assert reported.endswith(f" The services of uvicorn ran on the cores 1 and 2{said}")
