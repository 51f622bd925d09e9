"""What there is to say of a profile, and its two pages."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from loadtests.formatting import plural
from loadtests.profile.classify import Category
from loadtests.profile.flamegraph import COLOURS
from loadtests.profile.templates import environment
from loadtests.report.formats import rest
from loadtests.report.formats.templates import source as report_source
from loadtests.report.view import Field, Table

INTERVAL, ROUNDS = "95% interval", "of each round"
COLUMNS = ("", "CPU", INTERVAL, ROUNDS, "µs per request", "threads waiting")
COLUMNS_NOTE = (
    "CPU: share of the role's CPU time. The interval is that of independent samples; samples that follow each other "
    "are alike, and a restart moves things, so look at the rounds as well: each is a start of its own. µs per request: "
    "that share of the CPU time of a request without sampling. Threads waiting: how many of the role's threads were "
    "there on average without using the CPU."
)


@dataclasses.dataclass(frozen=True)
class CategoryRow:
    """A category of a role."""

    cells: tuple[str, ...]
    colour: str


@dataclasses.dataclass(frozen=True)
class Drawing:
    """A flame graph: ``name`` is its file's without the ending."""

    name: str
    caption: str
    alt: str
    svg: str
    target: str = "#"


@dataclasses.dataclass(frozen=True)
class RoleView:
    """A role: its table and its drawings."""

    name: str
    heading: str
    caption: str
    rows: list[CategoryRow]
    drawings: list[Drawing]
    speedscope: str

    def table(self, columns: tuple[str, ...]) -> Table:
        """The table as a terminal prints it; where it is narrow, the rounds go first, then the interval."""
        return Table(
            self.name,
            self.heading,
            columns,
            tuple(tuple(map(Field, row.cells)) for row in self.rows),
            numeric=frozenset(range(1, len(columns))),
            optional=(columns.index(ROUNDS), columns.index(INTERVAL)),
        )


@dataclasses.dataclass(frozen=True)
class ProfilePage:
    """What there is to say, in order."""

    title: str
    question: str
    created: str
    command: str
    summary: list[str]
    roles: list[RoleView]
    how: list[str]
    meanings: list[tuple[str, str]]
    columns: tuple[str, ...] = COLUMNS
    columns_note: str = COLUMNS_NOTE


def page(document: dict[str, Any], drawings: dict[str, list[Drawing]]) -> ProfilePage:
    """The content. ``drawings`` are by role."""
    shown = {share["category"] for role in document["roles"] for share in role["shares"]}
    return ProfilePage(
        title=f"Where the time goes: {document['label']}, {document['path']}",
        question=_question(document),
        created=document["created"],
        command=document["command"],
        summary=[*_summary(document), *document["notes"]],
        roles=[_role(role, drawings.get(role["role"], [])) for role in document["roles"]],
        how=_how(document),
        meanings=[(kind.value, f"{kind.meaning}.") for kind in Category if kind.value in shown],
    )


def html(content: ProfilePage) -> str:
    """One file that needs no network."""
    return environment().get_template("index.html.j2").render(page=content, css=report_source("report.css"))


def rst(content: ProfilePage) -> str:
    """The page that the documentation includes; its drawings are files beside it."""
    templates = environment()
    templates.filters.update(rst=rest.escape, cell=_cell)
    templates.globals["heading"] = _heading
    text = templates.get_template("index.rst.j2").render(page=content)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def _cell(text: str) -> str:
    return rest.escape(text) or "\\"  # an empty field must still be a list item


def _heading(text: str, line: str) -> str:
    title = rest.paragraph(text)
    return f"{title}\n{line * len(title)}"


def _question(document: dict[str, Any]) -> str:
    load = f"{document['rate']:g} requests a second" if document["rate"] else "as much load as it answers"
    return f"What {document['label']} does with its CPU time while it answers {document['path']}, under {load}."


def _summary(document: dict[str, Any]) -> list[str]:
    free = [window for window in document["windows"] if window["kind"] == "undisturbed"]
    rates = sorted(window["rate"] for window in free)
    total = sum(role["cpu_us_per_request"] for role in document["roles"])
    spent: dict[str, float] = {}
    for role in document["roles"]:
        for share in role["shares"]:
            spent[share["category"]] = spent.get(share["category"], 0.0) + share["us_per_request"]
    largest = sorted(spent.items(), key=lambda item: -item[1])[:3]
    sampled, watched = document["disturbance"]["sampled"], document["disturbance"]["watched"]
    return [
        f"A request costs {total:,.0f} µs of CPU time: "
        + ", ".join(f"{name} {us:,.0f} µs ({us / total:.0%})" for name, us in largest)
        + ".",
        f"Without sampling it answered {_range(rates)} requests a second in {plural(len(rates), 'round')}.",
        f"Sampling CPU time changed the requests per second by {sampled['rate']:+.0%} and the CPU time per request by "
        f"{sampled['cpu_per_request']:+.0%}; with py-spy as well, by {watched['rate']:+.0%} and "
        f"{watched['cpu_per_request']:+.0%}.",
    ]


def _range(values: list[float]) -> str:
    low, high = f"{values[0]:,.0f}", f"{values[-1]:,.0f}"
    return low if low == high else f"{low} to {high}"


def _role(role: dict[str, Any], drawings: list[Drawing]) -> RoleView:
    rows = []
    for share in sorted(role["shares"], key=lambda one: -one["share"]):
        rounds = sorted(share["rounds"])
        rows.append(
            CategoryRow(
                (
                    share["category"],
                    f"{share['share']:.1%}",
                    f"{share['low']:.1%} to {share['high']:.1%}",
                    " ".join(f"{one:.0%}" for one in share["rounds"]) if rounds else "",
                    f"{share['us_per_request']:,.0f}",
                    "" if share["waiting"] is None else f"{share['waiting']:.2f}",
                ),
                COLOURS[Category(share["category"])],
            )
        )
    total = f"{role['cpu_us_per_request']:,.0f} µs of CPU time per request"
    return RoleView(
        name=role["role"],
        heading=f"{role['role']}: {total}",
        caption=f"CPU time of {role['role']} ({', '.join(role['names'])}): {plural(role['samples'], 'sample')}",
        rows=rows,
        drawings=drawings,
        speedscope=f"{role['role']}.speedscope.json",
    )


def _how(document: dict[str, Any]) -> list[str]:
    rounds = max(window["round"] for window in document["windows"])
    samplers, cores, versions = document["samplers"], document["cores"], document["versions"]
    expected = sum(role["expected"] for role in document["roles"])
    return [
        f"{plural(rounds, 'round')}. Each started the servers twice: once for {document['duration_s']:g} s of load "
        f"without sampling, once for {document['duration_s']:g} s with samples of CPU time and as much again with "
        "py-spy looking on.",
        f"CPU time: every {samplers['cpu_interval_s'] * 1000:g} ms of a process's CPU time the kernel interrupts the "
        "thread that is using it, which writes down its own stack. A sample counts for the innermost function that has "
        f"a category. The kernel's count of CPU time makes {expected:,.0f} samples expected; those that are missing "
        f"had no stack of Python's: {Category.NATIVE.value}. {document['broken_samples']} could not be read.",
        f"Waiting: py-spy {samplers['pyspy']} looked at all threads {samplers['pyspy_rate']} times a second, from core "
        f"{cores['generator'][0]}, which is the load generator's. {document['pyspy_errors']} looks failed.",
        f"Servers ran on the cores {', '.join(map(str, cores['servers']))} of {document['machine']['cpu']}, with "
        f"{versions['python']} and Django {versions['packages'].get('Django', 'of unknown version')}.",
    ]
