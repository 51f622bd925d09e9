"""Test that commands on a busy machine mark their results as unverified and print what to do."""

import os
import re
import subprocess
import sys

import pytest

from loadtests.analyse.results import Results
from loadtests.measure import advise
from loadtests.measure import prepare as preparing
from loadtests.records.run.folder import Run
from tests.fixtures.bench import FakeTrials
from tests.fixtures.pages import summary

pytestmark = pytest.mark.exhaustive

LATE, BROKEN = "send_lag", "server_did_not_start"


@pytest.fixture
def advised(command, monkeypatch, bench_of, tmp_path):
    """Return a function that runs ``advise`` and returns its exit code, output and errors.

    ``reason`` returns the reason why a planned trial is invalid, or None.
    """
    prepare = advise.prepare

    def search(reason, *options):
        trials = FakeTrials(reason=reason)

        def instead(*given, progress):
            return trials.instead(prepare(*given, bench_of=bench_of, progress=progress))

        monkeypatch.setattr(advise, "prepare", instead)
        code, printed, errors = command("advise", "gunicorn", "--output", tmp_path / "run", *options)
        return code, " ".join(printed.split()), errors

    return search


def test_advice_on_busy_machine_is_unverified(advised, tmp_path):
    code, printed, errors = advised(lambda planned: LATE)
    assert code == 0
    assert "Not known: the search ended after 0 rounds, with 12 candidates left." in printed
    assert "None of them has a verified figure." in printed
    assert re.search(r"\([\d,]+\)", printed)
    [warning] = errors.splitlines()
    assert re.match(r"warning: \d+ trials in a row are invalid, and the setups aren't the cause: ", warning)
    assert warning.endswith("; try again later, or add --ignore-busy")
    assert (tmp_path / "run" / "report.html").exists()


def test_stopped_search_shows_best_candidate(advised):
    code, printed, errors = advised(lambda planned: LATE if planned.slot.block > 2 else None)
    assert (code, errors.startswith("warning: ")) == (0, True)
    assert "Not known: the search ended after 1 round, with 6 candidates left." in printed
    assert re.search(r"workers? × \d threads? has the best requests per second so far, \d+ requests/s\. More", printed)


def test_ignore_busy_option_continues_search(advised):
    code, printed, errors = advised(lambda planned: LATE, "--ignore-busy")
    assert (code, "Not known: the search ended after 0 rounds" in printed) == (0, True)
    assert "no candidate has a valid trial with successful answers" in errors


def test_candidate_without_result_is_an_error(advised):
    code, _, errors = advised(lambda planned: BROKEN)
    assert (code, errors.startswith("error: ")) == (1, True)


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


STUDY = """
setups = ["gunicorn", "uvicorn"]

[tests.throughput]
duration = "1s"
warmup = "200ms"
"""


@pytest.fixture
def busy_loop():
    """Keep half of the cores busy."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range((os.cpu_count() or 2) // 2)]
    yield
    for loop in loops:
        loop.kill()
        loop.wait()


@pytest.mark.servers
@pytest.mark.slow
@pytest.mark.usefixtures("busy_loop")
def test_busy_machine_gives_unverified_figures(cli, tmp_path):
    (tmp_path / "small.toml").write_text(STUDY)
    folder = tmp_path / "run"
    code, printed, errors = cli.run("run", tmp_path / "small.toml", "--quick", "--output", folder)
    assert code in (0, 3), errors
    assert "busy: " in printed
    results = Results(Run.open(folder))
    rows = {row["label"]: row for row in summary(results)}
    for label in ("gunicorn", "uvicorn"):
        cell = results.cells[label, "throughput"]
        verified = results.estimate(label, "throughput", "rps")
        figure = verified or results.unverified(label, "throughput", "rps")
        assert figure is not None
        assert figure.value > 0
        assert bool(cell.unverified) == (verified is None)
        assert (rows[label]["rps"] == "") == (verified is None)  # unverified figures are never exported
        assert int(rows[label]["unverified"]) == len(cell.unverified)
    assert ("unverified" in printed) == any(cell.unverified for cell in results.cells.values())
