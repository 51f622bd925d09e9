"""Test the pool gauges of a setup's processes, which the harness reads from files."""

import os

import pytest

from loadtests.observe.gauges import EVERY_S, IN_USE, NAMES, NUMBERS, WAITING, GaugeFiles, GaugeWatch, joined
from tests.fixtures.waiting import wait_for


@pytest.fixture
def shows(tmp_path):
    """Return a function that writes the gauges of a process to ``tmp_path``, as the process itself would."""

    def show(pid, in_use, waiting):
        (tmp_path / f"pool-{pid}").write_bytes(NUMBERS.pack(in_use, waiting))

    return show


def test_gauges_of_processes_are_added(shows, tmp_path):
    living = {1, 2}
    files = GaugeFiles(tmp_path, alive=lambda pid: pid in living)
    (tmp_path / "pool-1").touch()  # not written yet
    assert (files.look(), files.read()) == (False, (0, 0))
    shows(1, 5, 0)
    shows(2, 7, 1)
    assert (files.look(), files.read()) == (True, (12, 1))
    living.remove(1)
    living.add(3)
    shows(3, 1, 0)
    assert (files.look(), files.read()) == (True, (8, 1))
    files.close()


def test_readings_start_at_measurement(shows, tmp_path):
    shows(os.getpid(), 4, 2)
    watch = GaugeWatch(tmp_path)
    watch.begin()
    wait_for(lambda: len(watch._read) > 4)
    series = watch.end(settle_s=EVERY_S / 2)  # excludes the first reading, which is in the settling time
    assert {name: {value for _, value in readings} for name, readings in series.items()} == {IN_USE: {4}, WAITING: {2}}
    times = [t for t, _ in series[IN_USE]]
    assert times == sorted(times)
    assert times[0] >= 0
    assert len(times) >= 4


def test_gauges_of_slices_form_one_series():
    first = dict.fromkeys(NAMES, ((0.0, 1), (0.3, 2), (0.6, 3)))
    last = dict.fromkeys(NAMES, ((0.1, 4), (0.7, 5)))
    assert joined([first, {}, last], [0.5, 0.5, 0.5]) == dict.fromkeys(NAMES, ((0.0, 1), (0.3, 2), (1.1, 4), (1.7, 5)))
    assert joined([{}], [1.0]) == {}
