"""``run``: run a study, and write its folder and report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from loadtests.commands.console import look_first, out, waiting
from loadtests.commands.options import (
    LENGTH,
    MACHINES,
    AllowRemote,
    Anyway,
    Journey,
    OutputFolder,
    Own,
    Paths,
    Seed,
    Variants,
    Workers,
    WorkloadFile,
    given,
    with_expected_workers,
    with_own_journey,
    with_own_websockets,
)
from loadtests.errors import UserError
from loadtests.formatting import series


@with_expected_workers
@with_own_journey
@with_own_websockets
def command(
    context: typer.Context,
    study: Annotated[
        str,
        typer.Argument(help="Name of a study (see `list`), or a TOML file. Optional with --app."),
    ] = "",
    output: OutputFolder = None,
    seed: Seed = None,
    blocks: Annotated[
        int | None, typer.Option(help="Number of blocks, instead of the study's number.", rich_help_panel=LENGTH)
    ] = None,
    setups: Annotated[
        str | None,
        typer.Option(
            help="Measure only these setups: a,b. The first is the baseline, unless the study's baseline is included.",
        ),
    ] = None,
    rate: Annotated[
        float | None, typer.Option(help="Requests per second of every fixed-rate test, instead of the study's rates.")
    ] = None,
    aa: Annotated[
        bool,
        typer.Option(
            "--duplicate-baseline",
            help="Measure the baseline a second time, under another name, to show the noise.",
            rich_help_panel=LENGTH,
        ),
    ] = False,
    until: Annotated[
        str | None,
        typer.Option(
            "--precision", help="Add blocks until all ratios have this precision, such as 2%.", rich_help_panel=LENGTH
        ),
    ] = None,
    max_time: Annotated[
        str | None,
        typer.Option(help="Stop adding blocks for --precision after this time; 1h by default.", rich_help_panel=LENGTH),
    ] = None,
    variant: Variants = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Run short trials in one or two blocks, as a check.", rich_help_panel=LENGTH)
    ] = False,
    path: Paths = None,
    workload: WorkloadFile = None,
    servers: Annotated[
        str | None,
        typer.Option(
            help="Host of the servers, prepared by `hosts prepare`: ssh://user@host.", rich_help_panel=MACHINES
        ),
    ] = None,
    clients: Annotated[
        str | None,
        typer.Option(
            help="Other hosts that generate load, prepared by `hosts prepare`: ssh://a,ssh://b.",
            rich_help_panel=MACHINES,
        ),
    ] = None,
    hosts: Annotated[
        Path | None,
        typer.Option(help="TOML file with all hosts. It replaces --servers and --clients.", rich_help_panel=MACHINES),
    ] = None,
    allow_remote: AllowRemote = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the plan; don't start or write anything.")] = False,
    resume: Annotated[Path | None, typer.Option(help="Continue the run in this folder.")] = None,
    anyway: Anyway = False,
    *,
    own: Own,
    users: Journey,
    workers: Workers,
) -> None:
    """Run a study: measure every setup in every test, repeated in blocks.

    Creates a run folder with its report, and prints a summary.
    """
    with waiting(out):
        from loadtests.commands.dry_run import print_dry_run
        from loadtests.commands.progress import carry_out
        from loadtests.measure import prepare as preparing
        from loadtests.measure import study_options
        from loadtests.measure.bench import bench_for
        from loadtests.measure.host_options import HostOptions
        from loadtests.plan.kinds import requests
        from loadtests.records.run.folder import Run

        if resume is not None:
            _require_alone(context)
            Run.open(resume)  # report a wrong folder before asking whether to continue
        else:
            name = study or study_options.default_study(own, users, aa)
            chosen = study_options.StudyOptions(name, blocks, setups, rate, aa, quick, tuple(variant or ())).study()
            chosen = chosen.with_requests(requests.named(path or [], workload))
            chosen = users.in_study(chosen) if users else chosen
            study_options.require_websocket_test(own, chosen)
            options = preparing.RunOptions(output, seed, study_options.goal_of(until, max_time), own)
            machines = HostOptions.of(servers, clients, hosts, workers)
            study_options.require_environments(own, chosen, machines.servers)
            bench_of = bench_for(machines, allow_remote, own is not None)
            if dry_run:
                expected = preparing.plan_run(chosen, options, bench_of)
            else:
                preparing.require(chosen, options)
    if dry_run:
        print_dry_run(expected)
        return
    look_first(out, anyway)
    with waiting(out) as announce:
        if resume is None:
            execution = preparing.prepare(chosen, options, bench_of, announce)
        else:
            execution = preparing.resume(resume, progress=announce)
    carry_out(execution, anyway)


def _require_alone(context: typer.Context) -> None:
    """Refuse options and arguments that can't be combined with --resume.

    Raises:
        UserError: If the command line contains such an option or argument.
    """
    others = [name for name in given(context) if name not in ("--resume", "--ignore-busy")]
    if others:
        raise UserError(
            "--resume continues a run without changes and can only be combined with --ignore-busy. Leave out "
            f"{series(others)}"
        )
