"""A study's history: its chart as a file, and a table in a terminal."""

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
from loadtests.report.terminal_tables import grid, safe_text, unwrapped


def write(history: History, output: Path | None = None) -> Path:
    """Writes the chart as SVG to ``output`` (results/history-<study>.svg by default) and returns its path."""
    output = output or RESULTS / f"history-{history.study}"
    path = output if output.suffix == ".svg" else output.with_name(f"{output.name}.svg")
    make_folder(path.parent)
    write_text(path, render.svg(spec(history)))
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
        table = grid(("", "", "before", "now"))
        for one in differences:
            table.add_row(*_difference(one))
        console.print(table)


def _fields(change: Change) -> list[Text]:
    series, point, moved = change.series, change.mark.point, change.mark.change
    assert moved is not None
    better = (moved > 1) == metric_of(series.metric).more_is_better
    names = [safe_text(text) for text in (point.run, series.label, series.test, series.name)]
    now = figure(series.figures[point.run])
    figures = [safe_text(text) for text in (now, series.against or "itself", ratio(moved))]
    return [*names, *figures, safe_text("better", style="green") if better else safe_text("worse", style="red")]


def _difference(one: RunDifference) -> list[Text]:
    return [
        safe_text(one.kind, style="dim"),
        safe_text(one.what),
        safe_text(one.before or DASH),
        safe_text(one.after or DASH),
    ]
