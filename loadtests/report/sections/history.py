"""A study's history as rows of a chart, a panel for each test and metric."""

from __future__ import annotations

from typing import Any

from loadtests.analyse.changes import RUNS_FOR_MARKS
from loadtests.analyse.history import History, Series
from loadtests.formatting import closed, interval, number, plural, ratio
from loadtests.plan.kinds import metric as metric_of
from loadtests.report.charts import history as history_chart
from loadtests.report.charts.palette import looks
from loadtests.report.points import ChartRow

TOO_SHORT = f"No change is marked: that takes {RUNS_FOR_MARKS} runs."


def spec(history: History) -> dict[str, Any]:
    """The chart's specification."""
    places = {run: place for place, run in enumerate(history.runs)}
    panels: dict[str, list[ChartRow]] = {}
    for series in history.series:
        panels.setdefault(_axis(series), []).extend(_rows(series, places))
    labels = list(dict.fromkeys(series.label for series in history.series))
    subtitle = [
        f"{plural(len(history.runs), 'run')} on one machine; means over blocks with 95% intervals.",
        TOO_SHORT
        if history.too_short
        else f"A ring marks a significant change{_against(history)}, as a ratio to the level before it.",
    ]
    if history.troubled:
        subtitle.append("A ring with the word failed marks a run in which requests failed.")
    return history_chart.spec(panels, _dates(history), looks(labels), f"{history.title}: over time", subtitle)


def _against(history: History) -> str:
    baseline = next((series.against for series in history.series if series.against), "")
    return f" (against {baseline} in the same run)" if baseline else ""


def _axis(series: Series) -> str:
    return f"{series.test}: {metric_of(series.metric).with_unit(series.name)}"


def _rows(series: Series, places: dict[str, int]) -> list[ChartRow]:
    rows: list[ChartRow] = []
    for mark in series.marks:
        point, figure = mark.point, series.figures[mark.point.run]
        changed = "" if mark.change is None else f", changed {ratio(mark.change)}"
        changed += f", {point.trouble}" if point.trouble else ""
        within = interval(figure) or "open interval"
        row: ChartRow = {
            "label": series.label,
            "run": places[point.run],
            "value": figure.value,
            "text": f"{series.label}: {point.run}: {number(figure.value)} ({within}){changed}",
        }
        if closed(figure):
            row |= {"low": figure.low, "high": figure.high}
        if point.trouble:
            row["mark"] = "failed"
        if mark.change is not None:
            row["mark"] = ratio(mark.change)
        rows.append(row)
    return rows


def _dates(history: History) -> list[str]:
    """The days of the runs; a second one of a day with its time."""
    days: list[str] = []
    for results in history.runs.values():
        created = results.record.created
        again = any(day.startswith(created[:10]) for day in days)
        days.append(f"{created[:10]} {created[11:16]}" if again else created[:10])
    return days
