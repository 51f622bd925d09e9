"""The charts' data and words: what of the table is drawn, and what each drawing says to those who cannot see it."""

from __future__ import annotations

from statistics import median
from typing import Any

from loadtests.analyse import metrics
from loadtests.analyse.results import Results
from loadtests.report import order
from loadtests.report.charts import cost as cost_chart
from loadtests.report.charts import latency as latency_chart
from loadtests.report.charts import over_time as over_time_chart
from loadtests.report.charts import verdicts as verdicts_chart
from loadtests.report.charts.base import Chart
from loadtests.report.charts.palette import looks
from loadtests.report.sections import verdicts as words
from loadtests.report.words import closed, interval, number, plural, ratio, ratio_interval, series, what

Row = dict[str, Any]
DRAWN = ("p50", "p90", "p95", "p99")
INTERVALS = "Whiskers are 95% intervals over blocks; one that ends in an arrow goes on beyond the chart."


def _subtitle(results: Results, test: dict[str, Any]) -> list[str]:
    return [f"{what(test)}, {test['engine']}; median of {plural(results.blocks, 'block')} with 95% interval"]


def _point(results: Results, label: str, test: str, metric: str, name: str, unit: str) -> Row:
    """One estimate as it is drawn; without a value where there is none."""
    found = results.estimate(label, test, metric)
    if found is None:
        why = "too few requests to know" if results.cells[label, test].valid else "no valid trial"
        return {"label": label, "note": why, "text": f"{label}: {name}: {why}"}
    within = f" ({interval(found)})" if closed(found) else ""
    row = {
        "label": label,
        "value": found.median,
        "note": number(found.median),
        "text": f"{label}: {name} {number(found.median)} {unit}{within}",
    }
    return {**row, "low": found.low, "high": found.high} if closed(found) else row


def _told(rows: list[Row]) -> str:
    """``gunicorn 2.03 (1.98 to 2.10), daphne ...``: a chart's rows as words."""
    return series([f"{row['label']} {row['note']}" for row in rows])


def latency(results: Results, test: dict[str, Any]) -> Chart | None:
    """Percentiles by setup; None where there is no valid trial."""
    rows = [
        {"percentile": key, **_point(results, label, test["name"], f"{key}_ms", key, "ms")}
        for key in DRAWN
        for label in order.by_estimate(results, test["name"], f"{key}_ms")
    ]
    if not any("value" in row for row in rows):
        return None
    said = [f"{key}: {_told([row for row in rows if row['percentile'] == key])}" for key in DRAWN]
    return Chart(
        f"latency-{test['name']}",
        f"{results.latency(test['name']).capitalize()} by percentile and setup. {INTERVALS}",
        f"{results.latency(test['name']).capitalize()} in milliseconds, {what(test)}. {'; '.join(said)}.",
        latency_chart.spec(rows, looks(results.labels), results.latency(test["name"]), _subtitle(results, test)),
    )


def over_time(results: Results, test: dict[str, Any]) -> Chart | None:
    """Requests answered well per second, second by second; None where no trial has a timeline."""
    rows: list[Row] = []
    for label in order.by_estimate(results, test["name"], "rps"):
        seconds: dict[float, list[float]] = {}
        for trial in results.cells[label, test["name"]].valid:
            for moment in (trial.result or {}).get("timeline") or []:
                # What is answered after the end (the grace period) is no full second of the test.
                if moment["t"] + 1 <= test["duration_s"] + 0.001:
                    seconds.setdefault(float(moment["t"]), []).append(float(moment["ok"]))
        rows += [
            {
                "label": label,
                "t": second + 0.5,
                "value": median(counts),
                "low": min(counts),
                "high": max(counts),
                "text": f"{label}: second {second + 1:g}: {number(median(counts))} requests",
            }
            for second, counts in sorted(seconds.items())
        ]
    if not rows:
        return None
    said = [
        f"{label} {number(min(values))} to {number(max(values))}"
        for label in results.labels
        if (values := [row["value"] for row in rows if row["label"] == label])
    ]
    return Chart(
        f"over-time-{test['name']}",
        "Requests answered well in each second: the median over trials, with a band from the lowest to the highest.",
        f"Requests per second over {test['duration_s']:g} seconds, {what(test)}. Lowest to highest second: "
        f"{series(said)}.",
        over_time_chart.spec(
            rows,
            looks(results.labels),
            test["duration_s"],
            "Requests per second over time",
            [f"{what(test)}, {test['engine']}; median and range of {plural(results.blocks, 'block')}"],
        ),
    )


def cost(results: Results, test: dict[str, Any]) -> Chart | None:
    """CPU time per request, stacked by role; None where no CPU time is known."""
    parts: list[Row] = []
    labels = order.by_estimate(results, test["name"], metrics.CPU)
    totals = [_point(results, label, test["name"], metrics.CPU, "CPU", "ms per request") for label in labels]
    for total in totals:
        label, start = total["label"], 0.0
        shares = {role: results.estimate(label, test["name"], metrics.role_cpu(role)) for role in results.roles}
        known = {role: found.median for role, found in shares.items() if found is not None}
        # Medians of parts need not add up to the median of the whole; the bar's length is the whole's.
        scale = total["value"] / sum(known.values()) if known and "value" in total else 0.0
        for role, value in known.items():
            text = f"{label}: {role} {number(value)} ms CPU per request"
            parts.append({"label": label, "role": role, "start": start, "end": start + value * scale, "text": text})
            start += value * scale
    if not parts:
        return None
    return Chart(
        f"cpu-{test['name']}",
        f"CPU time per request answered well, by the role of the processes. {INTERVALS}",
        f"CPU milliseconds per request, {what(test)}: {_told(totals)}.",
        cost_chart.spec(
            parts, totals, looks(results.labels), results.roles, "CPU time per request", _subtitle(results, test)
        ),
    )


def verdicts(results: Results, test: dict[str, Any]) -> Chart | None:
    """Ratios to the baseline; None where nothing can be compared."""
    rows: list[Row] = []
    bands: list[Row] = []
    delta = results.study["delta"]
    for metric in metrics.judged(test["kind"]):
        name = words.name(results, test["name"], metric)
        labels = order.by_ratio(results, test["name"], metric)
        rows += [_ratio(results, label, test["name"], metric, name) for label in labels]
        bands.append({"metric": name, "kind": f"equivalent (±{delta:.0%})", "low": 1 - delta, "high": 1 + delta})
        floor = results.floors.get((test["name"], metric))
        if floor is not None and closed(floor):
            far = max(floor.high, 1 / floor.low)
            bands.append({"metric": name, "kind": "noise floor", "low": 1 / far, "high": far})
    if not any("ratio" in row for row in rows):
        return None
    return Chart(
        f"verdicts-{test['name']}",
        f"Ratio to {results.baseline}, with the band that counts as equal and the machine's noise floor. {INTERVALS}",
        f"Ratio to {results.baseline}, {what(test)}. "
        + "; ".join(f"{row['metric']}, {row['label']}: {row['note']}" for row in rows)
        + ".",
        verdicts_chart.spec(
            rows,
            bands,
            looks(results.labels),
            f"Against {results.baseline}",
            [f"{what(test)}, {test['engine']}; ratio within each block, median of {plural(results.blocks, 'block')}"],
        ),
    )


def _ratio(results: Results, label: str, test: str, metric: str, name: str) -> Row:
    found = results.comparisons.get((label, test, metric))
    if found is None:
        why = "no block has both"
        return {"label": label, "metric": name, "note": why, "text": f"{label}: {name}: {why}"}
    note = f"{ratio(found.ratio)} {words.word(found)}"
    row = {
        "label": label,
        "metric": name,
        "ratio": found.ratio,
        "note": note,
        "text": f"{label}: {name} {note} {ratio_interval(found)}",
    }
    # Open at both ends: drawn as an interval that leaves the chart on both sides.
    return {**row, "low": found.low, "high": min(found.high, 1e300)}
