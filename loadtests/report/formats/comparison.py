"""A comparison in a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from loadtests.analyse.compare.rows import Compared, ComparisonRow
from loadtests.grid import grid, told, unwrapped
from loadtests.report.formats.brief import STYLES
from loadtests.report.sections import verdicts
from loadtests.words import DASH, NOT_REACHED, number, ratio, ratio_interval


def print_comparison(compared: Compared, console: Console) -> None:
    """Prints what differs, then a row for each setup, test and metric."""
    with unwrapped(console):
        _print(compared, console)


def _print(compared: Compared, console: Console) -> None:
    console.print(told(f"A: {compared.before}\nB: {compared.after}", style="bold"))
    if not compared.one_machine:
        console.print(told("The machines differ: what follows compares them as well, not the setups alone.", "red"))
    if compared.differences:
        table = grid(("not the same", "", "A", "B"))
        for one in compared.differences:
            table.add_row(told(one.kind, style="dim"), *map(told, (one.what, one.before or DASH, one.after or DASH)))
        console.print()
        console.print(table)
    for sentence in compared.left_out:
        console.print(told(f"Not compared: {sentence}.", style="yellow"))
    table = grid(("setup", "test", "metric", "A", "B", "B / A", "verdict", "remark", "blocks"), right=(3, 4, 5, 8))
    for row in compared.rows:
        table.add_row(*_fields(row))
    console.print()
    console.print(table)
    console.print(told(_note(compared), style="dim"))


def _fields(row: ComparisonRow) -> list[Text]:
    figures = [number(side.value if side else None) for side in (row.before, row.after)]
    names = [told(text) for text in (row.label, row.test, row.name, *figures)]
    if row.comparison is None:
        return [*names, told(DASH), told(row.missing, style="yellow"), told(""), told("0")]
    tone = "muted" if row.comparison.inside_noise else verdicts.TONES.get(row.comparison.verdict, "muted")
    unknown = ratio(row.comparison.ratio) == DASH
    within = NOT_REACHED if unknown else ratio_interval(row.comparison) or "open interval"
    return [
        *names,
        told(f"{ratio(row.comparison.ratio)} ({within})"),
        told(verdicts.word(row.comparison), style=STYLES[tone]),
        told(verdicts.remark(row.comparison), style="dim"),
        told(str(row.comparison.blocks)),
    ]


def _note(compared: Compared) -> str:
    family = compared.comparisons[0].family
    held = f"The intervals hold together with 95% for all {family} comparisons" if family > 1 else "95% interval"
    settling = verdicts.what_would_settle(compared.comparisons)
    told = f"{held}; equivalent: within ±{compared.delta:.0%}. Invalid trials are left out. {settling}"
    return told.rstrip()
