"""How a run goes, for the person who waits: a bar with the time left in a terminal, a line a trial elsewhere."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.text import Text

from loadtests.commands.console import data
from loadtests.formatting import plural
from loadtests.measure.speed_factor import seconds_left
from loadtests.records import Connections, Result, Second, Trial


class RunProgress:
    """A watcher of a run, and a context manager. Takes how many trials it has, about how many seconds they
    take, and what its tests send, where that is not requests."""

    def __init__(self, console: Console, trials: int, seconds: float, sends: Mapping[str, str] | None = None) -> None:
        self.console = console
        self._trials = trials
        self._sends = sends or {}
        self._doing = ""
        self._done = 0.0  # seconds of what was planned
        self._takes = 0.0  # what is done now
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
        """Something begins that takes about so many seconds."""
        self._done += self._takes
        self._doing, self._takes = what, seconds
        if self._bar is not None and self._task is not None:
            done = min(self._done, self._seconds)
            self._bar.update(self._task, completed=done, description=what, left=self._left())

    def _left(self) -> str:
        """The time left at the pace so far, as a clock shows it; empty where more is done than was planned."""
        if self._done > self._seconds:
            return ""
        minutes, seconds = divmod(round(seconds_left(self._seconds, self._done, time.monotonic() - self._begun)), 60)
        return f"{minutes}:{seconds:02} left"

    def second(self, second: Second) -> None:
        """A second of load went by."""
        if self._bar is not None and self._task is not None:
            answered = f"{second.completed:,}/s"
            self._bar.update(self._task, description=f"{self._doing}: {answered}")

    def ended(self, trial: Trial, again: bool) -> None:
        """A trial was written."""
        what = f"{trial.number:>3}/{self._trials} {trial.label}, {trial.test}"
        if trial.valid and trial.result is not None:
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


def _figures(result: Result, sends: str) -> str:
    held = result.connections
    parts = [f"{result.rate:,.0f} {sends}s/s"] if result.planned or not held else [_of_held(held)]
    p50, p99 = result.response_time_ms["p50"], result.response_time_ms["p99"]
    if p50 is not None and p99 is not None:  # an engine may not know them
        parts += [f"p50 {p50:.1f} ms", f"p99 {p99:.1f} ms"]
    errors = sum(result.errors.values())
    if errors or result.unfinished:
        parts.append(f"{plural(errors, 'error')}, {result.unfinished:,} unfinished")
    if result.deliveries and result.deliveries.missing:
        expected = plural(result.deliveries.expected, "delivery", "deliveries")
        parts.append(f"{result.deliveries.missing:,} of {expected} missing")
    if held and held.refused + held.lost:
        parts.append(f"{held.refused:,} connections refused, {held.lost:,} lost")
    return ", ".join(parts)


def _of_held(held: Connections) -> str:
    """What became of connections over which nothing was sent."""
    found = held.rejoined
    if found is None:
        return f"{plural(held.opened, 'connection')} held"
    within = "" if found.all_back_s is None else f" after {found.all_back_s:.1f} s"
    return f"{found.back:,} of {plural(found.lost, 'connection')} back{within}"


@contextlib.contextmanager
def steps(console: Console) -> Iterator[Callable[[str, int, int], None]]:
    """Progress of something in steps: a function to be told what is done now, how many steps are done, and of how many.

    A bar with the time left in a terminal; elsewhere nothing, for nobody waits there.
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
    """Progress of one load of ``duration_s`` seconds: a function to be told of each second. Shown as ``steps`` is."""
    if not console.is_terminal:
        yield lambda second: None
        return
    columns = (BarColumn(bar_width=30), TextColumn("{task.percentage:3.0f}%"), TimeRemainingColumn(compact=True))
    with Progress(*columns, TextColumn("{task.description}", markup=False), console=console, transient=True) as bar:
        task = bar.add_task("", total=duration_s)
        yield lambda second: bar.update(task, advance=1, description=f"{second.completed:,} requests/s")
