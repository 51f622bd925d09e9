"""What others do on a machine that is not the servers'."""

import os
import subprocess
import sys

import pytest

from loadtests.observe import conditions, other_load
from loadtests.observe.conditions import Moment
from loadtests.observe.other_load import OthersMoment
from loadtests.observe.processes import Part

BURN = "import time\nwhile time.process_time() < 0.3: pass"
ME = Part("harness", os.getpid())


@pytest.fixture
def busy(monkeypatch):
    """Two cores that were busy for 5,000 s, of which 10 s went to interrupts and 40 s to others of the hypervisor."""
    monkeypatch.setattr(conditions, "now", lambda cores: Moment(1.0, 2.0, 5000.0, 3, 2000.0))
    monkeypatch.setattr(conditions, "interrupts_s", lambda cores: 10.0)
    monkeypatch.setattr(conditions, "stolen_s", lambda cores: 40.0)


def test_it_is_what_the_cores_did_but_for_interrupts_and_what_is_ours(busy):
    seen = other_load.moment([0, 1], [])
    assert (seen.programs_s, seen.stolen_s) == ((5000.0 - 10.0 - 40.0) / 2, 20.0)
    assert (seen.swapped_pages, seen.mhz) == (3, 2000.0)
    assert other_load.moment([0, 1], [ME]).programs_s < seen.programs_s


def test_what_was_started_and_has_ended_is_ours_as_well(busy):
    before = other_load.moment([0], [ME]).programs_s
    subprocess.run([sys.executable, "-c", BURN], check=True)
    assert before - other_load.moment([0], [ME]).programs_s > 0.2
    alone = Part("harness", os.getpid(), alone=True)
    assert other_load.moment([0], [alone]).programs_s > other_load.moment([0], [ME]).programs_s + 0.2


def test_a_process_that_is_gone_took_nothing(busy):
    with subprocess.Popen(["true"]) as gone:
        pass
    assert other_load.moment([0], [Part("gone", gone.pid)]).programs_s == other_load.moment([0], []).programs_s


def test_what_is_taken_off_too_much_hides_no_steal():
    first = OthersMoment(monotonic_s=10.0, programs_s=7.0, stolen_s=1.0, swapped_pages=3, mhz=None)
    last = OthersMoment(monotonic_s=20.0, programs_s=6.0, stolen_s=3.0, swapped_pages=5, mhz=2000.0)
    seen = other_load.between(first, last)
    assert (seen.elapsed_s, seen.other_load, seen.swapped_pages, seen.mhz) == (10.0, 0.2, 2, 2000.0)


def test_the_machine_can_be_read():
    first = other_load.moment([0], [ME])
    last = other_load.moment([0], [ME])
    assert other_load.between(first, last).other_load >= 0
