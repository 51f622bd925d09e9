"""What several folders of tests share."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import psutil
import pytest

# Fixtures that tests of several folders share.
pytest_plugins = ["tests.fixtures.bench", "tests.fixtures.known_server", "tests.fixtures.runs"]

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


# With several processes, all tests of a file run in one (--dist=loadfile), so that what they share is made once. What
# takes the longest is begun first, so that no process ends long after the others.
LONGEST = (
    "measure/test_run",
    "docs/test_site",
    "engines/test_truth",
    "application",
    "commands/test_profile",
    "serve",
    "engines",
)


def pytest_collection_modifyitems(items):
    """Files in the order in which they are to be begun."""
    items.sort(key=_turn)


def _turn(item):
    path = item.path.relative_to(ROOT / "tests").as_posix()
    return next((turn for turn, start in enumerate(LONGEST) if path.startswith(start)), len(LONGEST))


def pytest_terminal_summary(terminalreporter):
    """What was skipped, for which reason: a reason says what to install."""
    reasons = Counter(
        report.longrepr[2].removeprefix("Skipped: ") for report in terminalreporter.stats.get("skipped", ())
    )
    if reasons:
        terminalreporter.section("skipped, and why")
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"{count} skipped: {reason}")


class Cli:
    """``python -m loadtests`` as a user runs it, on a port of its own."""

    def __init__(self, port):
        self.mark = f"{os.getpid()}-{time.monotonic_ns()}"
        self.env = {**os.environ, "PORT": str(port), "TEST_MARK": self.mark, "COLUMNS": "160"}

    def start(self, *arguments):
        return subprocess.Popen(
            [sys.executable, "-m", "loadtests", *map(str, arguments)],
            cwd=ROOT,
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments, timeout=100):
        """The exit code, what was printed, and what was printed as an error."""
        process = self.start(*arguments)
        try:
            printed, errors = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            raise
        return process.returncode, printed, errors

    def processes(self):
        """All processes that this command started, and those that they started."""
        found = []
        for process in psutil.process_iter(["environ"]):
            if (process.info["environ"] or {}).get("TEST_MARK") == self.mark:
                found.append(process)
        return found

    def wait_until_nothing_runs(self):
        end = time.monotonic() + 30
        while left := self.processes():
            assert time.monotonic() < end, f"still running: {left}"
            time.sleep(0.1)


@pytest.fixture
def cli(free_port):
    command = Cli(free_port)
    yield command
    for process in command.processes():
        process.kill()
