"""What the processes of a setup show of their pools, read from outside."""

import os

import pytest

from loadtests.observe.gauges import EVERY_S, IN_USE, NAMES, NUMBERS, WAITING, GaugeFiles, GaugeWatch, joined
from tests.fixtures.waiting import wait_for


@pytest.fixture
def shows(tmp_path):
    """A function: the process of that id shows these numbers in ``tmp_path``."""

    def show(pid, in_use, waiting):
        (tmp_path / f"pool-{pid}").write_bytes(NUMBERS.pack(in_use, waiting))

    return show


def test_all_processes_are_added_up(shows, tmp_path):
    files = GaugeFiles(tmp_path, alive=lambda pid: True)
    assert (files.look(), files.read()) == (False, (0, 0))
    for pid in (1, 2, 3):
        shows(pid, 10 * pid, pid)
    assert (files.look(), files.read()) == (True, (60, 6))
    files.close()


def test_a_process_that_has_ended_shows_nothing_and_a_new_one_does(shows, tmp_path):
    living = {1, 2}
    files = GaugeFiles(tmp_path, alive=lambda pid: pid in living)
    shows(1, 5, 0)
    shows(2, 7, 1)
    files.look()
    living.remove(1)
    living.add(3)
    shows(3, 1, 0)
    files.look()
    assert files.read() == (8, 1)
    files.close()


def test_what_is_not_written_yet_is_left_for_the_next_look(shows, tmp_path):
    files = GaugeFiles(tmp_path, alive=lambda pid: True)
    (tmp_path / "pool-1").touch()
    assert not files.look()
    shows(1, 2, 3)
    assert files.look()
    files.close()


def test_the_readings_of_a_watch_count_from_what_is_measured(shows, tmp_path):
    shows(os.getpid(), 4, 2)
    watch = GaugeWatch(tmp_path)
    watch.begin()
    wait_for(lambda: len(watch._read) > 4)
    series = watch.end(settle_s=EVERY_S / 2)  # the first reading is of before
    assert set(series) == {IN_USE, WAITING}
    assert {value for _, value in series[IN_USE]} == {4}
    assert {value for _, value in series[WAITING]} == {2}
    times = [t for t, _ in series[IN_USE]]
    assert times == sorted(times)
    assert times[0] >= 0
    assert len(times) >= 4


def test_without_gauges_nothing_is_watched(tmp_path):
    watch = GaugeWatch(tmp_path)
    assert watch.end() == {}
    watch = GaugeWatch(tmp_path / "nowhere")
    watch.begin()
    assert watch.end() == {}


def test_slices_are_one_series_on_the_axis_of_what_was_measured():
    first = dict.fromkeys(NAMES, ((0.0, 1), (0.3, 2), (0.6, 3)))
    last = dict.fromkeys(NAMES, ((0.1, 4), (0.7, 5)))
    assert joined([first, {}, last], [0.5, 0.5, 0.5]) == dict.fromkeys(NAMES, ((0.0, 1), (0.3, 2), (1.1, 4), (1.7, 5)))
    assert joined([{}], [1.0]) == {}
