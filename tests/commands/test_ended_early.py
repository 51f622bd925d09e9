"""``run`` on a machine that is too busy ends with the figures that it has, a setup against itself included."""

import re

import pytest

from loadtests.measure import prepare as preparing
from tests.fixtures.bench import FakeTrials

LATE = "send_lag"


@pytest.fixture
def against_itself(command, monkeypatch, bench_of, tmp_path):
    """A function: what ``run --aa`` of one setup ends with, where ``reason`` says why a trial is invalid."""
    prepare = preparing.prepare

    def run(reason):
        trials = FakeTrials(reason=reason)
        monkeypatch.setattr(preparing, "prepare", lambda *given: trials.instead(prepare(*given[:2], bench_of)))
        return command("run", "--aa", "--setups", "gunicorn", "--output", tmp_path / "run", "--blocks", "2")

    return run


def test_without_a_valid_trial_it_shows_unverified_figures_and_warns(against_itself):
    code, printed, errors = against_itself(lambda planned: LATE)
    assert code == 0
    assert re.search(r"gunicorn +\([\d,.]+\) unverified", printed)
    assert re.match(r"warning: \d+ trials in a row are invalid by no setup's fault: ", errors)
    assert "--resume" in errors


def test_with_valid_blocks_it_says_the_noise_and_warns_of_what_is_unverified(against_itself):
    code, printed, errors = against_itself(lambda planned: LATE if planned.test.name == "throughput" else None)
    assert code == 0
    assert "False verdicts: 0 of" in printed
    assert errors.startswith("warning: ")


def test_a_setup_that_fails_is_an_error_and_its_report_is_printed(against_itself):
    code, printed, errors = against_itself(lambda planned: "server_did_not_start")
    assert code == 1
    assert "No trial is valid" in printed
    assert errors.startswith("error: ")
