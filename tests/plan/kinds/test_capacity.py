"""When the requests of the probes of a capacity test are due."""

import pytest

from loadtests.errors import UserError
from loadtests.plan import kinds
from loadtests.plan import study as studies


def parsed(**test):
    [found] = studies.parse({"setups": ["gunicorn"], "tests": {"capacity": test}}, "s", "s.toml").tests
    return found


def seed(test):
    return test.load("http://127.0.0.1:1", test.requests, (), None, 7).arrival_seed


def test_arrivals_are_random_unless_a_study_says_otherwise():
    test, even = parsed(), parsed(arrivals="even")
    assert (seed(test), seed(even)) == (7, None)
    assert test.description == "GET / at the highest rate within p99<50ms, at random moments"
    assert even.description == "GET / at the highest rate within p99<50ms"
    assert not test.same_as(even)


@pytest.mark.parametrize("arrivals", ["random", "even"])
def test_a_record_keeps_them(arrivals):
    test = parsed(arrivals=arrivals)
    assert kinds.from_record(test.record()) == test


def test_other_words_are_refused():
    with pytest.raises(UserError, match="arrivals: is 'recorded'; 'even' or 'random' is needed"):
        parsed(arrivals="recorded")
