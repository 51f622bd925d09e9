"""Show the progress of a run: a line for each trial, and on a terminal a bar with the remaining time."""

from __future__ import annotations

import contextlib
import dataclasses
import shlex
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.text import Text

from loadtests.commands.console import data, fail, out, say_wrapped, waiting, warn
from loadtests.errors import UserError, called
from loadtests.formatting import plural
from loadtests.records import Result, Second, Trial

if TYPE_CHECKING:
    from loadtests.measure.run import Execution, RunOutcome
    from loadtests.records.run.folder import Run


BROKEN = "contract_broken"  # a reason in loadtests.analyse.reasons
FIRM_S = 30.0  # after this time, the actual pace counts more than the planned pace


class RunProgress:
    """Show the progress of a run.

    Args:
        console: The console for the lines and the bar.
        trials: The number of planned trials.
        seconds: The planned duration of the run in seconds.
        sends: The unit of a test's load, such as ``request`` or ``message``, by test.
        so_far: A function that returns a summary line after a block.
    """

    def __init__(
        self,
        console: Console,
        trials: int,
        seconds: float,
        sends: Mapping[str, str] | None = None,
        so_far: Callable[[int], str] | None = None,
    ) -> None:
        self.console = console
        self._trials = trials
        self._sends = sends or {}
        self._so_far = so_far
        self._doing = ""
        self._done = 0.0  # the planned seconds of completed steps
        self._takes = 0.0  # the planned seconds of the current step
        self._begun = 0.0
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._seconds = seconds
        if console.is_terminal:
            self._bar = Progress(
                BarColumn(bar_width=30),
                TextColumn("{task.percentage:3.0f}%"),
                TextColumn("{task.fields[left]}", markup=False),
                TextColumn("{task.description}", markup=False),
                console=console,
                transient=True,
            )

    def __enter__(self) -> RunProgress:
        self._begun = time.monotonic()
        if self._bar is not None:
            self._bar.start()
            self._task = self._bar.add_task("", total=self._seconds, left=self._left())
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
        if self._bar is not None and self._task is not None:
            done = min(self._done, self._seconds)
            self._bar.update(self._task, completed=done, description=what, left=self._left())

    def _left(self) -> str:
        """Return the time left at the current pace, such as 1:23, or an empty string after the planned time."""
        if self._done > self._seconds:
            return ""
        minutes, seconds = divmod(round(seconds_left(self._seconds, self._done, time.monotonic() - self._begun)), 60)
        return f"{minutes}:{seconds:02} left"

    def second(self, second: Second) -> None:
        """Show the answers in a second of load."""
        if self._bar is not None and self._task is not None:
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

    def block_ended(self, block: int) -> None:
        """Print a summary line after a completed block."""
        if self._so_far is not None:
            self._print(self._so_far(block))

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


def carry_out(execution: Execution, anyway: bool = False) -> tuple[RunOutcome, str]:
    """Run a study with progress output, and write its report even after an error.

    Args:
        execution: The prepared run.
        anyway: Whether to continue if other programs disturb several blocks in a row.

    Returns:
        The outcome, and the reason why the run ended early, or an empty string if it didn't.
    """
    from loadtests.measure.contention import TooBusy
    from loadtests.measure.run import execute, outcome
    from loadtests.report import reports, so_far

    resume = f"continue with: {called()} run --resume {execution.run.path}"
    say_wrapped(execution.headline)
    try:
        sends = {test.name: test.kind.load_unit for test in execution.study.tests}
        known = partial(so_far.line, execution.run)
        with RunProgress(out, len(execution.order), execution.seconds, sends, known) as progress:
            found = execute(dataclasses.replace(execution, anyway=anyway), progress)
    except TooBusy as error:
        write_report(execution)
        return outcome(execution), f"{error}; {resume}, or add --ignore-busy to continue now"
    except (KeyboardInterrupt, UserError) as error:
        interrupted = isinstance(error, KeyboardInterrupt)
        with contextlib.suppress(KeyboardInterrupt, UserError):  # on a full disk, writing the report fails, too
            write_report(execution)
            if interrupted and execution.run.trials():
                reports.print_report(execution.run, out)
        fail(f"{'interrupted' if interrupted else error}; {resume}", 130 if interrupted else 1)
    write_report(execution)
    return found, ""


def check_command(run: Run) -> str:
    """Return the command that shows how a setup broke the contract, or an empty string if no setup did."""
    from loadtests.commands.options import LOGIN, PROJECT, WEBSOCKETS

    broken = {trial.setup for trial in run.trials() if any(one.reason == BROKEN for one in trial.flags)}
    baseline = next(one.setup for one in run.record.study.entries if one.label == run.record.study.baseline)
    options = {f"--{name.replace('_', '-')}" for name in ("path", "workload", *PROJECT, *WEBSOCKETS, *LOGIN)}
    kept, words = [], iter(shlex.split(run.record.command))
    for word in words:
        if word.partition("=")[0] in options:
            kept += [word] if "=" in word else [word, next(words, "")]
    setups = [baseline, *sorted(broken - {baseline})]
    return f"{called()} check {shlex.join([*setups, *kept])}" if broken else ""


def conclude(found: RunOutcome, why: str, run: Run | None = None) -> None:
    """End a command with the outcome of its run: an error if figures are missing, a warning if some are unverified.

    Args:
        found: The outcome of the run's trials.
        why: The reason why the run ended early, or an empty string if it didn't.
        run: The run. If a setup broke its contract, the error contains a command that shows the difference.
    """
    from loadtests.measure.run import RunOutcome

    if found is RunOutcome.FAILED:
        check = check_command(run) if run else ""
        fail(why or f"a setup failed or has no results in a test. See {check or 'the report'}")
    if why or found is RunOutcome.UNVERIFIED:
        warn(why or "some results are unverified (in brackets). Stop other programs and measure again")


def write_report(execution: Execution) -> None:
    """Write the report of the trials so far."""
    from loadtests.report import reports

    with waiting(out) as announce:
        announce("writing the report")
        reports.write(execution.run)


@contextlib.contextmanager
def steps(console: Console) -> Iterator[Callable[[str, int, int], None]]:
    """On a terminal, show a progress bar for work in steps.

    Yield a function that updates the bar. Its arguments are the current step, the number of completed steps and the
    number of all steps.
    """
    if not console.is_terminal:
        yield lambda doing, done, total: None
        return
    columns = (
        BarColumn(bar_width=30),
        TimeRemainingColumn(compact=True),
        TextColumn("{task.description}", markup=False),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("")
        yield lambda doing, done, total: bar.update(task, completed=done, total=total, description=doing)


@contextlib.contextmanager
def seconds(console: Console, duration_s: float) -> Iterator[Callable[[Second], None]]:
    """On a terminal, show a progress bar for a load of this duration. Yield the function to call every second."""
    if not console.is_terminal:
        yield lambda second: None
        return
    columns = (BarColumn(bar_width=30), TextColumn("{task.percentage:3.0f}%"), TimeRemainingColumn(compact=True))
    with Progress(*columns, TextColumn("{task.description}", markup=False), console=console, transient=True) as bar:
        task = bar.add_task("", total=duration_s)
        yield lambda second: bar.update(task, advance=1, description=answered(second))


def seconds_left(planned_s: float, done_s: float, took_s: float) -> float:
    """Estimate the seconds until the end of a run.

    A slow start is not representative, so the pace combines the finished part with FIRM_S seconds at the planned pace.

    Args:
        planned_s: The planned seconds of the whole run.
        done_s: The planned seconds of the finished trials, including repeats.
        took_s: The actual seconds of the finished trials.
    """
    pace = (took_s + FIRM_S) / (done_s + FIRM_S)
    return max(0.0, planned_s - done_s) * pace
