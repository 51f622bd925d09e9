"""The command line: parse, call, print. ``python -m loadtests --help`` lists the commands."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.markup import escape

from loadtests.errors import UserError

# What a command needs is imported when it runs: `--help` and a mistyped name should answer at once.

app = typer.Typer(
    name="python -m loadtests",
    help="Measures the ways of serving Django: WSGI and ASGI, server by server.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
out = Console(highlight=False)
err = Console(stderr=True, highlight=False)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
AllowRemote = Annotated[bool, typer.Option("--allow-remote", help="Send load to a host other than this machine.")]


def main() -> None:
    """The way in. One clear line for what the user can put right; tracebacks are for defects."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    try:
        app()
    except UserError as error:
        _fail(str(error))


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt


def _fail(message: str, code: int = 1) -> NoReturn:
    err.print(f"[bold red]error:[/] {escape(message)}", soft_wrap=True)
    sys.exit(code)


@app.command()
def run(
    study: Annotated[str, typer.Argument(help="A study's name (`list` shows them) or a TOML file.")] = "",
    output: Annotated[Path | None, typer.Option(help="The run folder to make.")] = None,
    seed: Annotated[int | None, typer.Option(help="The seed of the order of trials.")] = None,
    resume: Annotated[Path | None, typer.Option(help="Go on with this run folder instead.")] = None,
) -> None:
    """Run a study: every setup, every test, block after block, into a run folder with its report."""
    from loadtests import report
    from loadtests import run as runs
    from loadtests.progress import RunProgress

    execution = runs.prepare(study, output, seed, resume)
    out.print(escape(execution.headline), soft_wrap=True)
    try:
        with RunProgress(out, execution.seconds) as progress:
            valid = runs.execute(execution, progress)
    except KeyboardInterrupt:
        report.write(execution.run)
        _fail(f"interrupted; go on with: python -m loadtests run --resume {execution.run.path}", 130)
    report.write(execution.run)
    report.print_report(execution.run, out)
    if not valid:
        _fail("some trials are invalid; the report says which and why")


@app.command()
def load(
    url: Annotated[str, typer.Argument(help="Where to send requests, such as http://127.0.0.1:8000/")],
    rate: Annotated[
        float | None, typer.Option(help="Requests per second; without it, as many as are answered.")
    ] = None,
    connections: Annotated[int | None, typer.Option(help="Connections; 10 where no rate is given.")] = None,
    duration: Annotated[str, typer.Option(help="For how long: 10s, 2m.")] = "10s",
    timeout: Annotated[str, typer.Option(help="How long a request may take.")] = "10s",
    engine: Annotated[str, typer.Option(help="openloop or loadtest.")] = "openloop",
    processes: Annotated[int, typer.Option(help="Generator processes that share the rate.")] = 1,
    allow_remote: AllowRemote = False,
    as_json: AsJson = False,
) -> None:
    """Send load to a URL and print what came back."""
    from loadtests import load as loads

    wanted = loads.parse(url, rate, connections, duration, timeout, processes, allow_remote)
    result = loads.send(engine, wanted, err)
    out.print_json(json.dumps(result.summary())) if as_json else loads.print_result(result, out)


@app.command()
def check(
    setups: Annotated[list[str] | None, typer.Argument(help="Setups; all of them where none is named.")] = None,
) -> None:
    """Start each setup in turn and compare their answers."""
    from loadtests import check as checks

    if not checks.print_check(setups or [], out):
        _fail("the setups do not answer alike")


@app.command()
def serve(setup: Annotated[str, typer.Argument(help="A setup's name.")]) -> None:
    """Serve one setup until Ctrl-C."""
    from loadtests.serve import foreground

    foreground.serve(setup, out)


@app.command("list")
def list_(as_json: AsJson = False) -> None:
    """List the setups, the studies, the engines and the runs."""
    from loadtests import listing

    found = listing.everything()
    out.print_json(json.dumps(found)) if as_json else listing.print_everything(found, out)


@app.command()
def layers(as_json: AsJson = False) -> None:
    """Compare the channel layers: round trips between two processes, Redis, IPC and a bare Unix socket."""
    from loadtests import layers as benchmark

    measured = benchmark.measure()
    out.print_json(json.dumps(measured.to_dict())) if as_json else benchmark.print_table(measured, out)


@app.command()
def engines(as_json: AsJson = False) -> None:
    """Compare the load generators: their ceiling, and 6,000 requests a second, against a fast server."""
    from loadtests.engines import benchmark

    measured = benchmark.measure()
    out.print_json(json.dumps(benchmark.to_json(measured))) if as_json else benchmark.print_table(measured, out)


@app.command("report")
def report_(run: Annotated[Path, typer.Argument(help="A run folder.")]) -> None:
    """Write a run's report anew from its folder, and print it."""
    from loadtests import report
    from loadtests.store import Run

    folder = Run.open(run)
    report.write(folder)
    report.print_report(folder, out)


@app.command()
def doctor() -> None:
    """Say what will disturb a measurement on this machine, and how to put it right; changes nothing."""
    from loadtests.observe import doctor as doctors

    if not doctors.print_findings(doctors.examine(), out):
        _fail("nothing can be measured before this is put right")
