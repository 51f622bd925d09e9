"""``run --dry-run``: show the plan of a run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.text import Text

from loadtests.commands.console import fail, out, say
from loadtests.files import from_here
from loadtests.formatting import plural
from loadtests.plan.sweep import environment
from loadtests.report.terminal_tables import grid, print_grid

if TYPE_CHECKING:
    from loadtests.measure.prepare import DryRun


def print_dry_run(found: DryRun) -> None:
    """Print the plan. Exit with status 1 if the run could not start."""
    where = from_here(found.folder)
    trials = f"{plural(len(found.order), 'trial')} in {plural(found.blocks, 'block')}"
    out.print(Text(found.study.title, style="bold"))
    say(f"{trials}, about {found.seconds / 60:.1f} minutes, into {where}")
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
    yield "order", "each block runs test by test with shuffled setups, and every second block reverses the block before"
    seed = found.options.seed
    yield "seed", "chosen at the start of the run, unless you set --seed" if seed is None else _first_block(found)
    if (goal := found.options.goal) is not None:
        until, minutes = f"±{goal.until * 100:g}%", f"{goal.max_time_s / 60:g} minutes"
        yield "until", f"the run adds blocks until every interval is within {until}, for up to {minutes}"
    yield "knobs", f"{environment(found.knobs) or 'none set'}; defaults are in supervisor/defaults.sh"
    cores = found.bench.cores
    servers, generator = (",".join(map(str, numbers)) for numbers in (cores.servers, cores.generator))
    there, here = (" (on the host)", " (on this machine)") if cores.machines > 1 else ("", "")
    yield "cores", f"{servers} for the servers{there}, {generator} for the load generator{here}"
    for remark in found.remarks:
        yield "note", remark


def _first_block(found: DryRun) -> str:
    order = {test.name: [slot.label for slot in found.order if slot.test == test.name] for test in found.study.tests}
    first = "; ".join(f"{test}: {', '.join(dict.fromkeys(labels))}" for test, labels in order.items())
    return f"{found.options.seed}. The first block: {first}"
