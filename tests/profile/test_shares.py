"""Test shares of CPU time with samples that can be counted by hand."""

from collections import Counter

import pytest

from loadtests.profile.classify import Category
from loadtests.profile.shares import Sampled, by_role, wilson

SERVER, VIEW, NATIVE = Category.SERVER, Category.VIEW, Category.NATIVE


@pytest.fixture
def process(stack):
    """Return a process that used 10 s of CPU time, and has 800 of the expected 1,000 samples."""

    def make(role="web", server=600, view=200, **values):
        counted = Counter({stack("run gunicorn/app.py"): server, stack("page app:views.py"): view})
        given = {"cpu_s": 10.0, "seconds": 20.0, "interval_s": 0.01, "stacks": counted, **values}
        return Sampled(role=role, name="gunicorn", **given)

    return make


def shares(*rounds):
    """Return the shares of the profile's only role, by category."""
    [role] = by_role(rounds, {"web": 500.0})
    return {share.category: share for share in role.shares}


def sizes(*rounds):
    return {kind: share.share for kind, share in shares(*rounds).items()}


def test_missing_samples_count_as_outside_python(process):
    assert sizes([process()]) == {SERVER: 0.6, VIEW: 0.2, NATIVE: 0.2}
    assert sizes([process(stacks=None, busy=False)]) == {NATIVE: 1.0}  # the process doesn't run Python
    assert shares([process()])[SERVER].us_per_request == pytest.approx(300.0)
    [role] = by_role([[process()]], {"web": 500.0})
    assert (role.samples, role.expected) == (800, 1000)


def test_idle_process_leaves_remainder_unknown(process):
    idle = process(busy=False)
    assert sizes([idle]) == sizes([process()], [idle]) == {SERVER: 0.75, VIEW: 0.25}
    assert sizes([idle, process(stacks=None)])[NATIVE] == pytest.approx(1000 / 1800)  # everything outside Python


def test_share_covers_all_rounds(process):
    server = shares([process(server=800, view=200)], [process(server=600, view=400)])[SERVER]
    assert (server.rounds, server.share) == ((0.8, 0.6), 0.7)
    assert sizes([process(server=800), process(server=600)])[SERVER] == pytest.approx(1400 / 2000)


def test_most_expensive_role_comes_first(process):
    roles = by_role([[process(), process(role="worker")]], {"web": 1.0, "worker": 2.0})
    assert [role.role for role in roles] == ["worker", "web"]


@pytest.mark.parametrize(
    ("hits", "trials", "low", "high"),
    [(0, 0, 0.0, 1.0), (0, 10, 0.0, 0.278), (5, 10, 0.237, 0.763), (10, 10, 0.722, 1.0)],
)
def test_wilson_interval_is_correct(hits, trials, low, high):
    assert wilson(hits, trials) == pytest.approx((low, high), abs=0.001)
