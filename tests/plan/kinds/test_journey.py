"""Test the keys of journey tests, and of searches for the most users."""

import pytest

from loadtests import journeys
from loadtests.plan import kinds
from loadtests.plan.kinds.journey import CAPACITY_ARRIVALS, CAPACITY_USERS
from loadtests.plan.metrics import P95, P99
from loadtests.workload import Feature, Users
from tests.fixtures.studies import a_test, load_of

BEGIN = "/questionnaire/"


def parsed(where="s.toml", **keys):
    return a_test("journey", where=where, **{"duration": "60s", **keys})


@pytest.fixture
def own(tmp_path):
    """Return a function that writes a journey's file with this text and returns a test of the journey."""

    def parse(folder="a", text="", **keys):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.py").write_text(text)
        return parsed(str(tmp_path / folder / "s.toml"), journey="mine.py", **keys)

    return parse


def test_fixed_users_form_closed_loop():
    test = parsed(users=64)
    load = load_of(test)
    journey = str(journeys.known()["questionnaire"])
    assert load.users == Users(journey, BEGIN, (1.0, 2.0), users=64, arrivals=None)
    assert load.features == {Feature.JOURNEYS}
    assert (load.warmup_s, load.duration_s) == (13.0, 60.0)
    assert test.description == f"the journey questionnaire at {BEGIN} with 64 users, thinking for 1 to 2 s"
    [request] = test.requests
    assert (request.method, request.path, request.status) == ("GET", f"{BEGIN}launch/", 302)


def test_new_users_form_open_loop():
    test = parsed(rate=2, think="500ms", warmup="30s", path="/async/questionnaire/")
    users = load_of(test, seed=7).users
    assert (users.users, users.arrivals, users.think_s, users.path) == (None, 2.0, (0.5, 0.5), "/async/questionnaire/")
    assert test.condition == "at 2 new users a second"


def test_journey_file_is_next_to_study(own, tmp_path):
    test = own(users=1, path="/shop/")
    assert load_of(test).users.journey == str((tmp_path / "a" / "mine.py").resolve())
    assert test.short_description == "the journey mine at /shop/"
    assert [(one.path, one.status) for one in test.requests] == [("/shop/", 200)]


@pytest.mark.parametrize("path", ["/app", "/app?tab=1"])
def test_path_needs_no_final_slash(own, tmp_path, path):
    assert [one.path for one in own(users=1, path=path).requests] == [path]
    file = tmp_path / "walk.py"
    file.write_text(f"class Walk:\n    path = {path!r}\n")
    assert [one.path for one in parsed(users=1).with_journey(file, None).requests] == [path]


def test_journey_is_identified_by_content(own):
    first, copy, other = own("a", "one", users=1), own("b", "one", users=1), own("c", "another", users=1)
    assert first.same_as(copy)
    assert not first.same_as(other)
    assert first.exact_description == copy.exact_description != other.exact_description
    assert kinds.from_record(first.record()) == first


@pytest.mark.parametrize(
    ("test", "judged"),
    [
        ({"rate": 2, "duration": "26s"}, P95),  # 2 x 26 x 18.5 = 962
        ({"users": 40, "duration": "18s"}, P99),  # 40 x 18 / 13.1 x 18.5 = 1015
    ],
)
def test_lower_percentile_replaces_unknowable_p99(own, test, judged):
    assert parsed(**test).judged[1] is judged
    assert own(**test).judged[1] is P99  # the number of requests in a user's own journey isn't known


def test_several_injectors_share_the_users():
    test = parsed(users=64, injectors=2)
    assert load_of(test).processes == 2
    assert load_of(test).features == {Feature.JOURNEYS, Feature.PROCESSES}
    assert test.same_as(parsed(users=64, injectors=3))


def test_quick_users_finish_journeys():
    quick = parsed(users=64).quick()
    assert (quick.warmup_s, quick.pace.duration_s, quick.pace.users) == (1.0, 6.0, 7)
    assert max(quick.think_s) * 9 < 3.0


def test_cost_is_per_journey():
    test = parsed(users=64)
    assert test.judged[-1] is kinds.metric("cpu_ms_per_journey")
    assert test.has_metric(kinds.metric("redis_cpu_ms_per_journey"))
    assert not test.has_metric(kinds.metric("redis_cpu_ms_per_request"))
    assert test.has_metric(kinds.metric("cpu_ms_per_request"))  # this metric doesn't need a completed journey


def searching(where="s.toml", **keys):
    return a_test("journey-capacity", where=where, **keys)


def test_user_capacity_is_whole_number():
    test = searching(start_rate=20, max_rate=1000, think=["250ms", "500ms"], probe="5s")
    objective, plan = test.search
    assert str(objective) == "p99<500ms, errors<0.1%"
    assert (plan.first_rate, plan.max_rate, plan.unit, plan.whole) == (20, 1000, "users", True)
    assert (load_of(test).users.users, load_of(test).features) == (20, {Feature.JOURNEYS})
    assert "the most users within p99<500ms" in test.description
    coming = searching(model="arrivals", start_rate=0.5)
    _, plan = coming.search
    assert (plan.first_rate, plan.unit, plan.whole) == (0.5, "new users/s", False)
    assert (load_of(coming).users.users, load_of(coming).users.arrivals) == (None, 0.5)
    assert (test.decisive, coming.decisive) == (CAPACITY_USERS, CAPACITY_ARRIVALS)
    assert "the highest rate of new users within" in coming.description


def test_each_probe_has_different_users():
    first = load_of(searching(injectors=2), seed=7)
    probe = first.probing(41.0, 8.0, 3)
    assert (probe.users.users, probe.connections, probe.duration_s, probe.rate) == (41, 41, 8.0, None)
    assert probe.arrival_seed not in (None, first.arrival_seed, first.probing(41.0, 8.0, 4).arrival_seed)
    assert first.probing(1.0, 8.0, 3).connections == 2  # at least one user for each process
    coming = load_of(searching(model="arrivals")).probing(2.5, 8.0, 0)
    assert (coming.users.arrivals, coming.rate) == (2.5, None)


def test_percentile_sets_probe_duration(tmp_path):
    (tmp_path / "mine.py").touch()

    def probe_s(rate, **keys):
        return searching(str(tmp_path / "s.toml"), probe="5s", **keys).search[1].probe_s(rate, 5.0)

    assert probe_s(1.0, model="arrivals") == pytest.approx(1000 / 18.5, abs=0.1)
    assert probe_s(1.0, journey="mine.py") == 5.0  # the number of requests isn't known
