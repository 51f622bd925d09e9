"""Test that commands on a busy machine mark their results as unverified and print what to do."""

import re

import pytest

from loadtests.measure import prepare as preparing
from tests.fixtures.bench import FakeTrials

pytestmark = pytest.mark.exhaustive

LATE, BROKEN = "send_lag", "server_did_not_start"


@pytest.mark.parametrize(
    ("reason", "ended", "shows", "says"),
    [
        (lambda test: LATE, 3, r"gunicorn +\([\d,.]+\) unverified", r"warning: \d+ trials in a row .*--resume"),
        (lambda test: LATE if test == "throughput" else None, 0, r"gunicorn +[\d,.]+", "warning: "),
        (lambda test: BROKEN, 1, "No trial is valid", "error: "),
    ],
)
def test_run_without_valid_trials_is_reported(command, monkeypatch, bench_of, tmp_path, reason, ended, shows, says):
    prepare, trials = preparing.prepare, FakeTrials(reason=lambda planned: reason(planned.test.name))
    monkeypatch.setattr(preparing, "prepare", lambda *given: trials.instead(prepare(*given[:2], bench_of)))
    code, printed, errors = command(
        "run", "--duplicate-baseline", "--setups", "gunicorn", "--output", tmp_path / "run", "--blocks", "2"
    )
    assert (code, bool(re.search(shows, printed)), bool(re.match(says, errors))) == (ended, True, True), errors
