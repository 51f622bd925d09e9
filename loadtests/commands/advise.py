"""``advise``: a search for good knobs of a setup."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from typing import TYPE_CHECKING, Annotated

import typer

from loadtests.commands import completion
from loadtests.commands.console import fail, out, say
from loadtests.commands.options import Anyway, OutputFolder, given
from loadtests.commands.own_project import Own, with_own_project
from loadtests.commands.waiting import waiting
from loadtests.errors import UserError
from loadtests.formatting import plural
from loadtests.records.toml import duration

if TYPE_CHECKING:
    from loadtests.measure.advise import KnobSearch
    from loadtests.measure.run import Execution


@with_own_project
def command(
    context: typer.Context,
    setup: Annotated[
        str,
        typer.Argument(
            help="A setup's name; or a study that is a sweep, by its name or as a TOML file.",
            autocompletion=completion.setups_and_studies,
        ),
    ] = "gunicorn",
    path: Annotated[str, typer.Option(help="What is asked for; choose work like your own.")] = "/",
    rate: Annotated[float | None, typer.Option(help="Judge by p99 at this rate, instead of by throughput.")] = None,
    max_time: Annotated[str, typer.Option(help="How long it may take; the longer, the surer.")] = "10m",
    output: OutputFolder = None,
    seed: Annotated[int | None, typer.Option(help="The seed of the order of trials.")] = None,
    anyway: Anyway = False,
    *,
    own: Own,
) -> None:
    """Find good WORKERS and THREADS for a setup on this machine, or the best cell of a sweep, by halving the candidates
    round by round."""
    with waiting(out) as told:
        from loadtests import hosts, setups
        from loadtests.measure import advise
        from loadtests.measure.contention import TooBusy
        from loadtests.measure.prepare import RunOptions
        from loadtests.plan import study as studies

        if setup.endswith(".toml") or setup in studies.names():
            _require_of_study(context)
            search = advise.of_study(studies.load(setup), duration(max_time))
        else:
            [chosen] = setups.find([setup])
            cores = hosts.at("local").allot(os.environ.get("CORES")).servers
            search = advise.plan(chosen, len(cores), path, rate, duration(max_time))
        execution = dataclasses.replace(
            advise.prepare(search, RunOptions(output, seed, own=own), progress=told), anyway=anyway
        )
    say(_headline(search, execution))
    try:
        _carry_out(search, execution)
    except KeyboardInterrupt:
        fail(f"interrupted; what was measured is in {execution.run.path}", 130)
    except TooBusy as error:
        kept = f"what was measured is in {execution.run.path}"
        fail(f"{error}; search anew once that has changed, or regardless: --anyway; {kept}")
    _print_advice(execution)


def _require_of_study(context: typer.Context) -> None:
    """Raises UserError where an option says what the study says."""
    for name in given(context):
        if name in ("--path", "--rate"):
            raise UserError(f"a study says what is asked; {name} goes with a setup")


def _headline(search: KnobSearch, execution: Execution) -> str:
    """What is tried, how long it takes and where it goes."""
    knobs = [f"{knob} {', '.join(values)}" for knob, values in search.sweep.knobs.items()]
    where = os.path.relpath(execution.run.path)
    return (
        f"{search.study.title}: {'; '.join(knobs)}\n{plural(search.trials, 'trial')} at the most, about "
        f"{search.seconds / 60:.1f} minutes, into {where}"
    )


def _carry_out(search: KnobSearch, execution: Execution) -> None:
    """Runs the search with progress; its report is written however it ends."""
    from loadtests.commands.progress import RunProgress
    from loadtests.measure.advise import execute
    from loadtests.report import reports

    try:
        with RunProgress(out, search.trials, search.seconds) as progress:
            execute(search, execution, progress)
    finally:
        with contextlib.suppress(KeyboardInterrupt), waiting(out) as told:
            told("writing the report")
            reports.write(execution.run)


def _print_advice(execution: Execution) -> None:
    """Prints what was found, and last the line to paste."""
    from loadtests.report.sections import advice

    record = execution.run.record
    assert record.study.sweep is not None
    out.print()
    for sentence in advice.sentences(record, record.study.sweep):
        say(sentence)
    say(f"\n{advice.line(record)}")
