"""Run the users of a journey in a process, which is called an injector.

The engine ``locust`` or a Locust worker (``loadtests.cluster``) starts an injector with ``python -m``.

The injector reads lines of JSON: the job (see ``loadtests.engines.locust``), the time to ``start``, and sometimes
``stop``. The time is in seconds of ``time.monotonic``, which is the same in all processes of a machine. The injector
writes lines of JSON: ``ready``, ``held`` when all users have arrived, each ``second``, ``over``, and the ``result``. It
ends when its standard input closes.
"""

from __future__ import annotations

import contextlib
import gc
import inspect
import itertools
import json
import os
import random
import resource
import sys
import time
import types
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import gevent
from gevent.event import Event
from gevent.fileobject import FileObject
from gevent.pool import Group
from locust.env import Environment

from loadtests.journeys.base import Journey, sleep_until
from loadtests.journeys.forms import Credentials, browser
from loadtests.journeys.injector.recorder import Recorder
from loadtests.journeys.steps import Left

BEAT_S = 0.01
_OUT = sys.stdout  # only for events; the output of a journey goes to standard error


class Injector:
    """The users of one process, from the first arrival to the last departure."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.job = job
        self.kind = journey_in(Path(job["journey"]), job.get("text"))
        self.kind.host = job["origin"]
        self.kind.path = job["path"]
        self.kind.think_s = tuple(job["think_s"])
        self.accounts: list[Credentials | None] = [Credentials(**one) for one in job["sign_in"]] or [None]
        self.kind.default_headers, self.kind.cookie_policy = browser(job["origin"], job["headers"])
        self.kind.connection_timeout = self.kind.network_timeout = job["timeout_s"]
        self.environment = Environment(user_classes=[self.kind], host=job["origin"])
        self.users = Group()
        self.stopped = Event()

    def run(self, start: float) -> None:
        """Run the whole load, starting at ``start``."""
        begin = start + self.job["ramp_s"]
        self.recorder = Recorder(begin, begin + self.job["hold_s"])
        self.kind.observer = self.recorder
        self.kind.leaves_at = self.recorder.end
        coming = gevent.spawn(self._come, start)
        coming.link_exception(_broken)
        gevent.spawn(self._beat)
        self._wait(begin)
        cpu_s = time.process_time()
        write("held")
        for turn in itertools.count(1):
            self._wait(min(begin + turn, self.recorder.end))
            _write_seconds(self.recorder.seconds(time.monotonic()))
            if self.stopped.is_set() or time.monotonic() >= self.recorder.end:
                break
        write("over")
        coming.kill()
        self._go()
        _write_seconds(self.recorder.rest())
        held_s = self.recorder.end - self.recorder.begin
        generator = {
            "cpu_s": time.process_time() - cpu_s,
            "wall_s": max(held_s, 0.001),
            "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }
        write("result", **self.recorder.measured(time.monotonic()), generator=generator)

    def _come(self, start: float) -> None:
        """Start each user at its arrival time."""
        for number, after_s in self.job["starts"]:
            sleep_until(start + after_s)
            self.users.spawn(self._stay, number, start + after_s).link_exception(_broken)

    def _stay(self, number: int, due: float) -> None:
        """Run one user, either for one journey or for journeys one after the other.

        The random decisions of each journey depend on the load's seed, the user's number and the journey's number.
        """
        user = self.kind(self.environment)
        user.credentials = self.accounts[number % len(self.accounts)]
        try:
            for turn in itertools.count():
                user.undertake(random.Random(f"{self.job['seed']} {number} {turn}"), due)
                if not self.job["stays"]:
                    return
                user.think()
                due = user.ready
        except Left:
            pass
        finally:
            user.hang_up()

    def _go(self) -> None:
        """End the load, with a grace period for requests in flight unless the load was stopped early."""
        if self.stopped.is_set():
            self.recorder.cut(time.monotonic())
            self.kind.leaves_at = self.recorder.end
        else:
            self.users.join(timeout=self.job["timeout_s"])
        # The requests of killed users stay open and count as unfinished.
        self.users.kill()

    def _beat(self) -> None:
        """Measure this process's scheduling delay. Every missed beat counts."""
        due = self.recorder.begin
        while due < self.recorder.end:
            sleep_until(due)
            now = time.monotonic()
            while due <= now and due < self.recorder.end:
                self.recorder.beat(now - due)
                due += BEAT_S

    def _wait(self, moment: float) -> None:
        """Wait until a moment, or until the load is stopped."""
        while (left := moment - time.monotonic()) > 0 and not self.stopped.wait(left):
            pass


def journey_in(file: Path, text: str | None = None) -> type[Journey]:
    """Return the journey that a file defines. The file may import modules from its folder.

    If ``text`` is set, it replaces the content of the file.

    Raises:
        ValueError: If the file doesn't contain exactly one journey.
    """
    module = types.ModuleType(f"journey_{file.stem}")
    module.__file__ = str(file)
    sys.modules[module.__name__] = module  # the module's dataclasses need this entry
    sys.path.append(str(file.parent))
    exec(compile(file.read_bytes() if text is None else text, file, "exec"), vars(module))
    found = [
        one
        for one in vars(module).values()
        if inspect.isclass(one) and issubclass(one, Journey) and one.__module__ == module.__name__ and not one.abstract
    ]
    if len(found) != 1:
        raise ValueError(f"{file} contains {len(found)} journeys. It must contain one subclass of Journey")
    return found[0]


def write(event: str, **values: Any) -> None:
    """Write an event to standard output, as a line of JSON."""
    _OUT.write(json.dumps({"event": event, **values}) + "\n")
    _OUT.flush()


def _write_seconds(rows: Iterable[dict[str, Any]]) -> None:
    for row in rows:
        write("second", **row)


def _broken(greenlet: gevent.Greenlet) -> None:
    """Exit after an error in a journey, because the load now lacks a user. The error was already printed."""
    sys.stderr.flush()
    os._exit(1)


def open_as_many_files_as_allowed() -> None:
    """Raise the limit on open files, because each user needs a connection. The soft limit is usually 1,024."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def main() -> None:
    """Handle messages until standard input closes."""
    sys.stdout = sys.stderr
    open_as_many_files_as_allowed()
    injector: Injector | None = None
    for line in FileObject(sys.stdin.fileno(), "rb", closefd=False):
        message = json.loads(line)
        if injector is None:
            injector = Injector(message)
            gc.collect()
            gc.freeze()  # so that the garbage collector doesn't scan these objects again
            write("ready")
        elif "start" in message:
            gevent.spawn(injector.run, message["start"]).link_exception(_broken)
        else:
            injector.stopped.set()
    os._exit(0)


if __name__ == "__main__":
    main()
