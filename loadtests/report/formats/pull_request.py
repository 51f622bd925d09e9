"""Format a comparison for tools that show it next to a pull request.

The formats are JUnit's XML, Bencher's metric format, and GitHub's Markdown.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator

from loadtests.analyse.compare.rows import Compared, ComparisonRow
from loadtests.formatting import printable
from loadtests.report.formats.comparison import note, tables
from loadtests.report.view import Field, Table

OUTCOMES = {"failure": "failures", "error": "errors", "skipped": "skipped"}  # JUnit's elements and their counts
BOUNDS = {"value": "value", "low": "lower_value", "high": "upper_value"}  # this project's names and Bencher's names


def junit(compared: Compared) -> str:
    """Return JUnit's XML: a suite for each test, and a case for each setup and metric.

    A case that breaks the rule is a failure. A case that can't be judged is an error if there is a rule, and is skipped
    if there is no rule.
    """
    root = ET.Element("testsuites", name=printable(f"{compared.before} against {compared.after}"))
    for table in tables(compared):
        rows = [row for row in compared.rows if row.test == table.caption]
        suite = ET.SubElement(root, "testsuite", name=table.caption, tests=str(len(rows)))
        shown = [zip(table.columns, map(_whole, fields), strict=True) for fields in table.rows]
        ended = [_case(suite, compared, row, found) for row, found in zip(rows, shown, strict=True)]
        for outcome, counted in OUTCOMES.items():
            suite.set(counted, str(ended.count(outcome)))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}'


def _case(suite: ET.Element, compared: Compared, row: ComparisonRow, found: Iterable[tuple[str, str]]) -> str:
    """Add a test case for a row of the comparison, and return its outcome, or an empty string for success."""
    case = ET.SubElement(suite, "testcase", classname=f"{row.test}.{row.label}", name=row.name, time="0")
    outcome = ""
    if why := compared.broken_by(row) or row.missing:
        outcome = "failure" if row.comparison else "error" if compared.rule else "skipped"
        ET.SubElement(case, outcome, message=printable(why))
    ET.SubElement(case, "system-out").text = printable("\n".join(f"{head}: {text}" for head, text in found if text))
    return outcome


def bmf(compared: Compared) -> dict[str, dict[str, dict[str, float]]]:
    """Return the figures of side B in Bencher's format, with a benchmark for each setup and test.

    Open ends of intervals are omitted. See https://bencher.dev/docs/reference/bencher-metric-format/
    """
    found: dict[str, dict[str, dict[str, float]]] = {}
    for row in compared.to_json()["comparisons"]:
        measured = {BOUNDS[key]: value for key, value in (row["after"] or {}).items() if value is not None}
        if "value" in measured:
            found.setdefault(f"{row['setup']}/{row['test']}", {})[row["metric"]] = measured
    return found


def github(compared: Compared) -> str:
    """Return a summary in GitHub's Markdown: the failures, a table for each test, and other differences."""
    lines = [f"### {_escaped(compared.before)} (A) against {_escaped(compared.after)} (B)"]
    if compared.rule:
        word, why = ("Failed", compared.failure) if compared.failure else ("Passed", f"{compared.rule}: none")
        lines += ["", f"**{word}.** {_escaped(why)}."]
    if not compared.one_machine:
        lines += ["", "The machines differ, so the tables also compare machines."]
    for sentence in compared.left_out:
        lines += ["", f"Not compared: {_escaped(sentence)}."]
    for table in tables(compared):
        lines += ["", f"#### {_escaped(table.caption)}", "", *_markdown(table)]
    lines += ["", _escaped(note(compared))]
    if compared.differences:
        rows = [(one.kind, one.what, one.before or "", one.after or "") for one in compared.differences]
        table = Table("", "", ("", "", "A", "B"), tuple(tuple(map(Field, row)) for row in rows))
        lines += ["", "<details><summary>What else differs</summary>", "", *_markdown(table), "", "</details>"]
    return "\n".join(lines)


def _markdown(table: Table) -> Iterator[str]:
    aligned = ["--:" if place in table.numeric else "---" for place in range(len(table.columns))]
    cells = ([_escaped(_whole(field)) for field in row] for row in table.rows)
    for row in (table.columns, aligned, *cells):
        yield f"| {' | '.join(row)} |"


def _whole(field: Field) -> str:
    return f"{field.text} ({field.detail})" if field.detail else field.text


def _escaped(text: str) -> str:
    """Return the text on one line, with Markdown's and HTML's markup escaped."""
    return re.sub(r"([\\`*_{}\[\]<>#|!&~@])", r"\\\1", " ".join(printable(text).split()))
