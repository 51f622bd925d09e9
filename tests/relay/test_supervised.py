"""The setups as a person starts them: defaults.sh, supervisord, supervisorctl."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.fixtures.waiting import wait_for

pytestmark = pytest.mark.exhaustive

ROOT = Path(__file__).resolve().parent.parent.parent
KNOBS = ["WORKERS", "THREADS", "BIND", "PORT", "CORES", "SERVICES_CORES", "RUN_DIR", "IPC_DIR", "REDIS_URL"]


def sh(script, cwd=ROOT, **environment):
    """The outcome of a POSIX shell script, with no knob set but those given."""
    inherited = {name: value for name, value in os.environ.items() if name not in KNOBS}
    return subprocess.run(
        ["sh", "-c", script], cwd=cwd, env=inherited | environment, capture_output=True, text=True, timeout=30
    )


@contextlib.contextmanager
def short_directory():
    """A directory with a path that is short enough for sockets."""
    directory = tempfile.mkdtemp(prefix="sv-")
    try:
        yield Path(directory)
    finally:
        shutil.rmtree(directory)


@pytest.fixture
def run_dir():
    with short_directory() as directory:
        yield directory


def test_knobs_that_are_set_stay(run_dir):
    script = '. supervisor/defaults.sh && echo "$WORKERS $THREADS $BIND $PORT $IPC_DIR"'
    assert sh(script, RUN_DIR=str(run_dir)).stdout == f"1 1 127.0.0.1 8000 {run_dir}/ipc\n"
    given = {"WORKERS": "3", "THREADS": "4", "BIND": "127.0.0.2", "PORT": "9", "IPC_DIR": "/i"}
    assert sh(script, RUN_DIR=str(run_dir), **given).stdout == "3 4 127.0.0.2 9 /i\n"


def test_as_many_files_may_be_open_as_are_allowed_to_whoever_asks(run_dir):
    script = "ulimit -S -n 256 && . supervisor/defaults.sh && ulimit -S -n && ulimit -H -n"
    allowed, most = sh(script, RUN_DIR=str(run_dir)).stdout.split()
    assert int(allowed) == min(65_536, 65_536 if most == "unlimited" else int(most))


def test_the_directory_is_private_and_short(run_dir):
    made = sh('. supervisor/defaults.sh && echo "$RUN_DIR"', XDG_RUNTIME_DIR=str(run_dir)).stdout.strip()
    assert Path(made).parent == run_dir
    assert Path(made).stat().st_mode & 0o777 == 0o700


def test_defaults_are_refused_elsewhere(run_dir):
    outcome = sh(f". {ROOT}/supervisor/defaults.sh && echo went on", cwd=run_dir)
    assert "source it in the project's root" in outcome.stderr
    assert outcome.stdout == ""
    assert outcome.returncode != 0


def test_redis_is_not_started_where_there_is_one():
    outcome = sh("sh supervisor/redis.sh", REDIS_URL="redis://127.0.0.1:1")
    assert (outcome.returncode, outcome.stderr) == (0, "")


def test_no_redis_is_one_clear_line(run_dir):
    for tool in ("sh", "dirname"):
        (run_dir / tool).symlink_to(shutil.which(tool))
    (run_dir / "python").symlink_to("/bin/true")
    outcome = sh("sh supervisor/redis.sh", PATH=str(run_dir), RUN_DIR=str(run_dir))
    assert outcome.returncode == 69
    assert outcome.stderr.splitlines() == [
        "redis.sh: no Redis: set REDIS_URL, or install redis-server, or run 'make setup'"
    ]


class Supervised:
    def __init__(self, run_dir):
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.run_dir = run_dir
        self.environment = {"RUN_DIR": str(run_dir), "PORT": str(self.port), "WORKERS": "2"}
        inherited = {name: value for name, value in os.environ.items() if name not in KNOBS}
        self.daemon = subprocess.Popen(
            ["sh", "-c", ". supervisor/defaults.sh && exec supervisord -n -c supervisor/supervisord.conf"],
            cwd=ROOT,
            env=inherited | self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wait_for((run_dir / "supervisor.sock").exists)

    def control(self, *words):
        command = " ".join(f"'{word}'" for word in words)
        return sh(
            f". supervisor/defaults.sh && supervisorctl -c supervisor/supervisord.conf {command}",
            **self.environment,
        ).stdout

    def answers(self, path="/"):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=5) as response:
                return response.read() == b"OK"
        except (urllib.error.URLError, OSError):
            return False

    def logs(self):
        return "".join(f"== {path.name}\n{path.read_text()}" for path in sorted(self.run_dir.glob("*.log")))

    def stop(self):
        self.control("stop", "all")  # a shutdown would take a second for every group there is
        self.daemon.terminate()
        assert self.daemon.wait(20) == 0


@pytest.fixture(scope="module")
def supervisord():
    with short_directory() as directory:
        supervised = Supervised(directory)
        try:
            yield supervised
        finally:
            supervised.stop()


@pytest.fixture
def serving(supervisord):
    """A function that starts a setup, and returns its supervisor once it answers; it is stopped after the test."""
    started = []

    def serve(setup):
        groups = ["redis", setup] if setup == "daphne-redis" else [setup]  # the service that its file asks for
        started.extend(groups)
        supervisord.control("start", *(f"{group}:*" for group in groups))
        wait_for(supervisord.answers)
        return supervisord

    yield serve
    for group in started:
        supervisord.control("stop", f"{group}:*")
    print(supervisord.logs())  # pytest shows it when the test fails


@pytest.mark.servers
@pytest.mark.parametrize("setup", ["gunicorn", "daphne-redis"])
def test_a_setup_serves_and_stops(serving, setup):
    supervised = serving(setup)
    assert supervised.answers("/async/")
    supervised.control("stop", f"{setup}:*")
    assert not supervised.answers()
    states = supervised.control("status", f"{setup}:*").splitlines()
    assert states
    assert {line.split()[1] for line in states} == {"STOPPED"}


@pytest.mark.servers
def test_a_killed_worker_is_started_again(serving):
    supervised = serving("daphne-ipc")
    workers = ["daphne-ipc:worker_0", "daphne-ipc:worker_1"]
    victims = set(supervised.control("pid", *workers).split())
    assert len(victims) == 2
    for victim in victims:
        os.kill(int(victim), signal.SIGKILL)
    wait_for(supervised.answers)
    assert not victims & set(supervised.control("pid", *workers).split())
