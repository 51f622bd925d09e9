"""``run``: a study, into a run folder with its report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from loadtests.commands import completion
from loadtests.commands.console import fail, out
from loadtests.commands.options import AllowRemote, Anyway, Minutes, OutputFolder, Paths, Price, WorkloadFile, given
from loadtests.commands.own_journey import STUDY, OwnJourney, with_own_journey
from loadtests.commands.own_project import Own, with_own_websockets
from loadtests.commands.running import carry_out
from loadtests.commands.waiting import waiting
from loadtests.errors import UserError
from loadtests.formatting import series


@with_own_journey
@with_own_websockets
def command(
    context: typer.Context,
    study: Annotated[
        str,
        typer.Argument(help="A study's name (`list` shows them) or a TOML file.", autocompletion=completion.studies),
    ] = "",
    output: OutputFolder = None,
    seed: Annotated[int | None, typer.Option(help="The seed of the order of trials.")] = None,
    blocks: Annotated[int | None, typer.Option(help="How many blocks, instead of the study's number.")] = None,
    minutes: Minutes = None,
    setups: Annotated[
        str | None,
        typer.Option(
            help="Only these of the study: a,b. Where its baseline is not among them, the first is.",
            autocompletion=completion.setup_list,
        ),
    ] = None,
    rate: Annotated[
        float | None, typer.Option(help="The rate of all tests at a rate, instead of the study's: to compare two runs.")
    ] = None,
    injectors: Annotated[
        int | None, typer.Option(help="How many processes have the users of journeys, instead of the study's number.")
    ] = None,
    aa: Annotated[
        bool,
        typer.Option("--aa", help="Run the baseline twice, to see the noise; with one setup in --setups, only that."),
    ] = False,
    until: Annotated[str | None, typer.Option(help="Add blocks until no interval is wider than this: 2%.")] = None,
    max_time: Annotated[str | None, typer.Option(help="The longest that --until may take; by default 1h.")] = None,
    price: Price = None,
    quick: Annotated[bool, typer.Option("--quick", help="Short trials, one block or two: a first look.")] = False,
    path: Paths = None,
    workload: WorkloadFile = None,
    servers: Annotated[
        str | None,
        typer.Option(help="Where the servers run, a host that `hosts prepare` has prepared: ssh://user@host."),
    ] = None,
    clients: Annotated[
        str | None,
        typer.Option(help="Further machines that make the load beside this one, prepared likewise: ssh://a,ssh://b."),
    ] = None,
    services: Annotated[
        str | None,
        typer.Option(help="Services on machines of their own, prepared likewise: redis=ssh://user@host."),
    ] = None,
    hosts: Annotated[
        Path | None, typer.Option(help="A TOML file that names all of these machines, in place of the three options.")
    ] = None,
    allow_remote: AllowRemote = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be run, and start and write nothing.")
    ] = False,
    resume: Annotated[Path | None, typer.Option(help="Go on with this run folder instead.")] = None,
    anyway: Anyway = False,
    *,
    own: Own,
    walked: OwnJourney,
) -> None:
    """Run a study: every setup, every test, block after block, into a run folder with its report."""
    with waiting(out) as told:
        from loadtests.commands.dry_run import print_dry_run
        from loadtests.measure import prepare as preparing
        from loadtests.measure import study_options
        from loadtests.measure.bench import bench_for
        from loadtests.measure.dry_run import plan_run
        from loadtests.measure.host_options import HostOptions
        from loadtests.plan import request_options
        from loadtests.report import reports
        from loadtests.report.formats import noise_table

        if resume is not None:
            _require_alone(context)
            execution = preparing.resume(resume, progress=told)
        else:
            study = study or (STUDY if walked else study_options.default_study(own, aa))
            chosen = study_options.StudyOptions(
                study, blocks, minutes, until, setups, rate, injectors, aa, price, quick
            ).study()
            chosen = walked.in_study(chosen.with_requests(request_options.named(path or [], workload)))
            study_options.require_websocket_test(own, chosen)
            options = preparing.RunOptions(output, seed, study_options.goal_of(until, max_time), own)
            machines = HostOptions.of(servers, clients, services, hosts)
            bench_of = bench_for(machines, allow_remote, own is not None)
            if dry_run:
                expected = plan_run(chosen, options, bench_of)
            else:
                execution = preparing.prepare(chosen, options, bench_of, told)
    if dry_run:
        print_dry_run(expected)
        return
    valid = carry_out(execution, anyway)
    if study_options.against_itself(execution.study):
        if noise_table.print_noise(execution.run, out):
            fail("a difference was found where there is none")
        return
    reports.print_report(execution.run, out)
    if not valid:
        fail("a setup failed, or has no valid trial in some test; the report says which and why")


def _require_alone(context: typer.Context) -> None:
    """Raises UserError for anything that is given together with --resume."""
    others = [name for name in given(context) if name not in ("--resume", "--anyway")]
    if others:
        raise UserError(
            "--resume goes on with a run as it was begun: it takes no study and no option but --anyway; "
            f"leave out {series(others)}"
        )
