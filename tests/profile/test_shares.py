"""Shares from constructed samples, where all can be counted by hand."""

from collections import Counter

import pytest

from loadtests.profile.classify import Category
from loadtests.profile.shares import Sampled, by_role, wilson


@pytest.fixture
def process(stack):
    """One process that was 10 s on the CPU: 800 samples of 1,000."""

    def make(role="web", server=600, view=200, **values):
        counted = Counter({stack("run gunicorn/app.py"): server, stack("page app:views.py"): view})
        given = {"cpu_s": 10.0, "seconds": 20.0, "interval_s": 0.01, "stacks": counted, **values}
        return Sampled(role=role, name="gunicorn", **given)

    return make


def shares(role):
    return {share.category: share for share in role.shares}


def test_what_is_missing_against_the_kernels_count_is_outside_python(process):
    [role] = by_role([[process()]], {"web": 500.0})
    found = shares(role)
    assert {kind: share.share for kind, share in found.items()} == {
        Category.SERVER: 0.6,
        Category.VIEW: 0.2,
        Category.NATIVE: 0.2,
    }
    assert found[Category.SERVER].us_per_request == pytest.approx(300.0)
    assert (role.samples, role.expected) == (800, 1000)


def test_what_is_missing_in_an_idle_process_says_nothing(process):
    [role] = by_role([[process(busy=False)]], {"web": 500.0})
    assert {kind: share.share for kind, share in shares(role).items()} == {Category.SERVER: 0.75, Category.VIEW: 0.25}


def test_one_idle_round_is_enough_for_that(process):
    [role] = by_role([[process()], [process(busy=False)]], {"web": 500.0})
    assert Category.NATIVE not in shares(role)


def test_a_process_that_is_not_python_is_all_outside(process):
    [role] = by_role([[process(role="redis", stacks=None, busy=False)]], {"redis": 100.0})
    assert [(share.category, share.share) for share in role.shares] == [(Category.NATIVE, 1.0)]


def test_each_round_has_its_share(process):
    [role] = by_role([[process(server=800, view=200)], [process(server=600, view=400)]], {"web": 1.0})
    assert shares(role)[Category.SERVER].rounds == (0.8, 0.6)
    assert shares(role)[Category.SERVER].share == 0.7


def test_the_processes_of_a_role_are_one(process):
    [role] = by_role([[process(server=800), process(server=600)]], {"web": 1.0})
    assert shares(role)[Category.SERVER].share == pytest.approx(1400 / 2000)


def test_the_dearest_role_comes_first(process):
    roles = by_role([[process(), process(role="worker")]], {"web": 1.0, "worker": 2.0})
    assert [role.role for role in roles] == ["worker", "web"]


def test_threads_that_wait_are_those_there_less_those_on_the_cpu(process, stack):
    threads = Counter({stack("run gunicorn/app.py"): 100, stack("_worker lib:concurrent/futures/thread.py"): 300})
    [role] = by_role([[process(threads=threads, looks=100)]], {"web": 1.0})
    found = shares(role)
    # One thread in the server at any time; 600 samples of 10 ms in 20 s are 0.3 of it.
    assert found[Category.SERVER].waiting == pytest.approx(0.7)
    assert found[Category.HOPS].waiting == pytest.approx(3.0)
    assert found[Category.VIEW].waiting == 0.0


def test_where_nobody_looked_waiting_is_not_known(process):
    [role] = by_role([[process()]], {"web": 1.0})
    assert {share.waiting for share in role.shares} == {None}


@pytest.mark.parametrize(
    ("hits", "trials", "low", "high"),
    [(0, 0, 0.0, 1.0), (0, 10, 0.0, 0.278), (5, 10, 0.237, 0.763), (10, 10, 0.722, 1.0)],
)
def test_wilson(hits, trials, low, high):
    assert wilson(hits, trials) == pytest.approx((low, high), abs=0.001)
