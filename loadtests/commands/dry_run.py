"""``run --dry-run``: show the plan of a run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.text import Text

from loadtests import setups
from loadtests.commands.console import fail, out, say
from loadtests.files import from_here
from loadtests.formatting import plural
from loadtests.plan.schedule import planned_seconds
from loadtests.plan.sweep import environment
from loadtests.report.terminal_tables import grid, print_grid

if TYPE_CHECKING:
    from loadtests.measure.prepare import DryRun


def print_dry_run(found: DryRun) -> None:
    """Print the plan. Exit with status 1 if the run could not start."""
    where = from_here(found.folder)
    trials = f"{plural(len(found.order), 'trial')} in {plural(len({slot.block for slot in found.order}), 'block')}"
    out.print(Text(found.study.title, style="bold"))
    say(f"{trials}, about {planned_seconds(found.study, found.order) / 60:.1f} minutes, into {where}")
    out.print()
    _print_setups(found)
    out.print()
    _print_tests(found)
    out.print()
    table = grid(("", ""), whole=(0,))
    for name, text in _rest(found):
        table.add_row(Text(name, style="dim"), Text(text))
    print_grid(out, table)
    out.print()
    say("Nothing was started or written.")
    if found.problem is not None:
        fail(f"the run could not start: {found.problem}")


def _print_setups(found: DryRun) -> None:
    table = grid(("setup", "served as", "with", "tests"), whole=(0,))
    for entry in found.study.entries:
        tests = dict.fromkeys(slot.test for slot in found.order if slot.label == entry.label)
        baseline = ", the baseline" if entry.label == found.study.baseline else ""
        fields = (f"{found.bench.setup_of(entry).label}{baseline}", environment(entry.env), ", ".join(tests))
        table.add_row(Text(entry.label), *map(Text, fields))
    print_grid(out, table)


def _print_tests(found: DryRun) -> None:
    table = grid(("test", "what is sent", "engine", "trials", "s each"), right=(3, 4), whole=(0,))
    for test in found.study.tests:
        trials = sum(slot.test == test.name for slot in found.order)
        table.add_row(*map(Text, (test.name, test.description, test.engine, str(trials), f"{test.planned_s:.1f}")))
    print_grid(out, table)


def _rest(found: DryRun) -> Iterator[tuple[str, str]]:
    for one in found.left_out:
        yield "left out", f"{one.label}{f', {one.test}' if one.test else ''}: {one.why}"
    yield "knobs", f"{environment(setups.given()) or 'none set'}; defaults are in supervisor/defaults.sh"
    for remark in found.remarks:
        yield "note", remark
