"""Provide fixtures and hooks for several folders of tests."""

import os
import signal
from collections import Counter

import pytest

# Provide the order of tests, and fixtures for several folders.
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

os.environ["COLUMNS"] = "160"  # width of the terminal, so that no output is wrapped

# A shell script's background programs, and all programs that these start, ignore Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def no_exported_settings(monkeypatch):
    """Some conftests export the sample project's settings, and a run of another project would serve these."""
    monkeypatch.delenv("DJANGO_SETTINGS_MODULE", raising=False)


def pytest_terminal_summary(terminalreporter):
    """Print the skipped tests by reason. A reason names the missing program."""
    reasons = Counter(
        report.longrepr[2].removeprefix("Skipped: ") for report in terminalreporter.stats.get("skipped", ())
    )
    if reasons:
        terminalreporter.section("skipped, and why")
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"{count} skipped: {reason}")
