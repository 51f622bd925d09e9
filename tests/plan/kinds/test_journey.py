"""Test the keys of journey tests, and of searches for the most users."""

import dataclasses

import pytest

from loadtests import journeys
from loadtests.errors import UserError
from loadtests.plan import kinds
from loadtests.plan import study as studies
from loadtests.plan.kinds.journey import CAPACITY_ARRIVALS, CAPACITY_USERS
from loadtests.plan.kinds.journey_work import THINKS
from loadtests.plan.metrics import P95, P99
from loadtests.plan.schedule import planned_seconds, schedule
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
    assert test.engine == "locust"
    assert test.description == f"the journey questionnaire at {BEGIN}, 64 users, thinking for 1 to 2 s"
    assert test.condition == "with 64 users"
    [request] = test.requests
    assert (request.method, request.path, request.status) == ("GET", f"{BEGIN}launch/", 302)


def test_new_users_form_open_loop():
    test = parsed(rate=2, think="500ms", warmup="30s", path="/async/questionnaire/")
    users = load_of(test, seed=7).users
    assert (users.users, users.arrivals, users.think_s, users.path) == (None, 2.0, (0.5, 0.5), "/async/questionnaire/")
    assert load_of(test, seed=7).arrival_seed == 7
    said = "the journey questionnaire at /async/questionnaire/, 2 new users a second, thinking for 0.5 s"
    assert (test.description, test.condition) == (said, "at 2 new users a second")


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


def test_questionnaire_needs_final_slash():
    with pytest.raises(UserError, match="path: must be the path of the application, such as /shop/, not '/app'"):
        parsed(users=1, path="/app")


def test_journey_is_identified_by_content(own):
    first, copy, other = own("a", "one", users=1), own("b", "one", users=1), own("c", "another", users=1)
    assert first.same_as(copy)
    assert not first.same_as(other)
    assert first.exact_description == copy.exact_description != other.exact_description
    assert kinds.from_record(first.record()) == first


SHIPPED = [test for name in ("journeys", "sessions", "scale") for test in studies.load(name).tests]


@pytest.mark.parametrize("test", SHIPPED, ids=lambda test: f"{test.name} {test.pace.length}")
def test_shipped_journeys_warm_up_completely(test):
    assert P99 in dataclasses.replace(test, percentiles=()).judged
    if getattr(test.pace, "users", None):
        assert test.warmup_s == pytest.approx((THINKS + 1) * sum(test.work.think_s) / 2, rel=0.05)


@pytest.mark.parametrize(
    ("test", "judged"),
    [
        ({"rate": 2, "duration": "26s"}, P95),  # 2 x 26 x 18.5 = 962
        ({"rate": 2, "duration": "28s"}, P99),
        ({"users": 40, "duration": "17s"}, P95),  # 40 x 17 / 13.1 x 18.5 = 959
        ({"users": 40, "duration": "18s"}, P99),
    ],
)
def test_lower_percentile_replaces_unknowable_p99(own, test, judged):
    assert parsed(**test).judged[1] is judged
    assert own(**test).judged[1] is P99  # the number of requests in a user's own journey isn't known


def test_several_injectors_share_the_users():
    test = parsed(users=64, injectors=2)
    assert load_of(test).processes == 2
    assert load_of(test.with_processes(3)).features == {Feature.JOURNEYS, Feature.PROCESSES}
    assert test.same_as(test.with_processes(3))


@pytest.mark.parametrize(("users", "fewer"), [(64, 7), (20, 2), (1, 1)])
def test_quick_users_finish_journeys(users, fewer):
    quick = parsed(users=users).quick()
    assert (quick.warmup_s, quick.pace.duration_s, quick.pace.users) == (1.0, 6.0, fewer)
    assert max(quick.work.think_s) * 9 < 3.0
    assert parsed(rate=1).quick().pace.duration_s == 6.0


def test_cost_is_per_journey():
    test = parsed(users=64)
    assert test.judged[-1] is kinds.metric("cpu_ms_per_journey")
    of_its_own = [one.name for one in test.kind.metrics]
    assert "journeys_per_minute" in of_its_own
    assert "rps" not in of_its_own
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
    assert test.description == (
        f"the journey questionnaire at {BEGIN}, the most users within p99<500ms, failures<0.1%, "
        "thinking for 0.25 to 0.5 s"
    )
    # The engine must support an early stop, and record when users were ready.
    assert (test.engine, test.pace.engine_features) == ("locust", {Feature.EARLY_STOP, Feature.RESPONSE_TIME})
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
    assert probe_s(20.0, think=["1s", "1s"]) == pytest.approx(1000 / (20 * 18.5 / 8.75), abs=0.1)
    assert probe_s(1.0, journey="mine.py") == 5.0  # the number of requests isn't known


def test_shipped_study_takes_33_minutes():
    study = studies.load("users")
    assert planned_seconds(study, schedule(study, seed=1)) == pytest.approx(33 * 60, rel=0.05)
