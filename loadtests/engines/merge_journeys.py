"""One result of what the injectors of a load of journeys measured."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from loadtests.engines.merge import Spread, merge, of_request
from loadtests.records import Journeys, OfRequest, Result, Second
from loadtests.workload import Users

METHODS = ("GET", "POST")


def merge_journeys(engine: str, users: Users, parts: Sequence[Mapping[str, Any]], timeline: Sequence[Second]) -> Result:
    """One result of what the injectors measured (``injector.recorder.Recorder.measured``)."""
    merged = merge(engine, parts, timeline, ())
    routes = [route for part in parts for route in part["routes"]]
    names = list(dict.fromkeys((route["method"], route["route"]) for route in routes))
    by_method = {method: [route for route in routes if route["method"] == method] for method in METHODS}
    told = [part["journeys"] for part in parts]
    durations = Spread.merged([one["duration"] for one in told])
    histograms = {
        method.lower(): Spread.merged([route["response_time"] for route in own]).histogram.encode()
        for method, own in by_method.items()
        if own
    }
    return dataclasses.replace(
        merged,
        requests=tuple(_row(f"{method} {name}", routes, method, name) for method, name in names),
        histograms={**merged.histograms, **histograms, "journey": durations.histogram.encode()},
        journeys=Journeys(
            users=users.users,
            arrivals=users.arrivals,
            **{
                key: sum(one[key] for one in told)
                for key in ("completed", "broken_off", "under_way_first", "under_way_last")
            },
            duration_ms=durations.figures(),
            methods=tuple(of_request(method, own) for method, own in by_method.items() if own),
            **_loop(users, merged.duration_s, told)._asdict(),
        ),
    )


def _row(name: str, routes: Sequence[Mapping[str, Any]], method: str, route: str) -> OfRequest:
    return of_request(name, [one for one in routes if (one["method"], one["route"]) == (method, route)])


class _Loop(NamedTuple):
    think_ms: float | None = None
    wait_ms: float | None = None
    ended_per_s: float | None = None
    expected_per_s: float | None = None


def _loop(users: Users, held_s: float, told: Sequence[Mapping[str, Any]]) -> _Loop:
    """What the users did with their time, by request, and what comes of it: requests per second."""
    ended = sum(one["ended_requests"] for one in told)
    thought_s, waited_s = (math.fsum(one[key] for one in told) for key in ("thought_s", "waited_s"))
    if not ended or not held_s:
        return _Loop()
    by_request_s = (thought_s + waited_s) / ended
    expected = users.users / by_request_s if users.users and by_request_s else None
    return _Loop(thought_s * 1000 / ended, waited_s * 1000 / ended, ended / held_s, expected)
