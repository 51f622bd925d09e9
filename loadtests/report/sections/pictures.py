"""Draw each setup second by second. For each test with a timeline, the chart shows the block with the median figure."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median

from loadtests.analyse.overload import backlog
from loadtests.analyse.results import Cell, Results
from loadtests.formatting import number, plural, series
from loadtests.plan.kinds import Test
from loadtests.records import OriginStage, Second, Trial
from loadtests.records.heat import end_of
from loadtests.records.trial import LEFT, OPEN
from loadtests.report.charts import picture
from loadtests.report.charts.picture import HIGH, LOW, Panel
from loadtests.report.charts.shared import Chart, Rows
from loadtests.report.view import Section

MAX_COLUMNS = 60  # maximum number of columns in a chart; in a longer test, a column covers several seconds
MIN_SECONDS = 3  # minimum length of a timeline for a chart
MAX_SETUPS = 8  # maximum number of charts for a test
WITHIN_S = 0.25  # a CPU sample that ends less than this time after the end of a second is still assigned to the second
WELL = ("2", "3")  # first digits of successful statuses
STALE, OK = "stale", "ok"


def section(results: Results) -> Section | None:
    """Return a chart for each setup and test whose timeline contains statuses, or None if there are no charts."""
    charts = tuple(chart for test in results.tests for chart in _of_test(results, test))
    if not charts:
        return None
    about = (
        "Answers by status, response times, requests in flight and CPU on one time axis, with the stages of the "
        "origin if there are any. Each chart shows the block with the median figure. In a test of more than "
        f"{MAX_COLUMNS} seconds, a column covers several seconds: counts are averages, and percentiles are maxima. "
        "Times are the times of successful requests, in the second of the answer."
    )
    texts = (about, *_about_stale(results), *_left_out(results))
    return Section("seconds", "Second by second", texts, charts=charts, only_on_pages=True)


def _about_stale(results: Results) -> Iterator[str]:
    ends = (second.ends or {} for trial in results.trials if trial.result for second in trial.result.timeline)
    if any(STALE in one for one in ends):
        yield (
            "Stale: a view answered with an old copy because the origin failed (header X-Stale). Such an answer counts "
            "as a success."
        )


def _left_out(results: Results) -> Iterator[str]:
    for test in results.tests:
        labels = _labels(results, test)
        if len(labels) > MAX_SETUPS:
            yield f"The charts show the best {MAX_SETUPS} of {plural(len(labels), 'setup')} in {test.name}."


def _labels(results: Results, test: Test) -> list[str]:
    return [
        label
        for label in results.by_estimate(test, test.decisive)
        if _representative(results, results.cells[label, test.name], test) is not None
    ]


def _of_test(results: Results, test: Test) -> Iterator[Chart]:
    for label in _labels(results, test)[:MAX_SETUPS]:
        trial = _representative(results, results.cells[label, test.name], test)
        if trial is not None and trial.result is not None:
            yield _chart(results, test, trial, trial.result.timeline)


def _representative(results: Results, cell: Cell, test: Test) -> Trial | None:
    """Return the trial whose decisive figure is the median of all trials with statuses in their timelines."""
    drawn = [trial for trial in cell.valid if trial.result and _whole(trial.result.timeline)]
    if not drawn:
        return None
    known = [(value, trial) for trial in drawn if (value := test.decisive.read(trial)) is not None]
    if not known:
        return drawn[0]
    middle = median(value for value, _ in known)
    return min(known, key=lambda pair: abs(pair[0] - middle) if math.isfinite(pair[0]) else math.inf)[1]


def _whole(timeline: Sequence[Second]) -> bool:
    return len(timeline) >= MIN_SECONDS and all(second.ends is not None for second in timeline)


@dataclass(frozen=True)
class _Column:
    """Seconds that are drawn as one column, from ``t`` to ``t2``. ``in_flight`` counts the open requests at ``t2``."""

    t: float
    t2: float
    seconds: tuple[Second, ...]
    in_flight: int

    def per_second(self, count: float) -> float:
        return count / (self.t2 - self.t)

    def highest(self, name: str) -> float | None:
        return max((value for second in self.seconds if (value := getattr(second, name)) is not None), default=None)

    @property
    def ends(self) -> Counter[str]:
        return sum((Counter(second.ends) for second in self.seconds), Counter[str]())

    @property
    def heat(self) -> Counter[float]:
        return sum((Counter(dict(second.heat)) for second in self.seconds), Counter[float]())


def _columns(timeline: Sequence[Second]) -> list[_Column]:
    each = math.ceil(len(timeline) / MAX_COLUMNS)
    in_flight = backlog(timeline)
    found = []
    for start in range(0, len(timeline), each):
        part = tuple(timeline[start : start + each])
        found.append(_Column(part[0].t, part[-1].t + 1, part, in_flight[start + len(part) - 1]))
    return found


def _chart(results: Results, test: Test, trial: Trial, timeline: Sequence[Second]) -> Chart:
    columns, time, many = _columns(timeline), results.latency(test.name), test.kind.cost_unit.plural
    answered = [column.per_second(sum(second.ok for second in column.seconds)) for column in columns]
    slowest = max((p99 for column in columns if (p99 := column.highest("p99_ms")) is not None), default=None)
    summary = (
        f"{number(min(answered))} to {number(max(answered))} {many} answered well per second, "
        f"p99 up to {number(slowest)} ms, up to {number(max(column.in_flight for column in columns))} in flight"
    )
    played = [stage.text for stage in _played(trial)]
    origin = f"; the origin: {series(played)}" if played else ""
    cpu, pool, stages = _cpu(trial, columns), _pool(trial, columns), _stages(trial, columns[-1].t2)
    texts = [_text(trial.label, column, stages, [*pool, *cpu]) for column in columns]
    shown = [{"t": one.t, "t2": one.t2, "text": text} for one, text in zip(columns, texts, strict=True)]
    panels = (
        Panel(f"{many} answered per second, by status", HIGH, picture.bars, _ends(columns)),
        Panel(f"{time}, ms", HIGH, picture.times, _times(columns)),
        Panel(f"{time}, ms: the darker, the more {many}", HIGH, picture.cells, _heat(columns), named=False),
        Panel(f"{many} in flight", LOW, picture.lines, _in_flight(columns), named=False),
        Panel(_heading_of(pool), LOW, picture.lines, pool),
        Panel("CPU by role, cores", LOW, picture.lines, cpu),
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
            stages,
            shown,
            f"{trial.label}, second by second",
            [
                f"{test.description}, {test.engine}; block {trial.block}",
                f"seconds since the start of the measurement, each column {grain}",
            ],
        ),
        summary=f"{trial.label}, {test.name}: {summary}",
    )


def _ends(columns: Sequence[_Column]) -> Rows:
    names = sorted({name for column in columns for name in column.ends}, key=lambda name: (not _good(name), name))
    rows: Rows = []
    for column in columns:
        below = 0.0
        for name in names:
            if count := column.per_second(column.ends[name]):
                row = {"t": column.t, "t2": column.t2, "name": name, "low": below, "high": below + count}
                rows.append({**row, "good": _good(name)})
                below += count
    return rows


def _times(columns: Sequence[_Column]) -> Rows:
    """Return the chart rows of percentiles, or an empty list if no second has percentiles."""
    rows: Rows = [
        {"t": (column.t + column.t2) / 2, "name": key, "value": column.highest(f"{key}_ms")}
        for key in ("p50", "p95", "p99")
        for column in columns
    ]
    return rows if any(row["value"] for row in rows) else []


def _in_flight(columns: Sequence[_Column]) -> Rows:
    return [{"t": column.t2, "name": "in flight", "value": float(column.in_flight)} for column in columns]


def _good(name: str) -> bool:
    return name in (STALE, OK) or name.startswith(WELL)


def _heat(columns: Sequence[_Column]) -> Rows:
    rows: Rows = []
    for column in columns:
        heat = column.heat
        most = max(heat.values(), default=0)
        for begin, count in sorted(heat.items()):
            row = {
                "t": column.t,
                "t2": column.t2,
                "low": max(begin, 0.05),
                "high": end_of(begin),
                "share": count / most,
            }
            rows.append(row)
    return rows


def _cpu(trial: Trial, columns: Sequence[_Column]) -> Rows:
    """Return the mean number of cores that each role used in each column."""
    samples = trial.meanwhile.cpu if trial.meanwhile else ()
    roles = sorted({role for sample in samples for role in sample.cores})
    rows: Rows = []
    for role in roles:
        for column in columns:
            cores = [one.cores.get(role, 0.0) for one in samples if column.t <= one.t - WITHIN_S < column.t2]
            if cores:
                middle = (column.t + column.t2) / 2
                value = round(sum(cores) / len(cores), 3)
                rows.append({"t": middle, "name": role, "value": value, "text": f"{role} {value:.2f} cores"})
    return rows


def _pool(trial: Trial, columns: Sequence[_Column]) -> Rows:
    """Return the maximum of each gauge in each column.

    The gauges count used pool connections and waiting fetches, or database connections.
    """
    rows: Rows = []
    for name, shown in trial.gauges.items():
        if name == LEFT:  # these connections are read after the load
            continue
        for column in columns:
            found = [value for t, value in shown if column.t <= t < column.t2]
            if found:
                row = {"t": (column.t + column.t2) / 2, "name": name, "value": float(max(found))}
                rows.append({**row, "text": f"{name} {max(found):,}"})
    return rows


def _heading_of(pool: Rows) -> str:
    """Return the heading of the panel that shows the gauges of a connection pool or of a database."""
    if any(row["name"] == OPEN for row in pool):
        return "connections to the database"
    return "pool connections in use, and fetches that wait for a connection"


def _played(trial: Trial) -> Sequence[OriginStage]:
    return trial.meanwhile.origin.stages if trial.meanwhile and trial.meanwhile.origin else ()


def _stages(trial: Trial, lasts: float) -> Rows:
    """Return the origin's stages during the drawn time. The first stage is the origin's usual behaviour."""
    stages = _played(trial)
    if not stages:
        return []
    ends = [*(stage.t for stage in stages[1:]), lasts]
    rows: Rows = []
    for stage, end in zip(stages, ends, strict=True):
        t, t2 = max(0.0, stage.t), min(end, lasts)
        if t < t2:
            rows.append({"t": t, "t2": t2, "text": stage.text, "usual": stage.text == stages[0].text})
    return rows


def _text(label: str, column: _Column, stages: Rows, lines: Rows) -> str:
    when = f"second {column.t + 1:g}" if column.t2 - column.t <= 1 else f"seconds {column.t + 1:g} to {column.t2:g}"
    ends = [f"{number(column.per_second(count))}/s {name}" for name, count in sorted(column.ends.items())]
    times = [f"{key} {number(value)} ms" for key in ("p50", "p95", "p99") if (value := column.highest(f"{key}_ms"))]
    middle = (column.t + column.t2) / 2
    more = [row["text"] for row in lines if row["t"] == middle]
    stage = [f"origin: {row['text']}" for row in stages if row["t"] <= column.t < row["t2"]]
    parts = (ends or ["nothing ended"], times, [f"{column.in_flight:,} in flight"], more, stage)
    return f"{label}: {when}: {', '.join(itertools.chain.from_iterable(parts))}"
