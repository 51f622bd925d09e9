"""The command line: parse, call, print. ``python -m loadtests --help`` lists the commands."""

from __future__ import annotations

import contextlib
import json
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer
from rich.console import Console
from rich.markup import escape

from loadtests.application.project import Options
from loadtests.commands.own_project import with_own_project
from loadtests.errors import UserError

if TYPE_CHECKING:
    from loadtests.measure.run import Execution

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
Price = Annotated[float | None, typer.Option(help="The price of a core-hour, for the cost of a million requests.")]
Paths = Annotated[list[str] | None, typer.Option("--path", help="A path to ask for; may be repeated.")]
WorkloadFile = Annotated[Path | None, typer.Option(help="A workload file with the requests to send.")]
Own = Options | None  # see with_own_project
AllowRemote = Annotated[bool, typer.Option("--allow-remote", help="Send load to a host other than this machine.")]


def main() -> None:
    """The way in. One clear line for what the user can put right; tracebacks are for defects."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
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
@with_own_project
def run(
    study: Annotated[str, typer.Argument(help="A study's name (`list` shows them) or a TOML file.")] = "",
    output: Annotated[Path | None, typer.Option(help="The run folder to make.")] = None,
    seed: Annotated[int | None, typer.Option(help="The seed of the order of trials.")] = None,
    blocks: Annotated[int | None, typer.Option(help="Blocks, instead of the study's.")] = None,
    aa: Annotated[bool, typer.Option("--aa", help="Run the baseline under a second label, to see the noise.")] = False,
    until: Annotated[str | None, typer.Option(help="Add blocks until the widest interval is within it: 2%.")] = None,
    max_time: Annotated[str | None, typer.Option(help="The longest that --until may take; an hour.")] = None,
    price: Price = None,
    quick: Annotated[bool, typer.Option("--quick", help="Short trials, two blocks: a first look.")] = False,
    path: Paths = None,
    workload: WorkloadFile = None,
    resume: Annotated[Path | None, typer.Option(help="Go on with this run folder instead.")] = None,
    *,
    own: Own,
) -> None:
    """Run a study: every setup, every test, block after block, into a run folder with its report."""
    from loadtests import report
    from loadtests.measure import run as runs
    from loadtests.plan import requests as asked

    if resume:
        if study or output or seed or blocks or aa or until or max_time or price or quick or path or workload or own:
            raise UserError("--resume goes on with a run as it was begun: it takes no study and no other option")
        execution = runs.resume(resume)
    else:
        study = study or (runs.OWN_STUDY if own else "")
        wanted = runs.study_of(study, blocks, aa, price, quick).asking(asked.named(path or [], workload))
        execution = runs.prepare(wanted, output, seed, runs.goal_of(until, max_time), own)
    valid = _execute(execution)
    report.print_report(execution.run, out)
    if not valid:
        _fail("a setup failed, or has no valid trial in some test; the report says which and why")


@app.command()
def aa(
    setup: Annotated[str, typer.Argument(help="A setup's name.")],
    blocks: Annotated[int, typer.Option(help="How many blocks.", min=2)] = 10,
    duration: Annotated[str | None, typer.Option(help="How long each trial measures: 20s; as in first-look.")] = None,
    output: Annotated[Path | None, typer.Option(help="The run folder to make.")] = None,
) -> None:
    """Run a setup against itself: the noise of this machine, and how often a verdict is wrong."""
    from loadtests.measure import aa as same
    from loadtests.measure import run as runs

    execution = runs.prepare(same.study_of(setup, blocks, duration), output, None)
    _execute(execution)
    if not same.print_aa(execution.run, out):
        _fail("a difference was found where there is none")


def _execute(execution: Execution) -> bool:
    """Runs it with progress and writes its report, also when it is interrupted; returns whether all is valid."""
    from loadtests import report
    from loadtests.commands.progress import RunProgress
    from loadtests.measure import run as runs

    out.print(escape(execution.headline), soft_wrap=True)
    try:
        with RunProgress(out, execution.seconds) as progress:
            valid = runs.execute(execution, progress)
    except (KeyboardInterrupt, UserError) as error:
        how = f"{error}; " if isinstance(error, UserError) else "interrupted; "
        with contextlib.suppress(KeyboardInterrupt):
            report.write(execution.run)
        _fail(
            f"{how}go on with: python -m loadtests run --resume {execution.run.path}",
            1 if isinstance(error, UserError) else 130,
        )
    report.write(execution.run)
    return valid


@app.command()
@with_own_project
def advise(
    setup: Annotated[str, typer.Argument(help="A setup's name.")] = "gunicorn",
    path: Annotated[str, typer.Option(help="What is asked for: work like your own.")] = "/",
    rate: Annotated[float | None, typer.Option(help="Judge by p99 at this rate, instead of throughput.")] = None,
    max_time: Annotated[str, typer.Option(help="How long it may take; the longer, the surer.")] = "10m",
    output: Annotated[Path | None, typer.Option(help="The run folder to make.")] = None,
    seed: Annotated[int | None, typer.Option(help="The seed of the order of trials.")] = None,
    *,
    own: Own,
) -> None:
    """Find good WORKERS and THREADS for a setup on this machine, by halving the candidates round by round."""
    from loadtests.commands import advise as advices

    search = advices.plan(setup, path, rate, max_time)
    execution = advices.prepare(search, output, seed, own)
    out.print(escape(advices.headline(search, execution)), soft_wrap=True)
    try:
        advices.execute(search, execution, out)
    except KeyboardInterrupt:
        _fail(f"interrupted; what was measured is in {execution.run.path}", 130)
    advices.print_advice(execution, out)


@app.command()
def load(
    url: Annotated[str, typer.Argument(help="Where to send requests, such as http://127.0.0.1:8000/")],
    rate: Annotated[
        float | None, typer.Option(help="Requests per second; without it, as many as are answered.")
    ] = None,
    connections: Annotated[int | None, typer.Option(help="Connections; 10 where no rate is given.")] = None,
    method: Annotated[str, typer.Option(help="The method.")] = "GET",
    header: Annotated[list[str] | None, typer.Option(help="A header, 'Accept: text/html'; may be repeated.")] = None,
    body: Annotated[str | None, typer.Option(help="The body, or with @ the file that holds it.")] = None,
    workload: Annotated[Path | None, typer.Option(help="A workload file: what to ask instead, and how often.")] = None,
    speed: Annotated[float | None, typer.Option(help="Replay a recorded workload, so many times as fast.")] = None,
    duration: Annotated[str | None, typer.Option(help="For how long: 10s, 2m. 10s, or that of the replay.")] = None,
    timeout: Annotated[str, typer.Option(help="How long a request may take.")] = "10s",
    engine: Annotated[str, typer.Option(help="openloop or loadtest.")] = "openloop",
    processes: Annotated[int, typer.Option(help="Generator processes that share the rate.")] = 1,
    allow_remote: AllowRemote = False,
    as_json: AsJson = False,
) -> None:
    """Send load to a URL and print what came back."""
    from loadtests.measure import url as loads

    asked = loads.Asked(method.upper(), header or (), body, workload, speed)
    wanted = loads.parse(url, asked, rate, connections, duration, timeout, processes, allow_remote)
    result = loads.send(engine, wanted, err)
    out.print_json(json.dumps(result.summary())) if as_json else loads.print_result(result, out)


@app.command()
def workload(
    kind: Annotated[str, typer.Argument(help="har: a HAR file of a browser. log: an access log.")],
    file: Annotated[Path, typer.Argument(help="The recording.")],
    output: Annotated[Path | None, typer.Option(help="The workload file to write, instead of printing it.")] = None,
    times: Annotated[bool, typer.Option("--times", help="Keep when each request was sent, to replay it.")] = False,
    most: Annotated[int, typer.Option(help="Keep so many different requests, those sent most.", min=1, max=500)] = 100,
    host: Annotated[str | None, typer.Option(help="Of a HAR file: whose requests; those of the first one.")] = None,
    keep_cookies: Annotated[bool, typer.Option("--keep-cookies", help="Of a HAR file: keep credentials.")] = False,
    skip_unknown: Annotated[bool, typer.Option("--skip-unknown", help="Of a log: leave out other lines.")] = False,
) -> None:
    """Make a workload file of what was recorded by a browser or in an access log."""
    from loadtests.workload import convert

    found = convert.convert(kind, file, host, keep_cookies, skip_unknown, times, most)
    if output is None:
        out.print(convert.text(found, file), end="", markup=False, soft_wrap=True)
        return
    convert.write(found, file, output)
    for remark in found.remarks:
        out.print(escape(remark), soft_wrap=True)


@app.command()
def capacity(
    url: Annotated[str, typer.Argument(help="Where to send requests, such as http://127.0.0.1:8000/")],
    objective: Annotated[str, typer.Option(help="What must hold, such as 'p99<50ms, errors<0.1%'.")] = "p99<50ms",
    start_rate: Annotated[float, typer.Option(help="The first rate, in requests per second.")] = 100.0,
    max_rate: Annotated[float, typer.Option(help="The highest rate to try.")] = 100_000.0,
    probe: Annotated[str, typer.Option(help="How long a short probe takes.")] = "5s",
    confirm: Annotated[str, typer.Option(help="How long the confirming probe takes.")] = "30s",
    allow_remote: AllowRemote = False,
    as_json: AsJson = False,
) -> None:
    """Find the highest rate at which a URL answers within an objective."""
    from loadtests.measure import url as loads

    wanted = loads.search(url, objective, start_rate, max_rate, probe, confirm, allow_remote)
    found = loads.find_capacity(wanted, err)
    out.print_json(json.dumps(found.to_dict())) if as_json else loads.print_capacity(found, out)


@app.command()
@with_own_project
def check(
    setups: Annotated[list[str] | None, typer.Argument(help="Setups; all of them where none is named.")] = None,
    path: Paths = None,
    workload: WorkloadFile = None,
    *,
    own: Own,
) -> None:
    """Start each setup in turn and compare their answers."""
    from loadtests.measure import check as checks
    from loadtests.plan import requests as asked

    if not checks.print_check(setups or [], out, own, asked.named(path or [], workload)):
        _fail("the setups do not answer alike")


@app.command()
@with_own_project
def serve(setup: Annotated[str, typer.Argument(help="A setup's name.")], *, own: Own) -> None:
    """Serve one setup until Ctrl-C."""
    from loadtests.commands import serve as foreground

    foreground.serve(setup, out, own)


@app.command("list")
def list_(as_json: AsJson = False) -> None:
    """List the setups, the studies, the engines and the runs."""
    from loadtests.commands import list as listing

    found = listing.everything()
    out.print_json(json.dumps(found)) if as_json else listing.print_everything(found, out)


@app.command()
def layers(as_json: AsJson = False) -> None:
    """Compare the channel layers: round trips between two processes, Redis, IPC and a bare Unix socket."""
    from loadtests import layers as benchmark
    from loadtests.commands.progress import steps

    with steps(err) as progress:
        measured = benchmark.measure(progress=progress)
    out.print_json(json.dumps(measured.to_dict())) if as_json else benchmark.print_table(measured, out)


@app.command()
def engines(as_json: AsJson = False) -> None:
    """Compare the load generators: their ceiling, and 6,000 requests a second, against a fast server."""
    from loadtests.commands.progress import steps
    from loadtests.engines import benchmark

    with steps(err) as progress:
        measured = benchmark.measure(progress)
    out.print_json(json.dumps(benchmark.to_json(measured))) if as_json else benchmark.print_table(measured, out)


@app.command("report")
def report_(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    price: Price = None,
    show: Annotated[bool, typer.Option("--open", help="Open report.html in a browser (BROWSER names one).")] = False,
) -> None:
    """Write a run's report anew from its folder, and print it."""
    from loadtests import report
    from loadtests.measure.run import require_price
    from loadtests.report.formats import viewer
    from loadtests.store import Run

    folder = Run.open(run)
    require_price(price)
    report.write(folder, price)
    report.print_report(folder, out, price)
    if show:
        out.print(escape(viewer.show(folder.path / "report.html")), soft_wrap=True)


@app.command()
def simulate(
    output: Annotated[Path, typer.Option(help="The folder for the tables.")] = Path("docs/statistics"),
    repetitions: Annotated[int, typer.Option(help="Simulated studies a row.", min=10)] = 4000,
    seed: Annotated[int, typer.Option(help="The seed; the same one gives the same tables.")] = 2016,
) -> None:
    """Test the statistics on simulated data of known truth: how often are the verdicts false, or missed?"""
    from loadtests.simulate import benchmark

    benchmark.main(output, repetitions, seed, out.print)


@app.command()
@with_own_project
def profile(
    setup: Annotated[str, typer.Argument(help="A setup's name.")],
    path: Annotated[str, typer.Option(help="What to ask for.")] = "/",
    rate: Annotated[
        float | None, typer.Option(help="Requests per second; without it, as many as are answered.")
    ] = None,
    duration: Annotated[str, typer.Option(help="How long each load lasts; there are three a round.")] = "10s",
    rounds: Annotated[int, typer.Option(help="How many rounds; each starts the servers afresh.", min=1)] = 3,
    output: Annotated[Path | None, typer.Option(help="The folder to make.")] = None,
    *,
    own: Own,
) -> None:
    """Say where the servers' time goes: shares of their CPU time, threads that wait, flame graphs."""
    from loadtests.commands.progress import steps
    from loadtests.profile import command

    wanted = command.plan(setup, path, rate, duration, rounds, own)
    with steps(err) as progress:
        folder, content = command.profile(wanted, output, progress)
    command.print_profile(folder, content, out)


@app.command()
def doctor() -> None:
    """Say what will disturb a measurement on this machine, and how to put it right; changes nothing."""
    from loadtests.measure import doctor as doctors

    if not doctors.print_findings(doctors.examine(), out):
        _fail("nothing can be measured before this is put right")


@app.command()
def compare(
    run: Annotated[Path, typer.Argument(help="A run folder, or the name of one in results/.")],
    other: Annotated[Path | None, typer.Argument(help="The run to set against it.")] = None,
    setups: Annotated[str, typer.Option(help="Only these: a,b. Of one run: each against the first.")] = "",
    fail_if: Annotated[str, typer.Option(help="Fail on a verdict that is sure and that large: 'slower>5%'.")] = "",
    as_json: AsJson = False,
) -> None:
    """Compare the same setups of two runs, or the setups of one, and say what else differs."""
    from loadtests.analyse.compare import sides as comparison
    from loadtests.report.formats import comparison as comparison_terminal

    found = comparison.of(run, other, setups, fail_if)
    out.print_json(json.dumps(found.to_json())) if as_json else comparison_terminal.print_comparison(found, out)
    if found.failure:
        _fail(found.failure)


@app.command()
def history(
    study: Annotated[str, typer.Argument(help="A study's name, as `list` shows it beside its runs.")],
    output: Annotated[Path | None, typer.Option(help="The chart to write, without its ending.")] = None,
) -> None:
    """Draw a study's results over time on one machine, with changes that are more than noise marked."""
    from loadtests import paths
    from loadtests.analyse import history as histories
    from loadtests.report import history as history_output

    found = histories.of(study, paths.RESULTS)
    history_output.print_history(found, history_output.write(found, output), out)
