"""What others take of a machine that is not the servers'."""

import os
import subprocess
import sys

import pytest

from loadtests.observe import conditions, others
from loadtests.observe.conditions import Moment
from loadtests.observe.processes import Part

BURN = "import time\nwhile time.process_time() < 0.3: pass"
ME = Part("harness", os.getpid())


@pytest.fixture
def busy(monkeypatch):
    """Two cores that were busy for 5,000 s, of which 10 s went to interrupts."""
    monkeypatch.setattr(conditions, "now", lambda cores: Moment(1.0, 2.0, 5000.0, 3, None))
    monkeypatch.setattr(conditions, "interrupts_s", lambda cores: 10.0)


def test_it_is_what_the_cores_did_but_for_interrupts_and_what_is_ours(busy):
    assert others.moment([0, 1], []).cores_busy_s == (5000.0 - 10.0) / 2
    assert others.moment([0, 1], [ME]).cores_busy_s < (5000.0 - 10.0) / 2


def test_what_was_started_and_has_ended_is_ours_as_well(busy):
    before = others.moment([0], [ME]).cores_busy_s
    subprocess.run([sys.executable, "-c", BURN], check=True)
    assert before - others.moment([0], [ME]).cores_busy_s > 0.2
    alone = Part("harness", os.getpid(), alone=True)
    assert others.moment([0], [alone]).cores_busy_s > others.moment([0], [ME]).cores_busy_s + 0.2


def test_a_process_that_is_gone_took_nothing(busy):
    with subprocess.Popen(["true"]) as gone:
        pass
    assert others.moment([0], [Part("gone", gone.pid)]) == others.moment([0], [])
