"""A study's history as a chart in two files, and as a table in a terminal."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from loadtests.analyse.changes import RUNS_FOR_MARKS
from loadtests.analyse.compare.differences import Difference
from loadtests.analyse.history import Change, History, Series
from loadtests.paths import RESULTS
from loadtests.plan.metrics import metric as metric_of
from loadtests.report.charts import history as history_chart
from loadtests.report.charts.palette import looks
from loadtests.report.formats import render
from loadtests.report.formats.terminal import grid, unwrapped
from loadtests.report.words import DASH, closed, interval, number, plural, ratio
from loadtests.store import write_text

SUFFIXES = (".svg", ".png")
TOO_SHORT = f"No change is marked: what is noise between runs shows from {RUNS_FOR_MARKS} runs on."


def write(history: History, output: Path | None = None) -> list[Path]:
    """Writes the chart as SVG and PNG beside each other and returns their paths.

    ``output`` is their common name, with either ending or none; history-<study> in results/ where there is none.
    """
    output = output or RESULTS / f"history-{history.study}"
    name = output.name.removesuffix(output.suffix) if output.suffix in SUFFIXES else output.name
    svg, png = (output.with_name(name + suffix) for suffix in SUFFIXES)
    svg.parent.mkdir(parents=True, exist_ok=True)
    drawing = render.svg(spec(history))
    write_text(svg, drawing)
    png.write_bytes(render.png(drawing))
    return [svg, png]


def spec(history: History) -> dict[str, Any]:
    """The chart's specification."""
    places = {run: place for place, run in enumerate(history.runs)}
    panels: dict[str, list[dict[str, Any]]] = {}
    for series in history.series:
        panels.setdefault(_axis(series), []).extend(_rows(series, places))
    labels = list(dict.fromkeys(series.label for series in history.series))
    subtitle = [
        f"{plural(len(history.runs), 'run')} on one machine; medians over blocks with 95% intervals.",
        TOO_SHORT
        if history.too_short
        else "A ring marks a change that is more than noise, as a ratio to the level before it.",
    ]
    return history_chart.spec(panels, _dates(history), looks(labels), f"{history.title}: over time", subtitle)


def print_history(history: History, files: Iterable[Path], console: Console) -> None:
    """Prints the marked changes with what else changed, and where the chart is."""
    with unwrapped(console):
        _print(history, console)
    console.print(Text(f"The chart: {' and '.join(map(str, files))}"), soft_wrap=True)


def _print(history: History, console: Console) -> None:
    first, *_, last = history.runs
    console.print(Text(f"{history.title}: {plural(len(history.runs), 'run')}, {first} to {last}", style="bold"))
    for sentence in history.left_out:
        console.print(Text(f"Left out: {sentence}.", style="yellow"))
    console.print()
    if not history.changes:
        console.print(TOO_SHORT if history.too_short else "No change is more than noise.")
        return
    table = grid(("run", "setup", "test", "metric", "before", "now", "change", ""), right=(4, 5, 6))
    for change in history.changes:
        table.add_row(*_fields(change))
    console.print(table)
    since = {(change.before, change.mark.point.run): change.differences for change in history.changes}
    for (before, run), found in since.items():
        console.print()
        console.print(Text(f"What else changed from {before} to {run}:", style="bold"))
        if not found:
            console.print("nothing that the runs know of")
            continue
        table = grid(("", "", "before", "now"))
        for one in found:
            table.add_row(*_difference(one))
        console.print(table)


def _fields(change: Change) -> list[Text]:
    series, point, moved = change.series, change.mark.point, change.mark.change
    assert moved is not None
    better = (moved > 1) == metric_of(series.metric).more_is_better
    names = [Text(text) for text in (point.run, series.label, series.test, series.name)]
    figures = [Text(text) for text in (number(point.value / moved), number(point.value), ratio(moved))]
    return [*names, *figures, Text("better", style="green") if better else Text("worse", style="red")]


def _difference(one: Difference) -> list[Text]:
    return [Text(one.kind, style="dim"), Text(one.what), Text(one.before or DASH), Text(one.after or DASH)]


def _axis(series: Series) -> str:
    unit = metric_of(series.metric).unit
    # A rate's name holds its unit.
    return f"{series.test}: {series.name}" + ("" if series.name.endswith("second") or not unit else f", {unit}")


def _rows(series: Series, places: dict[str, int]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for mark in series.marks:
        point = mark.point
        changed = "" if mark.change is None else f", changed {ratio(mark.change)}"
        within = interval(point) or "open interval"
        row: dict[str, Any] = {
            "label": series.label,
            "run": places[point.run],
            "value": point.value,
            "text": f"{series.label}: {point.run}: {number(point.value)} ({within}){changed}",
        }
        if closed(point):
            row |= {"low": point.low, "high": point.high}
        if mark.change is not None:
            row["mark"] = ratio(mark.change)
        rows.append(row)
    return rows


def _dates(history: History) -> list[str]:
    """The days of the runs; a second one of a day with its time."""
    days: list[str] = []
    for results in history.runs.values():
        created = str(results.about["created"])
        again = any(day.startswith(created[:10]) for day in days)
        days.append(f"{created[:10]} {created[11:16]}" if again else created[:10])
    return days
