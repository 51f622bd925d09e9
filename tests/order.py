"""What is run together in one process, and what is begun first."""

import json
from collections import Counter
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
DURATIONS = TESTS / "durations.json"  # seconds by group, written by `make test-durations`
LISTED_S = 1.0  # shorter ones can be begun in any order


def pytest_addoption(parser):
    parser.addoption("--write-durations", action="store_true", help="write tests/durations.json")


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items):
    """A file is a group, so that what its tests share is made once, unless it is marked with ``split``; its exhaustive
    tests are another. The longest group is begun first, so that no process ends long after the others."""
    for item in items:
        if not item.get_closest_marker("xdist_group") and not item.get_closest_marker("split"):
            exhaustive = " (exhaustive)" if item.get_closest_marker("exhaustive") else ""
            file = item.path.relative_to(TESTS).with_suffix("").as_posix()
            item.add_marker(pytest.mark.xdist_group(file + exhaustive))
    seconds = json.loads(DURATIONS.read_text())
    items.sort(key=lambda item: -seconds.get(_group(item), 0.0))


def _group(item):
    marker = item.get_closest_marker("xdist_group")
    return marker.args[0] if marker else item.nodeid


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    report = yield
    report.group = _group(item)
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport(report):
    # xdist appends the group to the name: without it `--last-failed` finds the test, and a person can paste the name.
    if hasattr(report, "group"):
        report.nodeid = report.nodeid.removesuffix(f"@{report.group}")


def pytest_terminal_summary(terminalreporter, config):
    if config.option.write_durations:
        seconds = Counter()
        for report in (report for reports in terminalreporter.stats.values() for report in reports):
            if hasattr(report, "group"):
                seconds[report.group] += report.duration
        known = {group: round(seconds[group], 1) for group in sorted(seconds) if seconds[group] >= LISTED_S}
        DURATIONS.write_text(json.dumps(known, indent=0) + "\n")
