"""``advise``: search for good values of a setup's knobs."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import TYPE_CHECKING, Annotated

import typer

from loadtests.commands import completion
from loadtests.commands.console import fail, look_first, out, say, waiting
from loadtests.commands.options import Anyway, OutputFolder, Own, Seed, given, with_own_project
from loadtests.errors import UserError
from loadtests.files import from_here
from loadtests.formatting import plural
from loadtests.records.decode import duration

if TYPE_CHECKING:
    from loadtests.measure.advise import KnobSearch
    from loadtests.measure.run import Execution


@with_own_project
def command(
    context: typer.Context,
    setup: Annotated[
        str,
        typer.Argument(
            help="Name of a setup, or the name or TOML file of a sweep.",
            autocompletion=completion.setups_and_studies,
        ),
    ] = "gunicorn",
    path: Annotated[str, typer.Option(help="Path to request. Choose a page as expensive as your own pages.")] = "/",
    rate: Annotated[float | None, typer.Option(help="Compare the p99 at this rate instead of the throughput.")] = None,
    max_time: Annotated[str, typer.Option(help="Time limit. A longer search is more certain.")] = "10m",
    output: OutputFolder = None,
    seed: Seed = None,
    anyway: Anyway = False,
    *,
    own: Own,
) -> None:
    """Search for good values of WORKERS and THREADS for a setup.

    If you name a sweep, search for its best combination of values. Each round keeps the better half of the candidates.
    """
    with waiting(out):
        from loadtests.commands.progress import RunProgress, conclude, write_report
        from loadtests.measure import advise
        from loadtests.measure.contention import TooBusy
        from loadtests.measure.prepare import RunOptions, require
        from loadtests.measure.run import RunOutcome, outcome
        from loadtests.plan import study as studies
        from loadtests.report import reports

        if setup.endswith(".toml") or setup in studies.names():
            _require_no_setup_options(context)
            search = advise.of_study(studies.load(setup), duration(max_time))
        else:
            search = advise.of_setup(setup, path, rate, duration(max_time))
        options = RunOptions(output, seed, own=own)
        require(search.study, options)
    look_first(out, anyway)
    with waiting(out) as announce:
        execution = advise.prepare(search, options, progress=announce)
        execution = dataclasses.replace(execution, anyway=anyway)
    say(_headline(search, execution))
    found, why = RunOutcome.VALID, ""
    try:
        try:
            with RunProgress(out, search.trials, search.seconds) as progress:
                advise.execute(search, execution, progress)
        finally:
            with contextlib.suppress(KeyboardInterrupt):
                write_report(execution)
    except KeyboardInterrupt:
        fail(f"interrupted. The measurements are in {execution.run.path}", 130)
    except (TooBusy, advise.NoAdvice) as error:
        again = "; try again later, or add --ignore-busy" if isinstance(error, TooBusy) else ""
        found, why = outcome(execution), f"{error}{again}"
        reports.print_report(execution.run, out)
    else:
        _print_advice(execution)
    conclude(found, why)


def _require_no_setup_options(context: typer.Context) -> None:
    """Refuse options that only work with a setup, because the study defines their values.

    Raises:
        UserError: If the command line contains such an option.
    """
    for name in given(context):
        if name in ("--path", "--rate"):
            raise UserError(f"{name} can't be used with a study, which defines its own requests. Leave out {name}")


def _headline(search: KnobSearch, execution: Execution) -> str:
    """Describe the search: its candidates, its maximum number of trials, its duration and its folder."""
    knobs = [f"{knob} {', '.join(values)}" for knob, values in search.sweep.knobs.items()]
    where = from_here(execution.run.path)
    return (
        f"{search.study.title}: {'; '.join(knobs)}\nat most {plural(search.trials, 'trial')}, about "
        f"{search.seconds / 60:.1f} minutes, into {where}"
    )


def _print_advice(execution: Execution) -> None:
    """Print the advice. The last line can be pasted into a shell."""
    from loadtests.report.sections import advice

    record = execution.run.record
    assert record.study.sweep is not None
    out.print()
    for sentence in advice.sentences(record, record.study.sweep):
        say(sentence)
    say(f"\n{advice.line(record)}")
