"""The command: ``python -m loadtests advise SETUP``."""

from __future__ import annotations

import contextlib
import os

from rich.console import Console
from rich.markup import escape

from loadtests import report, setups
from loadtests.commands.progress import RunProgress
from loadtests.measure import advise as searches
from loadtests.measure.advise import Search, prepare
from loadtests.measure.run import Execution
from loadtests.observe import cores
from loadtests.report.sections import advice as searched
from loadtests.toml import duration

__all__ = ["Search", "execute", "headline", "plan", "prepare", "print_advice"]


def plan(name: str, path: str, rate: float | None, max_time: str) -> Search:
    """The search that a person asked for. Raises UserError for what makes no sense."""
    [setup] = setups.find([name])
    servers = cores.allot(os.environ.get("CORES")).servers
    return searches.plan(setup, len(servers), path, rate, duration(max_time))


def headline(search: Search, execution: Execution) -> str:
    """What is tried, how long it takes and where it goes."""
    cells = [f"{knob} {', '.join(values)}" for knob, values in search.sweep.knobs.items()]
    where = os.path.relpath(execution.run.path)
    return (
        f"{search.study.title}: {'; '.join(cells)}\n{search.trials} trials at the most, about "
        f"{search.seconds / 60:.1f} minutes, into {where}"
    )


def execute(search: Search, execution: Execution, console: Console) -> None:
    """Runs the search with progress; its report is written however it ends. Raises UserError, KeyboardInterrupt."""
    try:
        with RunProgress(console, search.seconds) as progress:
            searches.execute(search, execution, progress)
    finally:
        with contextlib.suppress(KeyboardInterrupt):
            report.write(execution.run)


def print_advice(execution: Execution, console: Console) -> None:
    """Prints what was found, and last the line to paste."""
    about = execution.run.about
    assert execution.study.sweep is not None
    console.print()
    for sentence in searched.sentences(about, execution.study.sweep):
        console.print(escape(sentence), soft_wrap=True)
    console.print(f"\n{escape(searched.line(about))}", soft_wrap=True)
