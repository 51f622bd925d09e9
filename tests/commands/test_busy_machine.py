"""A real run next to a program that never rests ends with an answer for every setup."""

import os
import subprocess
import sys

import pytest

from loadtests.analyse.results import Results
from loadtests.records.run.folder import Run
from tests.fixtures.pages import summary

pytestmark = [pytest.mark.servers, pytest.mark.slow]
STUDY = """
setups = ["gunicorn", "uvicorn"]

[tests.throughput]
duration = "1s"
warmup = "200ms"
"""


@pytest.fixture
def busy_loop():
    """One for half of the cores."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range((os.cpu_count() or 2) // 2)]
    yield
    for loop in loops:
        loop.kill()
        loop.wait()


@pytest.mark.usefixtures("busy_loop")
def test_next_to_a_busy_loop_every_setup_has_a_figure_verified_or_marked(cli, tmp_path):
    (tmp_path / "small.toml").write_text(STUDY)
    folder = tmp_path / "run"
    code, printed, errors = cli.run("run", tmp_path / "small.toml", "--quick", "--output", folder)
    assert code == 0, errors
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
        assert (rows[label]["rps"] == "") == (verified is None)  # what is unverified is never exported
        assert int(rows[label]["unverified"]) == len(cell.unverified)
    assert ("unverified" in printed) == any(cell.unverified for cell in results.cells.values())
