"""Provide fixtures and hooks that several folders of tests use."""

import os
import signal
from collections import Counter

import pytest

# The modules that set the order of the tests or provide shared fixtures.
pytest_plugins = [
    "tests.order",
    "tests.fixtures.bench",
    "tests.fixtures.command",
    "tests.fixtures.coroutines",
    "tests.fixtures.datastores",
    "tests.fixtures.known_server",
    "tests.fixtures.other_machine",
    "tests.fixtures.redis_servers",
    "tests.fixtures.runs",
    "tests.fixtures.changes",
    "tests.fixtures.served",
    "tests.fixtures.small_projects",
    "tests.fixtures.websocket_server",
    "tests.fixtures.surveys",
    "tests.fixtures.two_machines",
]

os.environ["COLUMNS"] = "160"  # a wide terminal, so that output isn't wrapped

# A program that a shell script starts in the background ignores Ctrl-C, and so do its child processes.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def quick_generators(monkeypatch):
    """Shorten the generator's warm-up, which takes more CPU time than most loads of the tests."""
    monkeypatch.setattr("loadtests.engines.node.COMPILE_MS", 20.0)


@pytest.fixture(autouse=True)
def no_exported_settings(monkeypatch):
    """Unset DJANGO_SETTINGS_MODULE.

    Some conftest modules set this variable for the sample project. Runs of other projects must not use its settings.
    """
    monkeypatch.delenv("DJANGO_SETTINGS_MODULE", raising=False)


def pytest_terminal_summary(terminalreporter):
    """Print the number of skipped tests for each reason."""
    reasons = Counter(
        report.longrepr[2].removeprefix("Skipped: ") for report in terminalreporter.stats.get("skipped", ())
    )
    if reasons:
        terminalreporter.section("skipped, and why")
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"{count} skipped: {reason}")
