"""Who the users of a journey are, and when each of them comes."""

import itertools

import pytest

from loadtests.errors import UserError
from loadtests.workload import Users


def users(**who):
    return Users("journey.py", "/", **{"think_s": (1.0, 2.0), **who})


def test_a_number_of_users_comes_at_even_distances_while_the_load_ramps_up():
    assert users(users=4).starts(2.0, 10.0, seed=1) == [(0, 0.0), (1, 0.5), (2, 1.0), (3, 1.5)]
    assert users(users=2).starts(0.0, 10.0, seed=1) == [(0, 0.0), (1, 0.0)]


def test_new_ones_come_at_their_rate_at_random_moments():
    starts = users(arrivals=10.0).starts(5.0, 20.0, seed=1)
    numbers, moments = zip(*starts, strict=True)
    assert numbers == tuple(range(250))
    assert list(moments) == sorted(moments)
    assert sum(moment < 5.0 for moment in moments) == 50
    assert all(moment < 25.0 for moment in moments)
    gaps = {round(after - before, 6) for before, after in itertools.pairwise(moments)}
    assert len(gaps) > 200


def test_the_same_seed_gives_the_same_moments():
    who = users(arrivals=10.0)
    assert who.starts(5.0, 20.0, seed=1) == who.starts(5.0, 20.0, seed=1)
    assert who.starts(5.0, 20.0, seed=1) != who.starts(5.0, 20.0, seed=2)


@pytest.mark.parametrize(
    ("who", "says"),
    [
        ({}, "either a number of users or a rate"),
        ({"users": 1, "arrivals": 1.0}, "either a number of users or a rate"),
        ({"users": 0}, "number of users must be from 1 to 20,000, not 0"),
        ({"arrivals": 0.0}, "must be over 0, not 0"),
        ({"users": 1, "think_s": (2.0, 1.0)}, "the least first, not 2 to 1"),
        ({"users": 1, "think_s": (0.0, float("nan"))}, "users think from 0"),
    ],
)
def test_what_makes_no_sense_is_refused(who, says):
    with pytest.raises(UserError, match=says):
        users(**who)


def test_too_many_are_refused_before_they_are_drawn():
    with pytest.raises(UserError, match="100000 users a second for 3610 s are over 1,000,000"):
        users(arrivals=100_000.0).starts(10.0, 3600.0, seed=1)
