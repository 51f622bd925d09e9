"""Show the progress of a run: a line for each trial, and on a terminal a bar with the remaining time."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.text import Text

from loadtests.commands.console import data, fail, out, say_wrapped, waiting, warn
from loadtests.errors import UserError, called
from loadtests.formatting import plural
from loadtests.records import Result, Second, Trial

if TYPE_CHECKING:
    from loadtests.measure.run import Execution


class RunProgress:
    """Show the progress of a run.

    Args:
        console: The console for the lines and the bar.
        trials: The number of planned trials.
        seconds: The planned duration of the run in seconds.
        sends: The unit of a test's load, such as ``request`` or ``message``, by test.
    """

    def __init__(self, console: Console, trials: int, seconds: float, sends: Mapping[str, str] | None = None) -> None:
        self.console = console
        self._trials = trials
        self._sends = sends or {}
        self._doing = ""
        self._done = 0.0  # the planned seconds of completed steps
        self._takes = 0.0  # the planned seconds of the current step
        self._seconds = seconds
        self._bar = _bar(console) if console.is_terminal else None
        self._task = TaskID(0)

    def __enter__(self) -> RunProgress:
        if self._bar is not None:
            self._bar.start()
            self._task = self._bar.add_task("", total=self._seconds)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def doing(self, what: str, seconds: float) -> None:
        """Show the start of a step that takes about ``seconds`` seconds."""
        self._done += self._takes
        self._doing, self._takes = what, seconds
        if self._bar is not None:
            self._bar.update(self._task, completed=min(self._done, self._seconds), description=what)

    def second(self, second: Second) -> None:
        """Show the answers in a second of load."""
        if self._bar is not None:
            self._bar.update(self._task, description=f"{self._doing}: {answered(second)}")

    def ended(self, trial: Trial, again: bool) -> None:
        """Print a completed trial with its figures, its flags and the end of its log, if any."""
        what = f"{trial.number:>3}/{self._trials} {trial.label}, {trial.test}"
        if trial.valid and trial.capacity is not None:
            self._print(f"{what}: {trial.capacity.sentence}")
        elif trial.valid and trial.result is not None:
            self._print(f"{what}: {_figures(trial.result, self._sends.get(trial.test, 'request'))}")
        else:
            repeated = ", once more" if again else ""
            invalid = data("invalid", "bold red")
            self.console.print(Text.assemble(data(what), ": ", invalid, repeated), highlight=False, soft_wrap=True)
        for flag in trial.flags:
            self._print(f"      {flag.severity}: {flag.sentence}")
        if trial.log:
            for line in trial.log.splitlines():
                self._print(f"      | {line}")

    def _print(self, line: str) -> None:
        self.console.print(data(line), highlight=False, soft_wrap=True)


def answered(second: Second) -> str:
    """Describe the answers during one second, such as ``1,023/s, p50 3.1 ms``."""
    p50 = "" if second.p50_ms is None else f", p50 {second.p50_ms:.1f} ms"
    return f"{second.completed:,}/s{p50}"


def _figures(result: Result, sends: str) -> str:
    connections = result.connections
    parts = [f"{result.rate:,.0f} {sends}s/s"]
    if connections and not result.planned:  # a load of idle connections sends no requests
        parts = [f"{plural(connections.opened, 'connection')} held"]
    p50, p99 = result.response_time_ms["p50"], result.response_time_ms["p99"]
    if p50 is not None and p99 is not None:  # some engines don't measure percentiles
        parts += [f"p50 {p50:.1f} ms", f"p99 {p99:.1f} ms"]
    errors = sum(result.errors.values())
    if errors or result.unfinished:
        parts.append(f"{plural(errors, 'error')}, {result.unfinished:,} unfinished")
    if result.deliveries and result.deliveries.missing:
        expected = plural(result.deliveries.expected, "delivery", "deliveries")
        parts.append(f"{result.deliveries.missing:,} of {expected} missing")
    if connections and connections.refused + connections.lost:
        parts.append(f"{connections.refused:,} connections refused, {connections.lost:,} lost")
    return ", ".join(parts)


def carry_out(execution: Execution, anyway: bool = False) -> None:
    """Run a study with progress output, and write and print its report, even after an error.

    End the command with an error if figures are missing, or with status 3 if contention ended the run. Print a warning
    if some figures are unverified.

    Args:
        execution: The prepared run.
        anyway: Whether to continue if other programs disturb several blocks in a row.
    """
    from loadtests.analyse.outcome import RunOutcome, imprecision, outcome
    from loadtests.measure.contention import TooBusy
    from loadtests.measure.run import execute
    from loadtests.report import reports

    why = ""
    resume = f"continue with: {called()} run --resume {execution.run.path}"
    say_wrapped(execution.headline)
    try:
        sends = {test.name: test.kind.load_unit for test in execution.study.tests}
        with RunProgress(out, len(execution.order), execution.seconds, sends) as progress:
            execute(dataclasses.replace(execution, anyway=anyway), progress, imprecision)
    except TooBusy as error:
        why = f"{error}; {resume}, or add --ignore-busy to continue now"
    except (KeyboardInterrupt, UserError) as error:
        interrupted = isinstance(error, KeyboardInterrupt)
        with contextlib.suppress(KeyboardInterrupt, UserError):  # on a full disk, writing the report fails, too
            _write_report(execution)
            if interrupted and execution.run.trials():
                reports.print_report(execution.run, out)
        fail(f"{'interrupted' if interrupted else error}; {resume}", 130 if interrupted else 1)
    found = outcome(execution.run)
    _write_report(execution)
    reports.print_report(execution.run, out)
    if found is RunOutcome.FAILED:
        fail(why or "a setup failed or has no results in a test. See the report")
    if why or found is RunOutcome.UNVERIFIED:
        warn(why or "some results are unverified (in brackets). Stop other programs and measure again")
    if why:
        raise typer.Exit(3)  # trials are missing, because other programs used the cores


def _write_report(execution: Execution) -> None:
    """Write the report of the trials so far."""
    from loadtests.report import reports

    with waiting(out) as announce:
        announce("writing the report")
        reports.write(execution.run)


def _bar(console: Console) -> Progress:
    """Return a progress bar with the remaining time, for a terminal."""
    description = TextColumn("{task.description}", markup=False)
    return Progress(
        BarColumn(bar_width=30), TimeRemainingColumn(compact=True), description, console=console, transient=True
    )


@contextlib.contextmanager
def steps(console: Console) -> Iterator[Callable[[str, int, int], None]]:
    """On a terminal, show a progress bar for work in steps.

    Yield a function that updates the bar. Its arguments are the current step, the number of completed steps and the
    number of all steps.
    """
    if not console.is_terminal:
        yield lambda doing, done, total: None
        return
    with _bar(console) as bar:
        task = bar.add_task("")
        yield lambda doing, done, total: bar.update(task, completed=done, total=total, description=doing)


@contextlib.contextmanager
def seconds(console: Console, duration_s: float) -> Iterator[Callable[[Second], None]]:
    """On a terminal, show a progress bar for a load of this duration. Yield the function to call every second."""
    if not console.is_terminal:
        yield lambda second: None
        return
    with _bar(console) as bar:
        task = bar.add_task("", total=duration_s)
        yield lambda second: bar.update(task, advance=1, description=answered(second))
