"""One result of what the injectors of a load of journeys measured."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from loadtests.engines.merge import Part, Spread, merge, of_request, sums
from loadtests.records import Journeys, Result, Second
from loadtests.workload import Users

METHODS = ("GET", "POST")


def merge_journeys(engine: str, users: Users, parts: Sequence[Part], timeline: Sequence[Second]) -> Result:
    """One result of what the injectors measured (``injector.recorder.Recorder.measured``)."""
    merged = merge(engine, parts, timeline, ())
    routes = [route for part in parts for route in part["routes"]]
    by_name = _grouped(routes, lambda route: f"{route['method']} {route['route']}")
    by_method = _grouped(routes, lambda route: str(route["method"]))
    methods = {method: by_method[method] for method in METHODS if method in by_method}
    shares = [part["journeys"] for part in parts]
    durations = Spread.merged(share["duration"] for share in shares)
    histograms = {
        method.lower(): Spread.merged(route["response_time"] for route in own).histogram.encode()
        for method, own in methods.items()
    }
    return dataclasses.replace(
        merged,
        requests=tuple(of_request(name, own) for name, own in by_name.items()),
        histograms={**merged.histograms, **histograms, "journey": durations.histogram.encode()},
        journeys=Journeys(
            users=users.users,
            arrivals=users.arrivals,
            **sums(shares, ("completed", "broken_off", "under_way_first", "under_way_last")),
            duration_ms=durations.figures(),
            methods=tuple(of_request(method, own) for method, own in methods.items()),
            **_littles_law(users, merged.duration_s, shares),
        ),
    )


def _grouped(routes: Sequence[Part], key: Callable[[Part], str]) -> dict[str, list[Part]]:
    groups: dict[str, list[Part]] = {}
    for route in routes:
        groups.setdefault(key(route), []).append(route)
    return groups


def _littles_law(users: Users, duration_s: float, shares: Sequence[Part]) -> dict[str, Any]:
    """Think and wait time by request, and the requests per second that follow from them."""
    ended, thought_s, waited_s = sums(shares, ("ended_requests", "thought_s", "waited_s")).values()
    if not ended or not duration_s:
        return dict.fromkeys(("think_ms", "wait_ms", "ended_per_s", "expected_per_s"))
    by_request_s = (thought_s + waited_s) / ended
    return {
        "think_ms": thought_s * 1000 / ended,
        "wait_ms": waited_s * 1000 / ended,
        "ended_per_s": ended / duration_s,
        "expected_per_s": users.users / by_request_s if users.users and by_request_s else None,
    }
