"""Show the limits, the probes, and the response times of searches in the report's section about capacity."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from statistics import median

from loadtests.analyse.results import Cell, Results
from loadtests.formatting import DASH, figure, interval, number, plural, series, span
from loadtests.plan.kinds import Test
from loadtests.plan.percentiles import knowable
from loadtests.plan.trial_count import TrialCount
from loadtests.records import ProbeRecord
from loadtests.report import tables
from loadtests.report.charts import curves
from loadtests.report.charts.palette import looks
from loadtests.report.charts.shared import Chart
from loadtests.report.points import ChartRow, valid_blocks, whisker_note, whiskers, why_unknown
from loadtests.report.tables import Additions
from loadtests.report.view import Field

STEP = 1.05  # probes of different blocks are drawn as one point if their rates differ by at most 5%
# A curve ends at this multiple of the highest rate that passed, because probes at higher rates measure the backlog.
BEYOND = 1.1


def _limited_by(cell: Cell) -> Field:
    """Return a field with the limits of a setup's searches, and the outcome if the server was not the limit."""
    searches = [trial.capacity for trial in cell.valid if trial.capacity]
    limits = dict.fromkeys(search.limited_by.replace("_", " ") for search in searches)
    others = [search.sentence for search in searches if search.limited_by != "server"]
    if not others:
        return Field(series(list(limits))) if limits else tables.unknown()
    return Field(series(list(limits)), others[-1], series(list(limits)), "bad")


PROBES = TrialCount("probes", "probes", lambda trial: len(trial.capacity.probes) if trial.capacity else None)


def charts(results: Results, test: Test) -> Iterator[Chart]:
    """Yield a chart of percentiles over rate, with the capacity of each setup."""
    limits = {limit.key: limit.ms for limit in test.search[0].limits} if test.search else {}
    keys = list(dict.fromkeys([*limits, "p99", "p50"]))
    rows = [row for label in results.labels for row in _curve(results, label, test, keys)]
    time = "lag" if test.search and test.search[0].of_lag else results.latency(test.name)
    counts = test.kind.cost_unit.plural
    if not rows:
        return
    marks = [_mark(results, label, test) for label in results.by_estimate(test, test.decisive)]
    capacities = [f"{mark['label']} {mark['note']}{mark['within']}" for mark in marks]
    yield Chart(
        f"capacity-{test.name}",
        f"{time.capitalize()} against rate, up to the knee, and each setup's capacity {test.condition}. "
        "A point is the median of the probes near a rate. Hollow points exceed the objective."
        f"{whisker_note(marks)}",
        f"Capacity in {counts} per second, {test.description}: {series(capacities)}.",
        partial(
            curves.capacity,
            rows,
            marks,
            limits,
            (time, f"{counts} per second"),
            looks(results.labels),
            f"{time.capitalize()} against rate, and capacity",
            [f"{test.short_description} {test.condition}; {span(valid_blocks(results, test), 'block')}, {test.engine}"],
        ),
    )


def _curve(results: Results, label: str, test: Test, keys: list[str]) -> list[ChartRow]:
    probes = [
        probe
        for trial in results.cells[label, test.name].valid
        for probe in (trial.capacity.probes if trial.capacity else ())
        if probe.outcome != "invalid" and probe.response_time_ms
    ]
    top = max((probe.rate for probe in probes if probe.outcome == "pass"), default=0.0) * BEYOND
    alike: dict[int, list[ProbeRecord]] = {}
    for probe in probes:
        if probe.rate <= top:
            alike.setdefault(round(math.log(probe.rate) / math.log(STEP)), []).append(probe)
    return [
        row
        for _, together in sorted(alike.items())
        for key in keys
        if (row := _point(label, key, together, test)) is not None
    ]


def _point(label: str, key: str, together: list[ProbeRecord], test: Test) -> ChartRow | None:
    of_lag = test.search is not None and test.search[0].of_lag
    found = [(probe.lag_ms or {}) if of_lag else probe.response_time_ms for probe in together]
    times = [time for figures in found if (time := figures.get(key)) is not None]
    if not times or not knowable(float(key[1:]), sum(probe.ok for probe in together)):
        return None
    rate, time = median(probe.rate for probe in together), median(times)
    passed = sum(probe.outcome == "pass" for probe in together)
    return {
        "label": label,
        "panel": key,
        "rate": rate,
        "value": time,
        "passed": 2 * passed >= len(together),
        "text": f"{label}: {key} {number(time)} ms at {number(rate)} {test.kind.cost_unit.plural}/s, {passed} of "
        f"{plural(len(together), 'probe')} within the objective",
    }


def _mark(results: Results, label: str, test: Test) -> ChartRow:
    """Return a setup's capacity as a chart row, without a value if no search found a capacity."""
    estimate = results.estimate(label, test.name, test.decisive.name)
    if estimate is None:
        searches = [trial.capacity for trial in results.cells[label, test.name].valid if trial.capacity]
        why = "no rate passed" if searches else why_unknown(results, label, test, test.decisive)
        return {"label": label, "note": why or DASH, "within": "", "text": f"{label}: capacity: {why}"}
    within = f" ({text})" if (text := interval(estimate)) else ""
    row = {
        "label": label,
        "value": estimate.value,
        "note": figure(estimate),
        "within": within,
        "text": f"{label}: capacity {figure(estimate)} {test.kind.cost_unit.plural}/s{within}",
    }
    return {**row, **whiskers(estimate)}


ADDITIONS = Additions(
    columns={
        "limited by": _limited_by,
        **tables.counts([PROBES]),
        "trials": tables.trials,
    },
    note=f"{tables.MEAN} Probes: the median number in a search.",
    charts=charts,
)
