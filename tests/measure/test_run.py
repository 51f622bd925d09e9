"""Test a study with the command line on real servers: the files that it writes, and the processes that remain."""

import contextlib
import json
import signal
import time

import psutil
import pytest

from loadtests.cleanup import program
from tests.fixtures.waiting import wait_for

pytestmark = pytest.mark.servers

STUDY = """
title = "One setup, for half a second"
setups = ["gunicorn"]
blocks = 2
tests.latency = { rate = 50, duration = "500ms", warmup = "100ms" }
"""
# The sample project refuses a state of this size in a cookie.
FAILING = """setups = [
    "gunicorn",
    {setup = "waitress", label = "failing", env = {SESSIONS = "cookies", QUESTIONNAIRE_STATE_BYTES = 60000}},
]"""
# Other programs on the machine can cause these flags.
DISTURBED = {"cores_taken", "cores_disturbed", "send_lag", "generator_busy", "shared_core"}


@pytest.fixture
def study(tmp_path):
    file = tmp_path / "small.toml"
    file.write_text(STUDY)
    return file


def trials(folder):
    found = [json.loads(file.read_text()) for file in (folder / "trials").glob("*.json")]
    return sorted(found, key=lambda trial: (trial["number"], trial["attempt"]))


def test_run_continues_after_failed_setup(command, study, folder):
    study.write_text(STUDY.replace('setups = ["gunicorn"]', FAILING).replace("blocks = 2", "blocks = 1"))
    code, printed, errors = command("run", study, "--output", folder)
    assert code == 1
    assert "a setup failed or has no results in a test" in errors
    assert "QUESTIONNAIRE_STATE_BYTES" in printed  # from the end of the server's log
    about = json.loads((folder / "run.json").read_text())
    assert (about["study"]["name"], len(about["order"])) == ("small", 2)
    failed = [trial for trial in trials(folder) if trial["label"] == "failing"]
    found = [(trial["attempt"], trial["status"], trial["flags"][0]["reason"]) for trial in failed]
    assert found == [(attempt, "invalid", "server_did_not_start") for attempt in (1, 2)]
    served = next(trial for trial in trials(folder) if trial not in failed)
    assert {flag["reason"] for flag in served["flags"]} <= DISTURBED, served["flags"]
    assert served["result"]["planned"] == served["result"]["ok"] >= 25  # pauses of the server make slices longer
    assert {row["role"] for row in served["processes"]} == {"web"}
    assert sum(row["cpu_s"] for row in served["processes"]) > 0
    for name in ("summary.csv", "report.html", "index.rst"):
        assert (folder / name).stat().st_size > 100


@pytest.mark.exhaustive
def test_ctrl_c_keeps_resumable_trials(cli, study, folder):
    study.write_text(STUDY.replace("blocks = 2", "blocks = 4"))  # so that most blocks remain, even if this test is slow
    process = cli.start("run", study, "--output", folder, "--ignore-busy")
    wait_for(lambda: (folder / "trials").is_dir() and trials(folder), "no first trial")
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert f"--resume {folder}" in errors
    assert "Traceback" not in errors
    cli.wait_until_nothing_runs()
    first = trials(folder)[0]
    cli.run("run", "--resume", folder, "--ignore-busy")
    assert trials(folder)[0] == first
    assert {trial["number"] for trial in trials(folder)} == {1, 2, 3, 4}


@pytest.mark.exhaustive
def test_killed_harness_leaves_no_process(cli, study, folder):
    process = cli.start("run", study, "--output", folder)
    wait_for(lambda: len(cli.processes()) >= 4, "nothing was started")
    process.kill()
    process.communicate()
    cli.wait_until_nothing_runs()


def guards(cli):
    """Return the guards that a command started."""
    found = []
    for process in cli.processes():
        with contextlib.suppress(psutil.NoSuchProcess):
            found += [process] if str(program.GUARD) in process.cmdline() else []
    return found


@pytest.mark.exhaustive
def test_run_ends_programs_of_killed_guard(cli, study, folder):
    process = cli.start("run", study, "--output", folder)
    wait_for(lambda: guards(cli), "no guard")
    for guard in guards(cli):
        guard.kill()
    _, errors = process.communicate(timeout=60)
    assert "Traceback" not in errors
    assert not [one for one in cli.processes() if one.status() != psutil.STATUS_ZOMBIE]


@pytest.mark.exhaustive
def test_next_run_ends_abandoned_processes(cli, study, folder, tmp_path):
    process = cli.start("run", study, "--output", folder)
    wait_for(lambda: (folder / "run.json").exists() and len(cli.processes()) >= 5, "no server")
    for killed in (process, *guards(cli)):
        killed.kill()
    process.communicate()
    cli.run("run", study, "--output", tmp_path / "next", "--ignore-busy")
    assert trials(tmp_path / "next")
    cli.wait_until_nothing_runs()
