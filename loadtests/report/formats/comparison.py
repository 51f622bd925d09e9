"""A comparison in a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from loadtests.analyse.compare.rows import Compared, Row
from loadtests.report.formats.terminal import STYLES, grid, unwrapped
from loadtests.report.sections import verdicts
from loadtests.report.words import DASH, number, ratio, ratio_interval


def print_comparison(found: Compared, console: Console) -> None:
    """Prints what differs, then a row for each setup, test and metric."""
    with unwrapped(console):
        _print(found, console)


def _print(found: Compared, console: Console) -> None:
    console.print(Text(f"A: {found.before}\nB: {found.after}", style="bold"))
    if not found.one_machine:
        console.print(Text("The machines differ: what follows compares them as well, not the setups alone.", "red"))
    if found.differences:
        table = grid(("not the same", "", "A", "B"))
        for one in found.differences:
            table.add_row(Text(one.kind, style="dim"), *map(Text, (one.what, one.before or DASH, one.after or DASH)))
        console.print()
        console.print(table)
    for sentence in found.left_out:
        console.print(Text(f"Not compared: {sentence}.", style="yellow"))
    table = grid(("setup", "test", "metric", "A", "B", "B / A", "verdict", "remark", "blocks"), right=(3, 4, 5, 8))
    for row in found.rows:
        table.add_row(*_fields(row))
    console.print()
    console.print(table)
    console.print(Text(_note(found), style="dim"))


def _fields(row: Row) -> list[Text]:
    figures = [number(side.median if side else None) for side in (row.before, row.after)]
    names = [Text(text) for text in (row.label, row.test, row.name, *figures)]
    if row.found is None:
        return [*names, Text(DASH), Text(row.missing, style="yellow"), Text(""), Text("0")]
    tone = "muted" if row.found.inside_noise else verdicts.TONES.get(row.found.verdict, "muted")
    within = ratio_interval(row.found) or "open interval"
    return [
        *names,
        Text(f"{ratio(row.found.ratio)} ({within})"),
        Text(verdicts.word(row.found), style=STYLES[tone]),
        Text(verdicts.remark(row.found), style="dim"),
        Text(str(row.found.blocks)),
    ]


def _note(found: Compared) -> str:
    family = found.comparisons[0].family
    held = f"The intervals hold together with 95% for all {family} comparisons" if family > 1 else "95% interval"
    return f"{held}; equivalent: within ±{found.delta:.0%}. Invalid trials are left out."
