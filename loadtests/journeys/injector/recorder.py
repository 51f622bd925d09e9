"""Count and measure the requests and journeys of one injector's users during the measured time.

The measured time is from ``begin`` to ``end``. The recorder counts the requests whose users were ready in the measured
time, including requests that are answered later. It also counts the journeys that ended in the measured time, including
journeys that started earlier, and measures how long users thought and waited. The cost of the measured time is divided
by the number of successful answers, including answers to earlier requests, or by the number of completed journeys.
"""

from __future__ import annotations

import dataclasses
from collections import Counter, defaultdict
from typing import Any

from loadtests.journeys.steps import BrokenOff, Step
from loadtests.records.histogram import Histogram

ANSWERED = ("status", "wrong-body", "mixed-up", "lost-session")  # kinds of failures in which the server answered
HIGHEST_S = 3600.0
SECOND_DIGITS = 2  # for the times in a single second, which contains few values


class Times:
    """A distribution of times in whole microseconds."""

    def __init__(self, digits: int = 3) -> None:
        self.histogram = Histogram.empty(digits)
        self.max_us = 0
        self.sum_us = 0

    def record(self, seconds: float) -> None:
        """Add a time to the distribution."""
        us = round(min(max(seconds, 0.0), HIGHEST_S) * 1e6)
        self.histogram.record(us)
        self.sum_us += us
        self.max_us = max(self.max_us, us)

    def spread(self) -> dict[str, Any]:
        """Return the fields of ``loadtests.engines.merge.Spread``."""
        return {"hdr": self.histogram.encode(), "max_us": self.max_us, "sum_us": self.sum_us}


@dataclasses.dataclass
class RouteShare:
    """The counts and response times of one route and method."""

    planned: int = 0
    completed: int = 0
    ok: int = 0
    errors: Counter[str] = dataclasses.field(default_factory=Counter)
    response_time: Times = dataclasses.field(default_factory=Times)

    def answered(self, step: Step, at: float, failure: BrokenOff | None) -> None:
        """Count a request that was answered or failed."""
        self.completed += failure is None or failure.kind in ANSWERED
        if failure is None:
            self.ok += 1
            self.response_time.record(at - step.ready)
        else:
            self.errors[failure.kind] += 1

    def measured(self) -> dict[str, Any]:
        """Return the same fields as ``Exchange.share`` in generator/recorder.js."""
        return {**vars(self), "sent": self.planned, "response_time": self.response_time.spread()}


@dataclasses.dataclass
class _Second:
    sent: int = 0
    completed: int = 0
    ok: int = 0
    errors: int = 0
    ends: Counter[str] = dataclasses.field(default_factory=Counter)
    times: Times = dataclasses.field(default_factory=lambda: Times(SECOND_DIGITS))


class Recorder:
    """Count and measure the requests and journeys of users."""

    def __init__(self, begin: float, end: float) -> None:
        self.begin = begin
        self.end = end
        self.shares: dict[tuple[str, str], RouteShare] = {}
        self.examples: dict[str, str] = {}
        self.under_way: set[Step] = set()
        self.service_time, self.send_lag, self.failed, self.beats = Times(), Times(), Times(), Times()
        self.duration = Times()
        self.ok_in_time = 0
        self.ended_in_time = 0
        self.thought_s = 0.0
        self.waited_s = 0.0
        self.begun: Counter[str] = Counter()  # journeys that started before and during the measured time
        self.over: Counter[str] = Counter()
        self.completed = 0
        self.broken = 0
        self._seconds: defaultdict[int, _Second] = defaultdict(_Second)
        self._returned = 0  # the number of seconds that were already returned

    def begins(self, due: float) -> None:
        """Record the start of a journey that was due at ``due``."""
        self.begun[self._when(due)] += 1

    def thinks(self, begin: float, end: float) -> None:
        """Record a user's think time. The end may be in the future."""
        self.thought_s += self._within(begin, end)

    def sent(self, step: Step) -> None:
        """Record a request that was sent."""
        self.under_way.add(step)
        share = self._share(step)  # even if the step doesn't count, so that routes keep the order of the first user
        if self._counts(step):
            share.planned += 1
            self.send_lag.record(step.sent - step.ready)
            self._second(step.sent).sent += 1

    def answered(self, step: Step, at: float, failure: BrokenOff | None) -> None:
        """Record a request that was answered or failed."""
        self.under_way.discard(step)
        self.waited_s += self._within(step.sent, at)
        in_time = self.begin <= at < self.end
        self.ended_in_time += in_time
        self.ok_in_time += in_time and failure is None
        if not self._counts(step):
            return
        self._share(step).answered(step, at, failure)
        second = self._second(at)
        second.completed += failure is None or failure.kind in ANSWERED
        second.ends[failure.kind if failure else "ok"] += 1
        if failure is not None:
            second.errors += 1
            self.examples.setdefault(failure.kind, f"{step.method} {step.route}: {failure.text}")
            self.failed.record(at - step.ready)
            return
        second.ok += 1
        second.times.record(at - step.ready)
        self.service_time.record(at - step.sent)

    def ended(self, due: float, at: float, failure: BrokenOff | None) -> None:
        """Record the end of the journey that was due at ``due``."""
        self.over[self._when(at)] += 1
        if not self.begin <= at < self.end:
            return
        if failure is not None:
            self.broken += 1
            return
        self.completed += 1
        self.duration.record(at - due)

    def beat(self, late_s: float) -> None:
        """Record the scheduling delay of one heartbeat of the process."""
        self.beats.record(late_s)

    def cut(self, now: float) -> None:
        """End the load early."""
        self.begin = min(self.begin, now)
        self.end = min(self.end, now)

    def seconds(self, now: float) -> list[dict[str, Any]]:
        """Return the completed seconds that weren't returned before, including seconds without requests."""
        rows = []
        while self.begin + self._returned + 1 <= now:
            second = self._seconds.pop(self._returned, None) or _Second()
            counts = {"sent": second.sent, "completed": second.completed, "ok": second.ok, "errors": second.errors}
            times = second.times.histogram.encode()
            rows.append({"t": self._returned, **counts, "ends": dict(second.ends), "hdr": times})
            self._returned += 1
        return rows

    def rest(self) -> list[dict[str, Any]]:
        """Return the remaining seconds at the end of the load."""
        return self.seconds(self.begin + max(self._seconds, default=-1) + 1) if self._seconds else []

    def measured(self, now: float) -> dict[str, Any]:
        """Return the result of the load. Requests in flight count as unfinished."""
        for step in self.under_way:
            self.waited_s += self._within(step.sent, now)
            if self._counts(step):
                self.failed.record(now - step.ready)
        duration_s = self.end - self.begin
        under_way = self.begun["before"] - self.over["before"]
        return {
            "billed": self.ok_in_time,
            "waited": 0,
            "examples": self.examples,
            "duration_s": duration_s,
            "rate": self.ok_in_time / duration_s if duration_s else 0.0,
            "backlog": [],
            "spreads": {
                "service_time": self.service_time.spread(),
                "send_lag": self.send_lag.spread(),
                "pacing_lag": self.beats.spread(),
                "failed": self.failed.spread(),
            },
            "requests": [RouteShare().measured()],  # for a process without routes
            "routes": [
                {"method": method, "route": route, "share": share.measured()}
                for (method, route), share in self.shares.items()
                if share.planned
            ],
            "journeys": {
                "completed": self.completed,
                "broken_off": self.broken,
                "under_way_first": under_way,
                "under_way_last": under_way + self.begun["held"] - self.over["held"],
                "duration": self.duration.spread(),
                "ended_requests": self.ended_in_time,
                "thought_s": self.thought_s,
                "waited_s": self.waited_s,
            },
        }

    def _counts(self, step: Step) -> bool:
        return self.begin <= step.ready < self.end

    def _when(self, moment: float) -> str:
        return "before" if moment < self.begin else "held" if moment < self.end else "after"

    def _within(self, begin: float, end: float) -> float:
        """Return the part of a period, in seconds, that is in the measured time."""
        return max(0.0, min(end, self.end) - max(begin, self.begin))

    def _share(self, step: Step) -> RouteShare:
        return self.shares.setdefault((step.method, step.route), RouteShare())

    def _second(self, at: float) -> _Second:
        return self._seconds[max(int(at - self.begin), self._returned)]
