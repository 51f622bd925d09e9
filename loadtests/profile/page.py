"""Convert a profile's document to text and tables, for the terminal and the documentation."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

from loadtests.formatting import plural, printable
from loadtests.profile.classify import Category
from loadtests.report.formats import rest
from loadtests.report.view import Field, Table

ENOUGH = 500  # with this number of samples, a share of 50% is accurate to 4%, and a share of 10% to 3%
INTERVAL, ROUNDS = "95% interval, each on its own", "of each round"
COLUMNS = ("", "CPU", INTERVAL, ROUNDS, "µs per request")
COLUMNS_NOTE = (
    "CPU: the share of the role's CPU time. The interval assumes independent samples, so also compare the rounds, "
    "which are separate starts of the servers. µs per request: this share of a request's CPU time without sampling."
)

Document = dict[str, Any]


def title(document: Document) -> str:
    """Return the heading of the page."""
    return f"Where the time goes: {document['label']}, {document['path']}"


def table(role: Document) -> Table:
    """Return a table of a role's CPU time by category.

    On a narrow terminal, the table first omits the column with the rounds, and then the column with the interval.
    """
    return Table(
        role["role"],
        f"{role['role']}: {role['cpu_us_per_request']:,.0f} µs of CPU time per request",
        COLUMNS,
        tuple(tuple(map(Field, _row(share))) for share in sorted(role["shares"], key=lambda one: -one["share"])),
        numeric=frozenset(range(1, len(COLUMNS))),
        optional=(COLUMNS.index(ROUNDS), COLUMNS.index(INTERVAL)),
    )


def _row(share: Document) -> tuple[str, ...]:
    return (
        share["category"],
        f"{share['share']:.1%}",
        f"{share['low']:.1%} to {share['high']:.1%}",
        " ".join(f"{one:.0%}" for one in share["rounds"]),
        f"{share['us_per_request']:,.0f}",
    )


def side_by_side(documents: Sequence[Document]) -> Table:
    """Return a table of the CPU time of a request by category, for several setups."""
    spent = [_spent(document) for document in documents]
    known = [one.value for one in Category if any(one.value in of_one for of_one in spent)]
    rows = {name: [of_one.get(name, 0.0) for of_one in spent] for name in known}
    rows["all"] = [sum(of_one.values()) for of_one in spent]
    return Table(
        "side-by-side",
        "CPU time of a request, µs",
        ("", *(document["setup"] for document in documents)),
        tuple((Field(name), *(Field(f"{us:,.0f}") for us in each)) for name, each in rows.items()),
        numeric=frozenset(range(1, len(documents) + 1)),
    )


def _spent(document: Document) -> dict[str, float]:
    """Return the CPU time of a request by category in µs, over all roles."""
    spent: dict[str, float] = {}
    for share in (share for role in document["roles"] for share in role["shares"]):
        spent[share["category"]] = spent.get(share["category"], 0.0) + share["us_per_request"]
    return spent


def too_few(document: Document) -> str:
    """Return a message that explains what to do if there are too few samples, or else an empty string."""
    samples = sum(role["samples"] for role in document["roles"])
    if samples >= ENOUGH:
        return ""
    enough = f"{plural(samples, 'sample')} of CPU time; a profile needs at least {ENOUGH}"
    if not samples:
        return f"{enough}, but the process has no samples. Send more load, or profile a setup in Python"
    return f"{enough}: use --duration {math.ceil(1.2 * document['duration_s'] * ENOUGH / samples)}s"


def summary(document: Document) -> list[str]:
    """Return sentences about the cost of a request and the effect of the sampling, and the notes."""
    rates = sorted(document["rates"])
    total = sum(role["cpu_us_per_request"] for role in document["roles"])
    largest = sorted(_spent(document).items(), key=lambda item: -item[1])[:3]
    parts = ", ".join(f"{name} {us:,.0f} µs ({us / total:.0%})" for name, us in largest)
    low, high = f"{rates[0]:,.0f}", f"{rates[-1]:,.0f}"
    changed = document["disturbance"]
    return [
        f"{why}." if (why := too_few(document)) else f"A request costs {total:,.0f} µs of CPU time: {parts}.",
        f"Without sampling, the setup answered {low if low == high else f'{low} to {high}'} requests a second in "
        f"{plural(len(rates), 'round')}.",
        f"Sampling CPU time changed the requests per second by {changed['rate']:+.0%} and the CPU time per request by "
        f"{changed['cpu_per_request']:+.0%}.",
        *document["notes"],
    ]


def rst(document: Document) -> str:
    """Return the profile as a page in reStructuredText, for the documentation."""
    return re.sub(r"\n{3,}", "\n\n", "\n".join(map(printable, _lines(document)))).strip() + "\n"


def _lines(document: Document) -> Iterator[str]:
    load = f"at {document['rate']:g} requests a second" if document["rate"] else "at the highest rate that it answers"
    question = f"The CPU time of {document['label']} for requests to {document['path']}, {load}."
    yield from _heading(title(document), "=")
    yield from (rest.escape(question), "", f"Measured {rest.escape(document['created'])}.", "")
    yield from (f"* {rest.escape(sentence)}" for sentence in summary(document))
    for role in document["roles"]:
        shown = table(role)
        yield from ("", *_heading(shown.caption, "-"))
        names, samples = ", ".join(role["names"]), plural(role["samples"], "sample")
        yield f".. list-table:: {rest.escape(f'CPU time of {shown.name} ({names}): {samples}')}"
        yield from ("   :header-rows: 1", "   :stub-columns: 1", "")
        for row in (shown.columns, *(tuple(field.text for field in fields) for fields in shown.rows)):
            # An empty field must still be an item of the list.
            yield from (
                f"   {' ' if place else '*'} - {rest.escape(cell) or chr(92)}" for place, cell in enumerate(row)
            )
        yield from ("", rest.escape(COLUMNS_NOTE), "")
    yield from (".. code-block:: console", "", f"   $ {document['command']}")


def _heading(text: str, line: str) -> tuple[str, str, str]:
    escaped = rest.paragraph(text)
    return escaped, line * len(escaped), ""
