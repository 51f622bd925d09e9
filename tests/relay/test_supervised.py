"""Test setups that are started by hand, with defaults.sh, supervisord and supervisorctl."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from loadtests.files import ROOT
from tests.fixtures.served import served
from tests.fixtures.waiting import wait_for

pytestmark = pytest.mark.exhaustive

NAMES = ["WORKERS", "THREADS", "BIND", "PORT", "CORES", "SERVICES_CORES"]
KNOBS = [*(f"BENCH_{name}" for name in NAMES), "RUN_DIR", "IPC_DIR", "REDIS_URL"]


def sh(script, cwd=ROOT, **environment):
    """Run a POSIX shell script with only the given knobs, and return the script's result."""
    inherited = {name: value for name, value in os.environ.items() if name not in KNOBS}
    return subprocess.run(
        ["sh", "-c", script], cwd=cwd, env=inherited | environment, capture_output=True, text=True, timeout=30
    )


@pytest.fixture
def run_dir():
    """Return a directory whose path is short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix="sv-") as directory:
        yield Path(directory)


def test_set_knobs_override_defaults(run_dir):
    names = "$BENCH_WORKERS $BENCH_THREADS $BENCH_BIND $BENCH_PORT $IPC_DIR"
    script = f'ulimit -S -n 256 && . supervisor/defaults.sh && echo "{names}"'
    knobs, allowed, most = sh(f"{script} && ulimit -S -n && ulimit -H -n", RUN_DIR=str(run_dir)).stdout.splitlines()
    assert knobs == f"1 1 127.0.0.1 8000 {run_dir}/ipc"
    assert int(allowed) == min(65_536, 65_536 if most == "unlimited" else int(most))
    values = ["3", "4", "127.0.0.2", "9", "0", "0"]
    given = {**dict(zip(KNOBS, values, strict=False)), "IPC_DIR": "/i"}
    assert sh(script, RUN_DIR=str(run_dir), **given).stdout == "3 4 127.0.0.2 9 /i\n"


def test_the_directory_is_private(run_dir):
    made = sh('. supervisor/defaults.sh && echo "$RUN_DIR"', XDG_RUNTIME_DIR=str(run_dir)).stdout.strip()
    assert Path(made).parent == run_dir
    assert Path(made).stat().st_mode & 0o777 == 0o700


def test_programs_of_a_served_project_come_first():
    script = '. supervisor/defaults.sh && echo "$PATH"'
    assert sh(script, PATH="/usr/bin:/bin").stdout == f"{ROOT}/.venv/bin:/usr/bin:/bin\n"
    assert sh(script, PATH="/own:/usr/bin:/bin", BENCH_PYTHON="/p").stdout == "/own:/usr/bin:/bin\n"


def test_defaults_need_the_root_directory(run_dir):
    outcome = sh(f". {ROOT}/supervisor/defaults.sh && echo went on", cwd=run_dir)
    assert "source this file in the project's root" in outcome.stderr
    assert (outcome.stdout, outcome.returncode > 0) == ("", True)


def test_existing_redis_prevents_the_service(run_dir):
    outcome = sh("sh supervisor/redis.sh", REDIS_URL="redis://127.0.0.1:1")
    assert (outcome.returncode, outcome.stderr) == (0, "")
    for tool in ("sh", "dirname"):
        (run_dir / tool).symlink_to(shutil.which(tool))
    (run_dir / "python").symlink_to("/bin/true")
    outcome = sh("sh supervisor/redis.sh", PATH=str(run_dir), RUN_DIR=str(run_dir))
    assert outcome.returncode == 69
    assert outcome.stderr.splitlines() == [
        "redis.sh: no Redis was found. Set REDIS_URL, install redis-server, or run 'make setup'"
    ]


@pytest.mark.servers
def test_supervisorctl_stops_a_setup():
    with served("gunicorn") as running:

        def control(word):
            command = f". supervisor/defaults.sh && supervisorctl -c supervisor/supervisord.conf {word} 'gunicorn:*'"
            return sh(command, RUN_DIR=str(running.folder)).stdout

        wait_for(lambda: "RUNNING" in control("status"))  # the setup answers before supervisord's startsecs are over
        control("stop")
        assert "STOPPED" in control("status")
        with pytest.raises(ConnectionRefusedError):
            running.ask(running.health, 5)
