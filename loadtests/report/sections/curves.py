"""The capacity chart's data: response times of the probes of all blocks against their rate, up to the knee."""

from __future__ import annotations

import math
from statistics import median
from typing import Any

from loadtests.analyse import metrics
from loadtests.analyse.percentiles import knowable
from loadtests.analyse.results import Results
from loadtests.plan.objective import parse
from loadtests.report import order
from loadtests.report.charts import capacity as chart
from loadtests.report.charts.base import Chart
from loadtests.report.charts.palette import looks
from loadtests.report.words import DASH, asked, closed, interval, number, plural, series, what
from loadtests.store import Trial

Row = dict[str, Any]
STEP = 1.05  # the bisections of different blocks ask nearly the same rates: those within 5% are one point
BEYOND = 1.1  # past capacity an open loop measures its own backlog: so far over the last rate that passed
LIMITED = {"generator": "the generator's limit", "max_rate": "the highest rate allowed", "probes": "not settled"}


def probes(trial: Trial) -> list[dict[str, Any]]:
    """The probes of a search."""
    found: list[dict[str, Any]] = (trial.capacity or {}).get("probes") or []
    return found


def capacity(results: Results, test: dict[str, Any]) -> Chart | None:
    """Percentiles against rate with the capacity of each setup; None where no probe was made."""
    limits = {limit.key: limit.ms for limit in parse(test["objective"]).limits}
    keys = list(dict.fromkeys([*limits, "p99", "p50"]))
    rows = [row for label in results.labels for row in _curve(results, label, test["name"], keys)]
    if not rows:
        return None
    labels = order.by_estimate(results, test["name"], metrics.CAPACITY)
    marks = [_mark(results, label, test["name"]) for label in labels]
    told = [f"{mark['label']} {mark['note']}{mark['within']}" for mark in marks]
    return Chart(
        f"capacity-{test['name']}",
        f"Response time against rate, up to the knee, and the capacity that each setup has within {test['objective']}. "
        "A point is the median of the probes at about that rate, a hollow one was over the objective, a large one is "
        "the capacity. Whiskers are 95% intervals over blocks; one that ends in an arrow goes on beyond the chart.",
        f"Capacity in requests per second, {what(test)}: {series(told)}.",
        chart.spec(
            rows,
            marks,
            limits,
            looks(results.labels),
            "Response time against rate, and capacity",
            [f"{asked(test)} within {test['objective']}; {plural(results.blocks, 'block')}, {test['engine']}"],
        ),
    )


def _curve(results: Results, label: str, test: str, keys: list[str]) -> list[Row]:
    """A setup's points. A percentile is drawn where the probes of a point hold enough requests to know it."""
    made = [
        probe
        for trial in results.cells[label, test].valid
        for probe in probes(trial)
        if probe["outcome"] != "invalid" and probe["response_time_ms"]
    ]
    top = max((probe["rate"] for probe in made if probe["outcome"] == "pass"), default=0.0) * BEYOND
    alike: dict[int, list[dict[str, Any]]] = {}
    for probe in made:
        if probe["rate"] <= top:
            alike.setdefault(round(math.log(probe["rate"]) / math.log(STEP)), []).append(probe)
    return [
        row
        for _, together in sorted(alike.items())
        for key in keys
        if (row := _point(label, key, together)) is not None
    ]


def _point(label: str, key: str, together: list[dict[str, Any]]) -> Row | None:
    times = [probe["response_time_ms"][key] for probe in together if probe["response_time_ms"].get(key) is not None]
    if not times or not knowable(float(key[1:]), sum(probe["ok"] for probe in together)):
        return None
    rate, time = median(probe["rate"] for probe in together), median(times)
    passed = sum(probe["outcome"] == "pass" for probe in together)
    return {
        "label": label,
        "percentile": key,
        "rate": rate,
        "value": time,
        "passed": 2 * passed >= len(together),
        "text": f"{label}: {key} {number(time)} ms at {number(rate)} requests/s, {passed} of "
        f"{plural(len(together), 'probe')} within the objective",
    }


def _mark(results: Results, label: str, test: str) -> Row:
    """A setup's capacity as it is drawn; without a value where no search of its own found one."""
    found = results.estimate(label, test, metrics.CAPACITY)
    if found is None:
        trials = [trial for trial in results.cells[label, test].valid if trial.capacity]
        ends = dict.fromkeys(LIMITED.get(trial.capacity["limited_by"], "no rate") for trial in trials if trial.capacity)
        why = series(list(ends)) if trials else "no valid trial"
        return {"label": label, "note": why or DASH, "within": "", "text": f"{label}: capacity: {why}"}
    within = f" ({interval(found)})" if closed(found) else ""
    row = {
        "label": label,
        "value": found.median,
        "note": number(found.median),
        "within": within,
        "text": f"{label}: capacity {number(found.median)} requests/s{within}",
    }
    return {**row, "low": found.low, "high": found.high} if closed(found) else row
