"""What a search for a capacity in users asks for."""

import pytest

from loadtests.errors import UserError
from loadtests.plan import study as studies
from loadtests.plan.kinds.journey import CAPACITY_ARRIVALS, CAPACITY_USERS
from loadtests.plan.schedule import planned_seconds, schedule
from loadtests.workload import Feature
from tests.fixtures.studies import a_test, load_of


def parsed(where="s.toml", **keys):
    return a_test("journey-capacity", where=where, **{**keys})


def test_how_many_users_is_a_whole_number():
    test = parsed(start_rate=20, max_rate=1000, think=["250ms", "500ms"], probe="5s")
    objective, plan = test.search
    assert str(objective) == "p99<500ms, errors<0.1%"
    assert (plan.first_rate, plan.max_rate, plan.unit, plan.whole) == (20, 1000, "users", True)
    assert load_of(test).users.users == 20
    assert test.decisive is CAPACITY_USERS
    assert test.description == (
        "the journey questionnaire at /questionnaire/, the most users within p99<500ms, failures<0.1%, "
        "thinking for 0.25 to 0.5 s"
    )


def test_new_users_come_at_a_rate():
    test = parsed(model="arrivals", start_rate=0.5)
    _, plan = test.search
    assert (plan.first_rate, plan.unit, plan.whole) == (0.5, "new users/s", False)
    assert (load_of(test).users.users, load_of(test).users.arrivals) == (None, 0.5)
    assert test.decisive is CAPACITY_ARRIVALS
    assert "the highest rate of new users within" in test.description


def test_each_probe_has_other_users_and_as_many_connections():
    first = load_of(parsed(injectors=2), seed=7)
    probe = first.probing(41.0, 8.0, 3)
    assert (probe.users.users, probe.connections, probe.duration_s, probe.rate) == (41, 41, 8.0, None)
    assert probe.arrival_seed not in (None, first.arrival_seed, first.probing(41.0, 8.0, 4).arrival_seed)
    assert first.probing(1.0, 8.0, 3).connections == 2  # one for each process
    coming = load_of(parsed(model="arrivals")).probing(2.5, 8.0, 0)
    assert (coming.users.arrivals, coming.rate) == (2.5, None)


def test_a_probe_is_long_enough_for_the_percentile_where_that_is_known(tmp_path):
    _, plan = parsed(model="arrivals", probe="5s").search
    assert plan.probe_s(1.0, 5.0) == pytest.approx(1000 / 18.5, abs=0.1)
    _, plan = parsed(think=["1s", "1s"], probe="5s").search
    assert plan.probe_s(20.0, 5.0) == pytest.approx(1000 / (20 * 18.5 / 8.75), abs=0.1)
    (tmp_path / "mine.py").touch()
    _, plan = parsed(str(tmp_path / "s.toml"), journey="mine.py", probe="5s").search
    assert plan.probe_s(1.0, 5.0) == 5.0  # how many requests it makes is not known


def test_it_takes_an_engine_that_can_stop_and_knows_when_users_were_ready():
    test = parsed()
    assert test.engine == "locust"
    assert test.pace.engine_features == {Feature.EARLY_STOP, Feature.RESPONSE_TIME}
    assert load_of(test).features == {Feature.JOURNEYS}


def test_the_study_that_ships_takes_three_quarters_of_an_hour_at_the_most():
    study = studies.load("users")
    assert planned_seconds(study, schedule(study, seed=1)) < 45 * 60


@pytest.mark.parametrize(
    ("test", "says"),
    [
        ({"model": "people"}, "model: is 'people'; 'arrivals' or 'users' is needed"),
        ({"objective": "quick"}, "objective: 'quick' is not a limit"),
        ({"start_rate": 0.5}, "start_rate: is 0.5; from 1 to max_rate"),
        ({"start_rate": 50, "max_rate": 20}, "start_rate: is 50; from 1 to max_rate \\(20\\)"),
        ({"max_rate": 30000}, "max_rate: is 30000; 20,000 is the most"),
        ({"users": 10}, "users: is not a key here"),
    ],
)
def test_what_makes_no_sense_is_refused(test, says):
    with pytest.raises(UserError, match=f"^s.toml: tests.journey-capacity.{says}"):
        parsed(**test)
