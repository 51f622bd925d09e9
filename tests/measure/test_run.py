"""Test a study with the command line on real servers: the files that it writes, and the processes that remain."""

import contextlib
import json
import os
import random
import secrets
import signal
import time

import psutil
import pytest

from loadtests.analyse.reasons import UNVERIFIED
from loadtests.cleanup import program
from tests.fixtures.waiting import wait_for

pytestmark = pytest.mark.servers

STUDY = """
title = "One setup, for half a second"
setups = ["gunicorn"]
blocks = 2
tests.latency = { rate = 50, duration = "500ms", warmup = "100ms" }
"""
# daphne fails, because no directory can be created below /proc. Gunicorn doesn't read the variable.
THREE = """setups = [
    "gunicorn",
    "daphne-ipc",
    {setup = "daphne-ipc", label = "nowhere", env = {IPC_DIR = "/proc/nowhere"}},
]"""
# Other programs on the machine can cause these flags.
DISTURBED = {"cores_taken", "cores_disturbed", "send_lag", "generator_busy", "shared_core"}


@pytest.fixture
def study(tmp_path):
    file = tmp_path / "small.toml"
    file.write_text(STUDY)
    return file


def exit_code(folder):
    """Return the expected exit code of the run in the folder: 0 if each setup has verified or unverified figures."""
    known = {reason.name for reason in UNVERIFIED}
    cells = {(trial["label"], trial["test"]) for trial in trials(folder)}
    figures = {
        (trial["label"], trial["test"])
        for trial in trials(folder)
        if all(flag["reason"] in known for flag in trial["flags"] if flag["severity"] == "invalid")
    }
    return 0 if cells == figures else 1


def trials(folder):
    found = [json.loads(file.read_text()) for file in (folder / "trials").glob("*.json")]
    return sorted(found, key=lambda trial: (trial["number"], trial["attempt"]))


def test_run_continues_after_failed_setup(cli, study, folder):
    study.write_text(STUDY.replace('setups = ["gunicorn"]', THREE).replace("blocks = 2", "blocks = 1"))
    code, printed, errors = cli.run("run", study, "--output", folder)
    cli.wait_until_nothing_runs()
    assert code == 1
    assert "a setup failed or has no results in a test" in errors
    assert "One setup, for half a second" in printed
    assert "/proc/nowhere" in printed  # from the end of the server's log
    about = json.loads((folder / "run.json").read_text())
    assert about["study"]["name"] == "small"
    assert about["machine"]["cpu"]
    assert about["versions"]["packages"]["Django"]
    assert len(about["order"]) == 3
    failed = [trial for trial in trials(folder) if trial["label"] == "nowhere"]
    found = [(trial["attempt"], trial["status"], trial["flags"][0]["reason"]) for trial in failed]
    assert found == [(attempt, "invalid", "server_did_not_start") for attempt in (1, 2)]
    served = [trial for trial in trials(folder) if trial not in failed]
    assert {trial["setup"] for trial in served} == {"gunicorn", "daphne-ipc"}
    for trial in served:
        assert {flag["reason"] for flag in trial["flags"]} <= DISTURBED, trial["flags"]
        assert trial["result"]["planned"] == trial["result"]["ok"] == 25
        roles = {row["role"] for row in trial["processes"]}
        assert roles == ({"web", "worker"} if trial["setup"] == "daphne-ipc" else {"web"})
        assert all(row["peak_rss_mb"] > 1 for row in trial["processes"])
        assert sum(row["cpu_s"] for row in trial["processes"]) > 0
    for name in ("summary.csv", "report.html", "index.rst"):
        assert (folder / name).stat().st_size > 100
    if any(trial["status"] == "ok" for trial in served):
        assert list((folder / "charts").glob("*.svg"))


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
    code, printed, errors = cli.run("run", "--resume", folder, "--ignore-busy")
    assert code == exit_code(folder), printed + errors
    assert trials(folder)[0] == first
    assert {trial["number"] for trial in trials(folder)} == {1, 2, 3, 4}


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
@pytest.mark.parametrize("after_s", [0, 0.2, 0.5, 1, 2, 3])
def test_run_ends_programs_of_killed_guard(cli, study, folder, after_s):
    process = cli.start("run", study, "--output", folder)
    wait_for(lambda: guards(cli), "no guard")
    time.sleep(after_s)
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


@pytest.mark.exhaustive
def test_kill_9_loses_no_written_trial(cli, study, folder):
    """Kill the run at random moments and resume it. The run keeps its written trials, and measures the others."""
    seed = int(os.environ.get("KILL_SEED") or secrets.randbelow(2**32))
    print(f"KILL_SEED={seed}")  # pytest prints the seed if the test fails
    moments = random.Random(seed)
    study.write_text(STUDY.replace("blocks = 2", "blocks = 3"))
    arguments = ("run", study, "--output", folder, "--ignore-busy")
    kept = []
    for written in (0, 1):
        process = cli.start(*arguments)
        wait_for(lambda: (folder / "run.json").exists() or process.poll() is not None, "no run folder")  # noqa: B023
        wait_for(lambda: len(trials(folder)) >= written or process.poll() is not None, "no trial")  # noqa: B023
        time.sleep(moments.uniform(0, 2.5))
        process.kill()
        process.communicate()
        cli.wait_until_nothing_runs()
        found = trials(folder)
        assert len(found) >= written
        assert all(trial in found for trial in kept)  # including the repeated trials
        kept = found
        arguments = ("run", "--resume", folder, "--ignore-busy")
    assert kept
    order = json.loads((folder / "run.json").read_text())["order"]
    code, printed, errors = cli.run(*arguments)
    assert code == exit_code(folder), printed + errors
    assert all(trial in trials(folder) for trial in kept)
    assert json.loads((folder / "run.json").read_text())["order"] == order
    assert {trial["number"] for trial in trials(folder)} == {slot["number"] for slot in order} == {1, 2, 3}
