"""What a page says of how the setups were measured."""

import dataclasses

import pytest

from loadtests.analyse.results import Results
from loadtests.report.sections import overview


@pytest.fixture
def how(build_run):
    """What is said of a run by turns, or one after the other, with so many rounds of slices in each test."""

    def how(rounds, interleave=True):
        results = Results(build_run(labels=("gunicorn", "uvicorn"), study={"interleave": interleave}))
        for place, trial in enumerate(results.trials):
            spins = (0.1,) * rounds.get(trial.test, 0)
            results.trials[place] = dataclasses.replace(
                trial, evidence=dataclasses.replace(trial.evidence, spins_s=spins)
            )
        return overview.section(results).paragraphs[1]

    return how


def test_setups_that_were_asked_by_turns(how):
    said = how({"latency": 20, "throughput": 20})
    assert "were asked by turns, half a second each, in shuffled order. This machine's speed" in said


def test_a_turn_that_was_the_whole_of_a_test_is_no_half_second(how):
    said = how({"latency": 20, "throughput": 1})
    assert "In throughput, where answers take long, a turn was the whole of the test." in said


def test_where_all_turns_were_whole_tests_nothing_is_said_of_half_a_second(how):
    said = how({"latency": 1, "throughput": 1})
    assert "half a second" not in said
    assert "In latency and throughput, where answers take long" in said


def test_setups_that_were_measured_one_after_the_other(how):
    assert how({}, interleave=False).endswith("one after the other, in shuffled order.")
