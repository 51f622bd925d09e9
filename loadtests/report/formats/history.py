"""A study's history: its chart as a file, with a panel for each test and metric, and a table in a terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from loadtests.analyse.changes import RUNS_FOR_MARKS
from loadtests.analyse.history import Change, History, Series
from loadtests.errors import UserError
from loadtests.files import RESULTS, make_folder, write_text
from loadtests.formatting import closed, figure, interval, number, plural, ratio
from loadtests.plan.kinds import metric as metric_of
from loadtests.report.charts import history as history_chart
from loadtests.report.charts.palette import looks
from loadtests.report.formats import drawing, render
from loadtests.report.formats.comparison import print_differences
from loadtests.report.points import ChartRow
from loadtests.report.terminal_tables import grid, safe_text, unwrapped

TOO_SHORT = f"No change is marked: that takes {RUNS_FOR_MARKS} runs."


def write(history: History, output: Path | None = None) -> Path:
    """Writes the chart as SVG to ``output`` (results/history-<study>.svg by default) and returns its path."""
    output = output or RESULTS / f"history-{history.study}"
    if output.is_dir():
        raise UserError(f"{output} is a folder; name the file with --output")
    path = output if output.suffix == ".svg" else output.with_name(f"{output.name}.svg")
    make_folder(path.parent)
    write_text(path, drawing.file(render.svg(spec(history)), f"History of {history.study}"))
    return path


def print_history(history: History, chart: Path, console: Console) -> None:
    """Prints the significant changes, what else changed, and where the chart is."""
    with unwrapped(console):
        _print(history, console)
    console.print(safe_text(f"The chart: {chart}"), soft_wrap=True)


def _print(history: History, console: Console) -> None:
    first, *_, last = history.runs
    console.print(safe_text(f"{history.title}: {plural(len(history.runs), 'run')}, {first} to {last}", style="bold"))
    for sentence in history.left_out:
        console.print(safe_text(f"Left out: {sentence}.", style="yellow"))
    for sentence in history.troubled:
        console.print(safe_text(sentence, style="red"))
    console.print()
    if not history.changes:
        console.print(TOO_SHORT if history.too_short else "No significant change.")
        return
    table = grid(("run", "setup", "test", "metric", "now", "against", "change", ""), right=(4, 6))
    for change in history.changes:
        table.add_row(*_fields(change))
    console.print(table)
    since = {(change.before, change.mark.point.run): change.differences for change in history.changes}
    for (before, run), differences in since.items():
        console.print()
        console.print(safe_text(f"What else changed from {before} to {run}:", style="bold"))
        if not differences:
            console.print("Nothing in the records.")
            continue
        print_differences(differences, ("", "", "before", "now"), console)


def _fields(change: Change) -> list[Text]:
    series, point, moved = change.series, change.mark.point, change.mark.change
    assert moved is not None
    better = (moved > 1) == metric_of(series.metric).more_is_better
    names = [safe_text(text) for text in (point.run, series.label, series.test, series.name)]
    now = figure(series.figures[point.run])
    figures = [safe_text(text) for text in (now, series.against or "itself", ratio(moved))]
    return [*names, *figures, safe_text("better", style="green") if better else safe_text("worse", style="red")]


def spec(history: History) -> dict[str, Any]:
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
