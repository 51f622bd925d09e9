"""The seconds of a load, as the generator's processes report them."""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from typing import Any

from loadtests.engines.base import OnSecond
from loadtests.records import Second
from loadtests.records.heat import heat
from loadtests.records.histogram import Histogram

Event = dict[str, Any]


class Timeline:
    """Combine the seconds of several processes and slices."""

    def __init__(self, processes: int) -> None:
        self.processes = processes
        self.parts: defaultdict[int, list[Event]] = defaultdict(list)
        self.reported: Counter[int] = Counter()  # second -> number of reported parts

    def add(self, second: Event, on_second: OnSecond | None) -> None:
        """Add a process's part of a second, and report the second when all its parts have arrived."""
        t = second["t"]
        self.parts[t].append(second)
        if len(self.parts[t]) - self.reported[t] == self.processes:
            self._report(t, on_second)

    def over(self, on_second: OnSecond | None) -> None:
        """Report the last seconds at the end of a slice, if some processes have no part of them."""
        for t, parts in sorted(self.parts.items()):
            if len(parts) > self.reported[t]:
                self._report(t, on_second)

    def _report(self, t: int, on_second: OnSecond | None) -> None:
        if on_second is not None:
            on_second(_row(t, self.parts[t][self.reported[t] :]))
        self.reported[t] = len(self.parts[t])

    def rows(self) -> tuple[Second, ...]:
        """Return all seconds."""
        return tuple(_row(t, parts) for t, parts in sorted(self.parts.items()))


def _row(t: int, parts: list[Event]) -> Second:
    times = functools.reduce(Histogram.__add__, (Histogram.decode(part["hdr"]) for part in parts))
    p50, p95, p99 = (
        None if (value := times.percentile(percent)) is None else value / 1000 for percent in (50.0, 95.0, 99.0)
    )
    sent, completed, ok, errors = (sum(part[name] for part in parts) for name in ("sent", "completed", "ok", "errors"))
    ends = sum((Counter(part["ends"]) for part in parts), Counter[str]())
    return Second(t, sent, completed, ok, errors, p50, p99, p95, heat(times), dict(sorted(ends.items())))
