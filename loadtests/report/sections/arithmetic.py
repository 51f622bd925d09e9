"""Compare the measured rates of setups that wait for an origin with the ceiling that Little's law predicts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from loadtests.analyse.littles_law import AGREES, ERRORS_OF_CHANCE, Waiting, waiting
from loadtests.analyse.results import Results
from loadtests.formatting import number, per_second, series, span
from loadtests.plan.kinds import Test
from loadtests.report import tables
from loadtests.report.charts import lines
from loadtests.report.charts.palette import looks
from loadtests.report.charts.shared import Chart
from loadtests.report.points import valid_blocks
from loadtests.report.view import Field, Section, Table

LINE_POINTS = 60


def section(results: Results) -> Section | None:
    """Return a table and a chart for each test in which setups wait for an origin, or None if no setup waits."""
    found = [(test, rows) for test in results.tests if (rows := waiting(results, test))]
    if not found:
        return None
    about = (
        "By Little's law, the highest rate of a setup is its concurrency (threads, or connections of a pool) divided "
        "by the time that each request waits. The latency is the origin's own mean. At a fixed rate, the ceiling is "
        f"at most the sent rate. The ceiling and the measured rate agree if they differ by at most {AGREES:.0%}, or by "
        f"{ERRORS_OF_CHANCE:g} standard errors of the measured count. A setup below the ceiling has another limit, "
        "usually CPU time. In a closed loop, the core isn't always busy, because requests that are sent together are "
        "processed one by one, but are answered together, so that the next requests are also sent together."
    )
    charts = tuple(_chart(results, test, rows) for test, rows in found if len({one.own.limit for one in rows}) > 1)
    return Section("arithmetic", "The arithmetic of waiting", (about,), tuple(_table(*one) for one in found), charts)


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


def _chart(results: Results, test: Test, rows: Sequence[Waiting]) -> Chart:
    parts = [
        f"{one.label} {per_second(one.measured)} of {per_second(one.expected)}"
        for one in sorted(rows, key=lambda one: one.own.limit)
    ]
    points = [
        {
            "label": one.label,
            "concurrency": one.own.limit,
            "value": one.measured,
            "text": f"{one.label}: {per_second(one.measured)}/s, by Little's law {per_second(one.expected)}/s "
            f"({one.effective.reason})",
        }
        for one in rows
    ]
    return Chart(
        f"arithmetic-{test.name}",
        "Successful requests per second by the number of requests that can be in flight. The dashed line is the "
        "ceiling by Little's law: requests in flight divided by the origin's mean latency, up to the requested rate.",
        f"Answered requests per second, {test.description}, measured and by Little's law: {series(parts)}.",
        partial(
            lines.ceiling,
            points,
            _line(rows),
            looks(results.labels),
            "Requests in flight, and answered requests",
            [f"{test.description}, {test.engine}; mean of {span(valid_blocks(results, test), 'block')}"],
        ),
    )


def _line(rows: Sequence[Waiting]) -> list[dict[str, float]]:
    """Return the points of the ceiling, from the lowest to the highest concurrency of the test's setups."""
    service_s = sum(one.service_s for one in rows) / len(rows)
    most = max(one.expected for one in rows)
    low, high = min(one.own.limit for one in rows), max(one.own.limit for one in rows)
    steps = [low * (high / low) ** (place / LINE_POINTS) for place in range(LINE_POINTS + 1)]
    knee = most * service_s
    places = sorted([*steps, *([knee] if low < knee < high else [])])
    return [{"concurrency": place, "value": min(place / service_s, most)} for place in places]
