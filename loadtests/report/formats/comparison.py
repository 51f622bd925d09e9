"""Format a comparison of two sides, A and B, for a terminal and as GitHub's Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rich.console import Console

from loadtests.analyse.compare.rows import Compared, ComparisonRow
from loadtests.formatting import DASH, figure, printable
from loadtests.plan.kinds import metric
from loadtests.report.formats.terminal import print_table
from loadtests.report.sections import verdicts
from loadtests.report.terminal_tables import safe_text, unwrapped
from loadtests.report.verdict_text import what_would_settle
from loadtests.report.view import Field, Section, Table


def section(compared: Compared) -> Section:
    """Return warnings, a table of verdicts for each test, and a table of other differences between the sides."""
    paragraphs = [f"Not compared: {sentence}." for sentence in compared.left_out]
    if not compared.one_machine:
        paragraphs.insert(0, "The machines differ, so the tables also compare machines.")
    tests = dict.fromkeys(row.test for row in compared.rows)
    tables = [_table(test, [row for row in compared.rows if row.test == test]) for test in tests]
    if compared.differences:
        rows = ((one.kind, one.what, one.before or DASH, one.after or DASH) for one in compared.differences)
        fields = tuple(tuple(map(Field, row)) for row in rows)
        tables.append(Table("differences", "Other differences", ("difference", "", "A", "B"), fields))
    family = compared.comparisons[0].family
    adjusted = f"s, adjusted for {family} comparisons" if family > 1 else ""
    note = f"95% confidence interval{adjusted}; equivalent: within ±{compared.delta:.0%}. Invalid trials are left out."
    return Section(
        "comparison",
        f"{compared.before} (A) against {compared.after} (B)",
        tuple(paragraphs),
        tuple(tables),
        reading=f"{note} {what_would_settle(compared.comparisons)}".rstrip(),
    )


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


def print_comparison(compared: Compared, console: Console) -> None:
    shown = section(compared)
    with unwrapped(console):
        console.print(safe_text(shown.heading, "bold"))
        for paragraph in shown.paragraphs:
            console.print(safe_text(paragraph, "red"))
        for table in shown.tables:
            console.print()
            print_table(table, console)
        console.print(safe_text(shown.reading, "dim"))


def markdown(compared: Compared) -> str:
    """Return a summary in GitHub's Markdown, which starts with the setups that break the rule of ``--fail-if``."""
    shown = section(compared)
    lines = [f"### {_escaped(shown.heading)}"]
    if compared.rule:
        word, why = ("Failed", compared.failure) if compared.failure else ("Passed", f"{compared.rule}: none")
        lines += ["", f"**{word}.** {_escaped(why)}."]
    for paragraph in shown.paragraphs:
        lines += ["", _escaped(paragraph)]
    for table in shown.tables:
        lines += ["", f"#### {_escaped(table.caption)}", "", *_rows(table)]
    return "\n".join([*lines, "", _escaped(shown.reading)])


def _rows(table: Table) -> Iterator[str]:
    aligned = ["--:" if place in table.numeric else "---" for place in range(len(table.columns))]
    cells = (
        [_escaped(f"{field.text} ({field.detail})" if field.detail else field.text) for field in row]
        for row in table.rows
    )
    for row in (table.columns, aligned, *cells):
        yield f"| {' | '.join(row)} |"


def _escaped(text: str) -> str:
    """Return the text on one line, with Markdown's and HTML's markup escaped."""
    return re.sub(r"([\\`*_{}\[\]<>#|!&~@])", r"\\\1", " ".join(printable(text).split()))
