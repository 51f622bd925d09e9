"""What a page says of how the setups were measured."""

import dataclasses

import pytest

from loadtests.analyse.results import Results
from loadtests.records import HostConditions
from loadtests.report.sections import overview


@pytest.fixture
def how(build_run):
    """What is said of an interleaved run, or one after the other, with a number of rounds of slices in each test."""

    def how(rounds, interleave=True):
        results = Results(build_run(labels=("gunicorn", "uvicorn"), study={"interleave": interleave}))
        for place, trial in enumerate(results.trials):
            spins = (0.1,) * rounds.get(trial.test, 0)
            results.trials[place] = dataclasses.replace(
                trial, evidence=dataclasses.replace(trial.evidence, calibration_s=spins)
            )
        return overview.section(results).paragraphs[1]

    return how


def test_setups_that_were_asked_interleaved(how):
    said = how({"latency": 20, "throughput": 20})
    assert "load was interleaved in 0.5 s slices, in shuffled order. Calibration loop: " in said


def test_a_turn_that_was_the_whole_of_a_test_is_no_half_second(how):
    said = how({"latency": 20, "throughput": 1})
    assert "In throughput, where answers take long, a slice was the whole test." in said


def test_where_all_turns_were_whole_tests_nothing_is_said_of_half_a_second(how):
    said = how({"latency": 1, "throughput": 1})
    assert "0.5 s" not in said
    assert "In latency and throughput, where answers take long" in said


def test_setups_that_were_measured_one_after_the_other(how):
    assert how({}, interleave=False).endswith("one after the other for each test, in shuffled order.")


def test_the_speed_of_every_machine_is_reported(build_run, other_host):
    results = Results(build_run(labels=("gunicorn", "uvicorn"), record={"servers": other_host}))
    here = HostConditions("", True, 0.0, 0, None, (0.1, 0.2))
    redis = HostConditions("ssh://redis", False, 0.0, 0, None, (0.3, 0.3))
    for place, trial in enumerate(results.trials):
        # What has failed knows of the servers' machine alone.
        hosts = (here, redis) if trial.label == "gunicorn" else ()
        evidence = dataclasses.replace(trial.evidence, calibration_s=(0.1, 0.1), other_hosts=hosts)
        results.trials[place] = dataclasses.replace(trial, evidence=evidence)
    reported = overview.section(results).paragraphs[1]
    assert "Calibration loop on the servers' machine: 1.00 to 1.00 × its usual speed" in reported
    assert "; on the machine that the load came from 1.00 to 2.00 ×; on ssh://redis 1.00 to 1.00 ×." in reported


def test_what_ran_where_on_two_machines_and_what_the_network_took(build_run, other_host):
    results = Results(build_run(labels=("gunicorn", "uvicorn"), record={"servers": other_host}))
    [reported] = overview.two_machines(results)
    assert reported.startswith("Servers on ssh://bench@10.0.0.2 (")
    assert "load from another machine (A generator's CPU, 4 cores); " in reported
    assert reported.endswith("an empty answer takes 0.21 ms and a long one arrives at 943 Mbit/s.")
    assert "The load came from another machine" in overview.section(results).paragraphs[0]


def test_a_network_that_was_not_measured_is_said_not_to_be(build_run, other_host):
    unknown = dataclasses.replace(other_host, round_trip_ms=None, megabits_per_s=None)
    results = Results(build_run(labels=("gunicorn", "uvicorn"), record={"servers": unknown}))
    [reported] = overview.two_machines(results)
    assert reported.endswith("the network was not measured.")


def test_of_one_machine_nothing_is_said_of_two(build_run):
    results = Results(build_run(labels=("gunicorn", "uvicorn")))
    assert list(overview.two_machines(results)) == []


def test_a_way_over_ssh_that_led_back_is_no_second_machine(build_run, other_host):
    back = dataclasses.replace(other_host, same_machine=True)
    results = Results(build_run(labels=("gunicorn", "uvicorn"), record={"servers": back}))
    [reported] = overview.two_machines(results)
    assert "load from the same machine (" in reported


@pytest.mark.parametrize(("generator", "said"), [((1,), ", as did the load generator."), ((3,), ".")])
def test_where_services_ran_that_were_not_with_the_servers(build_run, generator, said):
    results = Results(build_run(labels=("gunicorn", "uvicorn")))
    assert "services" not in overview.section(results).paragraphs[0]
    for place, trial in enumerate(results.trials):
        if trial.label == "uvicorn":
            cores = {**trial.cores, "generator": generator, "services": (1, 2)}
            results.trials[place] = dataclasses.replace(trial, cores=cores)
    reported = overview.section(results).paragraphs[0]
    assert reported.endswith(f" The services of uvicorn ran on the cores 1 and 2{said}")
