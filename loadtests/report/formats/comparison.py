"""Print a comparison of two sides, A and B, in a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console

from loadtests.analyse.compare.differences import RunDifference
from loadtests.analyse.compare.rows import Compared, ComparisonRow
from loadtests.formatting import DASH, figure
from loadtests.plan.kinds import metric
from loadtests.report.formats.terminal import print_table
from loadtests.report.sections import verdicts
from loadtests.report.terminal_tables import grid, safe_text, unwrapped
from loadtests.report.verdict_text import what_would_settle
from loadtests.report.view import Field, Table


def print_comparison(compared: Compared, console: Console) -> None:
    """Print the differences between the sides, and a table of verdicts for each test."""
    with unwrapped(console):
        console.print(safe_text(f"A: {compared.before}\nB: {compared.after}", style="bold"))
        if not compared.one_machine:
            console.print(safe_text("The machines differ, so the tables also compare machines.", "red"))
        if compared.differences:
            console.print()
            print_differences(compared.differences, ("difference", "", "A", "B"), console)
        for sentence in compared.left_out:
            console.print(safe_text(f"Not compared: {sentence}.", style="yellow"))
        for table in tables(compared):
            console.print()
            print_table(table, console)
        console.print(safe_text(note(compared), style="dim"))


def print_differences(differences: Iterable[RunDifference], heads: Sequence[str], console: Console) -> None:
    table = grid(heads)
    for one in differences:
        table.add_row(safe_text(one.kind, "dim"), *map(safe_text, (one.what, one.before or DASH, one.after or DASH)))
    console.print(table)


def tables(compared: Compared) -> list[Table]:
    tests = dict.fromkeys(row.test for row in compared.rows)
    return [_table(test, [row for row in compared.rows if row.test == test]) for test in tests]


def _table(test: str, rows: Sequence[ComparisonRow]) -> Table:
    heads = ("setup", "metric", "A", "B", "B / A", "verdict", "remark", "blocks")
    numeric, optional = frozenset({2, 3, 4, 7}), (7, 6)
    return Table(f"compared-{test}", test, heads, tuple(map(_fields, rows)), numeric=numeric, optional=optional)


def _fields(row: ComparisonRow) -> tuple[Field, ...]:
    figures = (Field(figure(side)) for side in (row.before, row.after))
    names = (Field(row.label), Field(row.name, short=metric(row.metric).short), *figures)
    if row.comparison is None:
        return *names, Field(DASH), Field(row.missing, tone="bad"), Field(""), Field("0")
    return *names, *verdicts.fields(row.comparison)


def note(compared: Compared) -> str:
    """Return a note that explains the tables and how to settle inconclusive comparisons."""
    family = compared.comparisons[0].family
    adjusted = f"s, adjusted for {family} comparisons" if family > 1 else ""
    settling = what_would_settle(compared.comparisons)
    delta = f"equivalent: within ±{compared.delta:.0%}"
    return f"95% confidence interval{adjusted}; {delta}. Invalid trials are left out. {settling}".rstrip()
