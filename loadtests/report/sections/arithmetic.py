"""Compare the measured rates of setups that wait for an origin with the ceiling that Little's law predicts."""

from __future__ import annotations

from collections.abc import Sequence

from loadtests.analyse.littles_law import AGREES, ERRORS_OF_CHANCE, Waiting, waiting
from loadtests.analyse.results import Results
from loadtests.formatting import number, per_second
from loadtests.plan.kinds import Test
from loadtests.report import tables
from loadtests.report.view import Field, Section, Table


def section(results: Results) -> Section | None:
    """Return a table for each test in which setups wait for an origin, or None if no setup waits."""
    found = [(test, rows) for test in results.tests if (rows := waiting(results, test))]
    if not found:
        return None
    about = (
        "By Little's law, the highest rate of a setup is its concurrency (threads, or connections of a pool) divided "
        "by the time that each request waits. The latency is the origin's own mean. At a fixed rate, the ceiling is "
        f"at most the sent rate. The ceiling and the measured rate agree if they differ by at most {AGREES:.0%}, or by "
        f"{ERRORS_OF_CHANCE:g} standard errors of the measured count. A setup below the ceiling has another limit, "
        "usually CPU time. In a closed loop, the core isn't always busy. Requests that arrive together are "
        "processed one by one but answered together, so the next requests also arrive together."
    )
    return Section("arithmetic", "The arithmetic of waiting", (about,), tuple(_table(*one) for one in found))


def _table(test: Test, rows: Sequence[Waiting]) -> Table:
    return tables.listed(
        f"arithmetic-{test.name}",
        f"Arithmetic and measurement: {test.description}",
        sorted(rows, key=lambda one: one.own.limit),
        {
            "setup": lambda one: one.label,
            "under way at most": lambda one: one.effective.reason,
            "origin's mean, ms": lambda one: number(one.service_s * 1000),
            "sent/s": lambda one: "" if one.sent is None else per_second(one.sent),
            "by arithmetic/s": lambda one: per_second(one.expected),
            "measured/s": lambda one: per_second(one.measured),
            "off": lambda one: Field(f"{one.off:+.1%}", f"±{one.tolerance:.1%}", tone=_tone(one)),
            "CPU cores": lambda one: f"{one.cpu_cores:.2f}",
            "KB each": lambda one: "" if one.each_kb is None else number(one.each_kb),
        },
        "Means over blocks. Off: measured divided by expected, minus 1, and the tolerance. KB each: growth of the "
        "setup's memory from rest to peak per request in flight at the origin. With few requests, this growth is "
        "mostly a fixed cost.",
        tables.Layout(words=("under way at most",), optional=("CPU cores", "sent/s", "origin's mean, ms", "KB each")),
    )


def _tone(one: Waiting) -> str:
    if one.given_up:
        return ""
    return "good" if one.agrees else "bad"
