"""What several folders of tests share."""

import os
import signal
from collections import Counter
from pathlib import Path

# Fixtures that tests of several folders share.
pytest_plugins = [
    "tests.fixtures.bench",
    "tests.fixtures.command",
    "tests.fixtures.datastores",
    "tests.fixtures.known_server",
    "tests.fixtures.other_machine",
    "tests.fixtures.redis_servers",
    "tests.fixtures.runs",
    "tests.fixtures.websocket_server",
    "tests.fixtures.surveys",
    "tests.fixtures.two_machines",
]

ROOT = Path(__file__).resolve().parent.parent

os.environ["COLUMNS"] = "160"  # of the terminal: wide enough that nothing printed is folded

# A shell script starts what it puts in the background deaf to Ctrl-C, and all that is started from there is deaf, too.
signal.signal(signal.SIGINT, signal.default_int_handler)


# With several processes, all tests of a file run in one (--dist=loadfile), so that what they share is made once. What
# takes the longest is begun first, so that no process ends long after the others.
LONGEST = (
    "measure/test_run",
    "docs/test_site",
    "hosts/test_two",
    "hosts/test_ssh",
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
