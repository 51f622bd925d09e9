"""Define tests with users' journeys.

The tests measure response times, the share of completed journeys, or the most users within an objective.
"""

from __future__ import annotations

from loadtests.plan.cost_unit import CPU, JOURNEYS
from loadtests.plan.kinds.base import Test
from loadtests.plan.kinds.journey_work import JourneyWork
from loadtests.plan.kinds.kind import Farthest, Kind
from loadtests.plan.kinds.user_pace import NewUsers, UserLoop, UserSearch
from loadtests.plan.metrics import P50, P95, P99, Metric
from loadtests.plan.times import ANSWERS, of_method
from loadtests.records import Trial

# The time of one journey and the think time after it. The first user starts again when the last user arrives, so that
# journeys end evenly over time. After a shorter ramp, many journeys would end at the same time, and the number of
# journeys in the measured time would depend on chance.
RAMP_S = 13.0


def _method(method: str, key: str) -> Metric:
    def read(trial: Trial) -> float | None:
        if trial.result is None or (trial.valid and ANSWERS.too_late(trial.result, key)):
            return None
        return of_method(trial.result, method, key)

    return Metric(f"{method.lower()}_{key}_ms", f"{method}, response time {key}", "ms", read, short=f"{method} {key}")


def _per_minute(trial: Trial) -> float | None:
    if trial.result is None or trial.result.journeys is None or not trial.result.duration_s:
        return None
    return trial.result.journeys.completed * 60 / trial.result.duration_s


def _completed(trial: Trial) -> float | None:
    found = trial.result.journeys if trial.result else None
    ended = found.completed + found.broken_off if found else 0
    return found.completed * 100 / ended if found and ended else None


GET_P50, GET_P99, POST_P50, POST_P99 = (_method(method, key) for method in ("GET", "POST") for key in ("p50", "p99"))
PER_MINUTE = Metric("journeys_per_minute", "journeys per minute", "", _per_minute, more_is_better=True)
COMPLETED = Metric("journeys_completed_percent", "journeys completed", "%", _completed, more_is_better=True)


def _found(users: bool) -> Metric:
    unit = "users" if users else "new users/s"

    def read(trial: Trial) -> float | None:
        if trial.capacity is None or trial.result is None or trial.result.journeys is None:
            return None
        return trial.capacity.known if (trial.result.journeys.users is not None) == users else None

    return Metric(
        "capacity_users" if users else "capacity_users_per_s",
        f"capacity in {unit}",
        unit,
        read,
        more_is_better=True,
        short=f"{unit} sustained",
        says_unit=True,
        is_lower_bound=lambda trial: trial.capacity is not None and trial.capacity.at_least,
        first="sustains the most",
    )


CAPACITY_USERS, CAPACITY_ARRIVALS = _found(users=True), _found(users=False)


def _decisive(test: Test) -> Metric:
    assert isinstance(test.pace, UserSearch)
    return CAPACITY_USERS if test.pace.of_users else CAPACITY_ARRIVALS


KINDS = (
    Kind(
        name="journey",
        order=4,
        work=JourneyWork,
        paces=(UserLoop, NewUsers),
        defaults={"engine": "locust", "warmup": RAMP_S},
        metrics=(GET_P50, GET_P99, POST_P50, POST_P99, PER_MINUTE, COMPLETED),
        judged=(P50, Farthest((P99, P95)), JOURNEYS.cpu),
        decisive=P99,
        cost_unit=JOURNEYS,
        further_metrics=(CPU,),
        timed_unit="request",
        heading="Users' journeys",
        about=(
            "Users walk through the application step by step, and pause in between. Response time starts when a user "
            "is ready, and covers all requests of all users. The tables below separate GET and POST. If a fixed "
            "number of users repeats the journey, the request rate follows from their number, their pauses and the "
            "response time. This rate isn't a capacity, because a slow server gets fewer requests. If new users arrive "
            "at a rate, they arrive even if answers are slow. Percentiles are means over trials."
        ),
        caption="{latency}, ms, and journeys: {what}",
        columns={
            P50: "p50",
            P99: "p99",
            GET_P99: "GET p99",
            POST_P99: "POST p99",
            PER_MINUTE: "journeys/min",
            COMPLETED: "completed, %",
            JOURNEYS.cpu: "CPU ms/journey",
            CPU: "CPU ms/request",  # this value is known even if a test is too short for complete journeys
        },
        optional=("CPU ms/request", "GET p99", "trials"),
    ),
    Kind(
        name="journey-capacity",
        order=4,
        work=JourneyWork,
        paces=(UserSearch,),
        defaults={
            "engine": "locust",
            "warmup": RAMP_S,
            "objective": "p99<500ms, failures<0.1%",
            "probe": 10.0,
        },
        metrics=(CAPACITY_USERS, CAPACITY_ARRIVALS),
        has_metric=lambda test, metric: metric is test.decisive or metric not in (CAPACITY_USERS, CAPACITY_ARRIVALS),
        judged=(_decisive,),
        heading="Capacity in users",
        about=(
            "The most users, or the highest rate of new users, with which a long probe is within the objective for "
            "response times (from the moment a user is ready) and failures, without a growing number of outstanding "
            "requests. A number of users isn't a capacity in requests, because the request rate depends on their "
            "pauses (see the table of Little's law). If something other than the server ended a search, the capacity "
            "is a lower bound."
        ),
        caption="Capacity: {what}",
        columns={metric: metric.label for metric in (CAPACITY_USERS, CAPACITY_ARRIVALS)},
        optional=("trials", "probes"),
    ),
)
