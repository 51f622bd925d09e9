"""What waiting for an origin allows by arithmetic, printed and drawn beside what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from loadtests.analyse.littles_law import AGREES, ERRORS_OF_CHANCE, Waiting, waiting
from loadtests.analyse.results import Results
from loadtests.formatting import number, per_second, series, span
from loadtests.plan.kinds import Test
from loadtests.report.charts import lines
from loadtests.report.charts.base import Chart
from loadtests.report.charts.palette import looks
from loadtests.report.points import valid_blocks
from loadtests.report.view import Field, Section, Table

LINE_POINTS = 60


def section(results: Results) -> Section | None:
    """A table and a chart for each test in which setups wait for an origin; None where none does."""
    found = [(test, rows) for test in results.tests if (rows := waiting(results, test))]
    if not found:
        return None
    about = (
        "By Little's law a setup that can have so many requests under way answers at most that number over the time "
        "that each of them waits, whatever its server costs: threads over latency, or connections of a pool over "
        "latency. The latency is the mean one that the origin itself saw; at a fixed rate no more is answered than was "
        "really sent. "
        f"Both agree where they differ by no more than {AGREES:.0%}, or by {ERRORS_OF_CHANCE:g} standard errors of the "
        "count that was measured. What is below the arithmetic has another limit first: its CPU time, above all. In a "
        "closed loop that hardly needs all of a core: what was sent together is answered together, sent together "
        "again, and worked off one by one each time."
    )
    charts = tuple(_chart(results, test, rows) for test, rows in found if len({one.own.many for one in rows}) > 1)
    return Section("arithmetic", "The arithmetic of waiting", (about,), tuple(_table(*one) for one in found), charts)


def _table(test: Test, rows: Sequence[Waiting]) -> Table:
    heads = (
        "setup",
        "under way at most",
        "origin's mean, ms",
        "sent/s",
        "by arithmetic/s",
        "measured/s",
        "off",
        "CPU cores",
        "KB each",
    )
    return Table(
        f"arithmetic-{test.name}",
        f"Arithmetic and measurement: {test.description}",
        heads,
        tuple(_row(one) for one in sorted(rows, key=lambda one: one.own.many)),
        "Means over blocks. Off: measured over expected, minus 1, and by how much it may differ. KB each: by how much "
        "the setup's memory grew from rest to its peak, for each request that was under way at the origin; where these "
        "are few, it is mostly what is allocated once.",
        numeric=frozenset(range(2, len(heads))),
        optional=(7, 3, 2, 8),
    )


def _row(one: Waiting) -> tuple[Field, ...]:
    return (
        Field(one.label),
        Field(one.at_once.of),
        Field(number(one.service_s * 1000)),
        Field("" if one.sent is None else per_second(one.sent)),
        Field(per_second(one.expected)),
        Field(per_second(one.measured)),
        Field(f"{one.off:+.1%}", f"±{one.tolerance:.1%}", tone=_tone(one)),
        Field(f"{one.cpu_cores:.2f}"),
        Field("" if one.each_kb is None else number(one.each_kb)),
    )


def _tone(one: Waiting) -> str:
    if one.given_up:
        return ""
    return "good" if one.agrees else "bad"


def _chart(results: Results, test: Test, rows: Sequence[Waiting]) -> Chart:
    told = [
        f"{one.label} {per_second(one.measured)} of {per_second(one.expected)}"
        for one in sorted(rows, key=lambda one: one.own.many)
    ]
    points = [
        {
            "label": one.label,
            "at_once": one.own.many,
            "value": one.measured,
            "text": f"{one.label}: {per_second(one.measured)}/s, by arithmetic {per_second(one.expected)}/s "
            f"({one.at_once.of})",
        }
        for one in rows
    ]
    return Chart(
        f"arithmetic-{test.name}",
        "What was answered well per second over how many requests can be under way. The broken line is the arithmetic: "
        "that number over the origin's mean latency, as far as so many are asked.",
        f"Answered per second, {test.description}; measured, of what arithmetic says: {series(told)}.",
        partial(
            lines.ceiling,
            points,
            _line(rows),
            looks(results.labels),
            "Requests under way, and what is answered",
            [f"{test.description}, {test.engine}; mean of {span(valid_blocks(results, test), 'block')}"],
        ),
    )


def _line(rows: Sequence[Waiting]) -> list[dict[str, float]]:
    """The arithmetic from the least to the most that a setup of the test can have under way: up to where all that is
    asked is answered."""
    service_s = sum(one.service_s for one in rows) / len(rows)
    most = max(one.expected for one in rows)
    low, high = min(one.own.many for one in rows), max(one.own.many for one in rows)
    steps = [low * (high / low) ** (place / LINE_POINTS) for place in range(LINE_POINTS + 1)]
    knee = most * service_s  # a corner is to be one
    places = sorted([*steps, *([knee] if low < knee < high else [])])
    return [{"at_once": place, "value": min(place / service_s, most)} for place in places]
