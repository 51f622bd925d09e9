"""Divide the tests into groups for the processes of pytest-xdist, and order the groups."""

import json
from collections import Counter
from pathlib import Path

import pytest
from xdist.scheduler import LoadFileScheduling

TESTS = Path(__file__).resolve().parent
DURATIONS = TESTS / "durations.json"  # seconds of each group, written by `make test-durations`
LISTED_S = 1.0  # shorter groups can start in any order
# The tests in these files share no fixtures, so each test is a separate group.
SPLIT = {"tests/engines/test_journeys.py", "tests/engines/test_mix.py", "tests/engines/test_truth.py"}


class Groups(LoadFileScheduling):
    """Run all tests of a file in the same process, so that they share fixtures.

    With pytest 9.2, ``--dist=loadgroup`` of xdist 3.8 doesn't help, because this option makes each test a separate
    group.
    """

    def _split_scope(self, nodeid):
        file = super()._split_scope(nodeid)
        return nodeid if file in SPLIT else file


def pytest_xdist_make_scheduler(config, log):
    return Groups(config, log)


def pytest_addoption(parser):
    parser.addoption("--write-durations", action="store_true", help="write tests/durations.json")


def pytest_collection_modifyitems(items):
    """Start the longest groups first, so that all processes end at about the same time."""
    seconds = json.loads(DURATIONS.read_text())
    items.sort(key=lambda item: -seconds.get(_group(item), 0.0))


def _group(item):
    """Return the name of the test's group: its file, ``FILE (exhaustive)``, or the test itself for files in SPLIT."""
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
