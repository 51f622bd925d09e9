"""A study's history: the chart as a file, and a table in a terminal."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.text import Text

from loadtests.analyse.compare.differences import RunDifference
from loadtests.analyse.history import Change, History
from loadtests.files import RESULTS, make_folder, write_text
from loadtests.formatting import DASH, figure, plural, ratio
from loadtests.plan.kinds import metric as metric_of
from loadtests.report.formats import render
from loadtests.report.sections.history import TOO_SHORT, spec
from loadtests.report.terminal_tables import grid, told, unwrapped


def write(history: History, output: Path | None = None) -> Path:
    """Writes the chart as SVG to ``output`` (results/history-<study>.svg by default) and returns its path."""
    output = output or RESULTS / f"history-{history.study}"
    path = output if output.suffix == ".svg" else output.with_name(f"{output.name}.svg")
    make_folder(path.parent)
    write_text(path, render.svg(spec(history)))
    return path


def print_history(history: History, chart: Path, console: Console) -> None:
    """Prints the marked changes with what else changed, and where the chart is."""
    with unwrapped(console):
        _print(history, console)
    console.print(told(f"The chart: {chart}"), soft_wrap=True)


def _print(history: History, console: Console) -> None:
    first, *_, last = history.runs
    console.print(told(f"{history.title}: {plural(len(history.runs), 'run')}, {first} to {last}", style="bold"))
    for sentence in history.left_out:
        console.print(told(f"Left out: {sentence}.", style="yellow"))
    for sentence in history.troubled:
        console.print(told(sentence, style="red"))
    console.print()
    if not history.changes:
        console.print(TOO_SHORT if history.too_short else "No change is more than noise.")
        return
    table = grid(("run", "setup", "test", "metric", "now", "against", "change", ""), right=(4, 6))
    for change in history.changes:
        table.add_row(*_fields(change))
    console.print(table)
    since = {(change.before, change.mark.point.run): change.differences for change in history.changes}
    for (before, run), differences in since.items():
        console.print()
        console.print(told(f"What else changed from {before} to {run}:", style="bold"))
        if not differences:
            console.print("Nothing that the runs have kept.")
            continue
        table = grid(("", "", "before", "now"))
        for one in differences:
            table.add_row(*_difference(one))
        console.print(table)


def _fields(change: Change) -> list[Text]:
    series, point, moved = change.series, change.mark.point, change.mark.change
    assert moved is not None
    better = (moved > 1) == metric_of(series.metric).more_is_better
    names = [told(text) for text in (point.run, series.label, series.test, series.name)]
    now = figure(series.figures[point.run])
    figures = [told(text) for text in (now, series.against or "itself", ratio(moved))]
    return [*names, *figures, told("better", style="green") if better else told("worse", style="red")]


def _difference(one: RunDifference) -> list[Text]:
    return [told(one.kind, style="dim"), told(one.what), told(one.before or DASH), told(one.after or DASH)]
