"""What Locust prints at the end of a journey that it runs by itself, alone or with workers: our exact table.

Locust's own statistics round times and count from the actual send. Here each process with users has a Recorder. A
worker says with each of Locust's reports, which have numbers, how many requests it has planned, and sends its counts
and histograms when the test ends; the master adds them up. Where a report or the end of one is missing the table says
so, and the exit code is 1."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import gevent
import locust
from locust.env import Environment
from locust.runners import MasterRunner, WorkerRunner

from loadtests.formatting import plural, printable
from loadtests.journeys.injector.recorder import Recorder
from loadtests.journeys.steps import Observer
from loadtests.records.histogram import Histogram

ENDED_WITHIN_S = 10.0  # that a worker has to send its counts, once the test is over
LOOK_EVERY_S = 0.05
COUNTS, END = "journeys-counts", "journeys-end"  # messages of a worker and of the master
PERCENTILES = (50.0, 90.0, 95.0, 99.0)

Part = dict[str, Any]
events: Any = locust.events  # not typed there
_WRONG = 1  # exit code


class Counting:
    """Counts in a process with users, of Locust alone or of a worker, and tells the master if there is one."""

    def __init__(self, runner: Any, kind: type[Any]) -> None:
        self._runner, self._kind = runner, kind
        self._recorder: Recorder | None = None
        self._reports = 0
        events.test_start.add_listener(self._begin)
        events.test_stop.add_listener(self._end)
        if isinstance(self._runner, WorkerRunner):
            events.report_to_master.add_listener(self._report)
            self._runner.register_message(END, self._end)

    def _begin(self, environment: Environment, **_: object) -> None:
        self._recorder, self._reports = Recorder(time.monotonic(), math.inf), 0
        self._kind.observer = self._recorder

    def _end(self, environment: Environment, **_: object) -> None:
        """The test is over here, or for the master."""
        if self._recorder is None:
            return
        self._recorder.cut(time.monotonic())
        part = {**self._recorder.measured(time.monotonic()), "reports": self._reports}
        self._recorder, self._kind.observer = None, Observer()
        if isinstance(self._runner, WorkerRunner):
            self._runner.send_message(COUNTS, part)
        else:
            print(table([part]))

    def _report(self, client_id: str, data: Part) -> None:
        if self._recorder is not None:
            self._reports += 1
            data["journeys"] = {"number": self._reports, "planned": self._recorder.planned}


class Adding:
    """Adds up at the master what the workers have counted, and prints it when a test is over."""

    def __init__(self, environment: Environment, runner: Any) -> None:
        self._environment, self._runner = environment, runner
        self._begin(environment)
        events.test_start.add_listener(self._begin)
        events.worker_report.add_listener(self._reported)
        events.test_stop.add_listener(self._end)
        self._runner.register_message(COUNTS, self._counted)

    def _begin(self, environment: Environment, **_: object) -> None:
        self._parts: dict[str, Part] = {}
        self._reports: Counter[str] = Counter()
        self._planned = dict.fromkeys(self._runner.clients, 0)  # by worker, as far as it has said

    def _reported(self, client_id: str, data: Part) -> None:
        if (said := data.pop("journeys", None)) is not None:
            self._reports[client_id] = 1 if said["number"] == 1 else self._reports[client_id] + 1
            self._planned[client_id] = said["planned"]

    def _counted(self, environment: Environment, msg: Any, **_: object) -> None:
        self._parts.setdefault(msg.node_id, msg.data)

    def _end(self, environment: Environment, **_: object) -> None:
        self._runner.send_message(END)
        with gevent.Timeout(ENDED_WITHIN_S, False):
            while self._awaited():
                gevent.sleep(LOOK_EVERY_S)
        missing = sorted(set(self._planned) - set(self._parts))
        wrong = [f"{one} is lost, and with it {self._planned[one]} requests or more" for one in missing]
        for one, part in self._parts.items():
            if part["reports"] != self._reports[one]:
                wrong.append(f"{one}: {self._reports[one]} of its {plural(part['reports'], 'report')} came")
        if wrong:
            self._environment.process_exit_code = _WRONG
        print(table(list(self._parts.values()), wrong))

    def _awaited(self) -> bool:
        """Whether a worker that lives is still to send its counts."""
        alive = (one.id for one in self._runner.clients.values() if one.state != "missing")
        return not set(alive) & set(self._planned) <= set(self._parts)


def install(kind: type[Any]) -> None:
    """From now on what users of a class and its subclasses do is counted where Locust's command runs them."""

    def begin(environment: Environment, runner: object, **_: object) -> None:
        if isinstance(runner, MasterRunner):
            Adding(environment, runner)
        elif runner is not None:
            Counting(runner, kind)

    events.init.add_listener(begin)


def table(parts: Sequence[Part], wrong: Iterable[str] = ()) -> str:
    """The requests of some processes, by route, then their journeys, then what is ``wrong`` with them."""
    routes: dict[str, list[Part]] = {}
    for route in (route for part in parts for route in part["routes"]):
        routes.setdefault(printable(f"{route['method']} {route['route']}"), []).append(route)
    heads = ("planned", "ok", "failed", "unfinished", *(f"p{percent:g}" for percent in PERCENTILES), "max")
    width = max(len("in all"), *map(len, routes), 0)
    lines = ["", "Exact, from when users were ready; response times in ms:", "", _line("", heads, width)]
    lines += [_line(name, _figures(own), width) for name, own in routes.items()]
    lines += [_line("in all", _figures([route for own in routes.values() for route in own]), width), ""]
    done, broken = (sum(part["journeys"][name] for part in parts) for name in ("completed", "broken_off"))
    lines += [f"{plural(done, 'journey')} completed, {broken} broken off", *(f"INCOMPLETE: {one}" for one in wrong), ""]
    return "\n".join(lines)


def _line(name: str, values: Iterable[object], width: int) -> str:
    return f"{name:<{width}}" + "".join(f"{value:>11}" for value in values)


def _figures(routes: Sequence[Part]) -> list[str]:
    planned, ok = (sum(route[name] for route in routes) for name in ("planned", "ok"))
    failed = sum(sum(route["errors"].values()) for route in routes)
    times = added(route["response_time"]["hdr"] for route in routes)
    most = max((route["response_time"]["max_us"] for route in routes), default=0)
    found = [min(us, most) for percent in PERCENTILES if (us := times.percentile(percent)) is not None] + [most]
    shown = [f"{us / 1000:.3f}" for us in found] if ok else ["-"] * (len(PERCENTILES) + 1)
    return [*map(str, (planned, ok, failed, planned - ok - failed)), *shown]


def added(texts: Iterable[str]) -> Histogram:
    """The sum of some histograms, bucket by bucket."""
    return sum(map(Histogram.decode, texts), Histogram.empty())
