"""Draw each setup second by second. For each test with a timeline, the chart shows the block with the median figure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean, median

from loadtests.analyse.results import Cell, Results
from loadtests.formatting import number, plural, series
from loadtests.plan.kinds import Test
from loadtests.records import OriginStage, Second, Trial
from loadtests.records.trial import LEFT, OPEN
from loadtests.report.charts import picture
from loadtests.report.charts.picture import Panel
from loadtests.report.charts.shared import Chart, Rows
from loadtests.report.view import Section
from loadtests.trials.overload import backlog

MAX_COLUMNS = 60  # maximum number of columns in a chart; in a longer test, a column covers several seconds
MIN_SECONDS = 3  # minimum length of a timeline for a chart
MAX_SETUPS = 8  # maximum number of charts for a test
WITHIN_S = 0.25  # a CPU sample that ends less than this time after the end of a second is still assigned to the second
SUCCESSFUL = ("2", "3", "ok", "stale")  # the start of successful statuses and outcomes


def section(results: Results) -> Section | None:
    """Return a chart for each setup and test whose timeline contains statuses, or None if there are no charts."""
    charts: list[Chart] = []
    texts = [
        "Answers by status, response times, requests in flight and CPU on one time axis, with the stages of the "
        "origin if there are any. Each chart shows the block with the median figure. In a test of more than "
        f"{MAX_COLUMNS} seconds, a column covers several seconds: counts are averages, and percentiles are maxima. "
        "Times are the times of successful requests, in the second of the answer. Stale: a view answered with an old "
        "copy because the origin failed (header X-Stale). Such an answer counts as a success."
    ]
    for test in results.tests:
        cells = [results.cells[label, test.name] for label in results.by_estimate(test, test.decisive)]
        trials = [trial for cell in cells if (trial := _representative(cell, test)) is not None]
        charts += [_chart(results, test, trial) for trial in trials[:MAX_SETUPS]]
        if len(trials) > MAX_SETUPS:
            texts.append(f"The charts show the best {MAX_SETUPS} of {plural(len(trials), 'setup')} in {test.name}.")
    if not charts:
        return None
    return Section("seconds", "Second by second", tuple(texts), charts=tuple(charts), only_on_pages=True)


def _representative(cell: Cell, test: Test) -> Trial | None:
    """Return the trial whose decisive figure is the median of all trials with statuses in their timelines."""
    drawn = [trial for trial in cell.valid if _is_whole(_timeline(trial))]
    known = [(value, trial) for trial in drawn if (value := test.decisive.read(trial)) is not None]
    if not known:
        return next(iter(drawn), None)
    middle = median(value for value, _ in known)
    return min(known, key=lambda pair: abs(pair[0] - middle) if math.isfinite(pair[0]) else math.inf)[1]


def _timeline(trial: Trial) -> Sequence[Second]:
    return trial.result.timeline if trial.result else ()


def _is_whole(timeline: Sequence[Second]) -> bool:
    return len(timeline) >= MIN_SECONDS and all(second.ends is not None for second in timeline)


@dataclass(frozen=True)
class _Column:
    """Seconds that are drawn as one column, from ``t`` to ``t2``. ``in_flight`` counts the open requests at ``t2``."""

    t: float
    t2: float
    seconds: tuple[Second, ...]
    in_flight: int

    @property
    def middle(self) -> float:
        return (self.t + self.t2) / 2

    def per_second(self, count: float) -> float:
        return count / (self.t2 - self.t)

    def highest(self, name: str) -> float | None:
        return max((value for second in self.seconds if (value := getattr(second, name)) is not None), default=None)


def _columns(timeline: Sequence[Second]) -> list[_Column]:
    each = math.ceil(len(timeline) / MAX_COLUMNS)
    in_flight = backlog(timeline)
    found = []
    for start in range(0, len(timeline), each):
        part = tuple(timeline[start : start + each])
        found.append(_Column(part[0].t, part[-1].t + 1, part, in_flight[start + len(part) - 1]))
    return found


def _chart(results: Results, test: Test, trial: Trial) -> Chart:
    columns, time, many = _columns(_timeline(trial)), results.latency(test.name), test.kind.cost_unit.plural
    answered = [column.per_second(sum(second.ok for second in column.seconds)) for column in columns]
    slowest = max((p99 for column in columns if (p99 := column.highest("p99_ms")) is not None), default=None)
    summary = (
        f"{number(min(answered))} to {number(max(answered))} {many} answered well per second, "
        f"p99 up to {number(slowest)} ms, up to {number(max(column.in_flight for column in columns))} in flight"
    )
    played = _played(trial)
    origin = f"; the origin: {series([stage.text for stage in played])}" if played else ""
    gauges = "connections to the database" if OPEN in trial.gauges else "pool connections in use, and waiting fetches"
    panels = (
        Panel(f"{many} answered per second, by status", _ends(columns)),
        Panel(f"{time}, ms", _times(columns), scale=""),
        Panel(f"{many} in flight", [_point(column, "in flight", column.in_flight) for column in columns]),
        Panel(gauges, _gauges(trial, columns)),
        Panel("CPU by role, cores", _cpu(trial, columns)),
    )
    each = len(columns[0].seconds)
    grain = "a second" if each == 1 else f"{each} seconds"
    return Chart(
        f"seconds-{test.name}-{trial.label}",
        f"{trial.label} in {test.name}, second by second, in block {trial.block}.",
        f"{trial.label}, {test.description}, second by second: {summary}{origin}.",
        partial(
            picture.spec,
            panels,
            columns[-1].t2,
            _stages(played, columns[-1].t2),
            f"{trial.label}, second by second",
            [
                f"{test.description}, {test.engine}; block {trial.block}",
                f"seconds since the start of the measurement, each column {grain}",
            ],
        ),
        summary=f"{trial.label}, {test.name}: {summary}",
    )


def _point(column: _Column, name: str, value: float | None) -> dict[str, object]:
    return {"t": column.middle, "name": name, "value": value}


def _ends(columns: Sequence[_Column]) -> Rows:
    """Return the answers by status, with the successful statuses first."""
    rows: Rows = []
    for column in columns:
        ends: Counter[str] = sum((Counter(second.ends) for second in column.seconds), Counter())
        for name, count in sorted(ends.items(), key=lambda end: (not end[0].startswith(SUCCESSFUL), end[0])):
            row = {"t": column.t, "t2": column.t2, "name": name, "value": column.per_second(count)}
            rows.append({**row, "good": name.startswith(SUCCESSFUL)})
    return rows


def _times(columns: Sequence[_Column]) -> Rows:
    """Return the chart rows of percentiles, or an empty list if no second has percentiles."""
    keys = ("p50", "p95", "p99")
    rows = [_point(column, key, column.highest(f"{key}_ms")) for key in keys for column in columns]
    return rows if any(row["value"] for row in rows) else []


def _cpu(trial: Trial, columns: Sequence[_Column]) -> Rows:
    """Return the mean number of cores that each role used in each column."""
    samples = trial.meanwhile.cpu if trial.meanwhile else ()
    rows: Rows = []
    for role in sorted({role for sample in samples for role in sample.cores}):
        rows += _line(columns, role, [(one.t - WITHIN_S, one.cores.get(role, 0.0)) for one in samples], fmean)
    return rows


def _gauges(trial: Trial, columns: Sequence[_Column]) -> Rows:
    """Return the maximum of each gauge in each column.

    The gauges count used pool connections and waiting fetches, or database connections. The connections that are LEFT
    are counted after the load.
    """
    rows: Rows = []
    for name, shown in trial.gauges.items():
        if name != LEFT:
            rows += _line(columns, name, shown, max)
    return rows


def _line(
    columns: Sequence[_Column],
    name: str,
    readings: Sequence[tuple[float, float]],
    combine: Callable[[Iterable[float]], float],
) -> Rows:
    rows = []
    for column in columns:
        found = [value for t, value in readings if column.t <= t < column.t2]
        if found:
            rows.append(_point(column, name, round(combine(found), 3)))
    return rows


def _played(trial: Trial) -> Sequence[OriginStage]:
    return trial.meanwhile.origin.stages if trial.meanwhile and trial.meanwhile.origin else ()


def _stages(stages: Sequence[OriginStage], lasts: float) -> Rows:
    """Return the origin's stages during the drawn time. The first stage is the origin's usual behaviour."""
    ends = [*(stage.t for stage in stages[1:]), lasts]
    rows: Rows = []
    for stage, end in zip(stages, ends, strict=False):
        t, t2 = max(0.0, stage.t), min(end, lasts)
        if t < t2:
            rows.append({"t": t, "t2": t2, "text": stage.text, "usual": stage.text == stages[0].text})
    return rows
