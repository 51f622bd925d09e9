"""Group the tests for the test processes, and order the groups."""

import json
from collections import Counter
from pathlib import Path

import pytest
from xdist.scheduler import LoadFileScheduling

TESTS = Path(__file__).resolve().parent
DURATIONS = TESTS / "durations.json"  # seconds by group, written by `make test-durations`
LISTED_S = 1.0  # shorter tests can start in any order
# The tests of these files share nothing, so each of them is a group.
SPLIT = {"tests/engines/test_journeys.py", "tests/engines/test_mix.py", "tests/engines/test_truth.py"}


class Groups(LoadFileScheduling):
    """Run the tests of a file in one process, to share fixtures.

    With pytest 9.2, ``--dist=loadgroup`` of xdist 3.8 makes each test a group.
    """

    def _split_scope(self, nodeid):
        file = super()._split_scope(nodeid)
        return nodeid if file in SPLIT else file


def pytest_xdist_make_scheduler(config, log):
    return Groups(config, log)


def pytest_addoption(parser):
    parser.addoption("--write-durations", action="store_true", help="write tests/durations.json")


def pytest_collection_modifyitems(items):
    """Start the longest group first, so that no process ends long after the others."""
    seconds = json.loads(DURATIONS.read_text())
    items.sort(key=lambda item: -seconds.get(_group(item), 0.0))


def _group(item):
    """Return the test's file, or the test. The exhaustive tests of a file are a separate group."""
    file = item.nodeid.partition("::")[0]
    if file in SPLIT:
        return item.nodeid
    return f"{file} (exhaustive)" if item.get_closest_marker("exhaustive") else file


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    report = yield
    report.group = _group(item)
    return report


def pytest_terminal_summary(terminalreporter, config):
    if config.option.write_durations:
        seconds = Counter()
        for report in (report for reports in terminalreporter.stats.values() for report in reports):
            if hasattr(report, "group"):
                seconds[report.group] += report.duration
        known = {group: round(seconds[group], 1) for group in sorted(seconds) if seconds[group] >= LISTED_S}
        DURATIONS.write_text(json.dumps(known, indent=0) + "\n")
