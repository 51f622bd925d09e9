"""Generate load with workers that a user, Compose or Kubernetes starts (``loadtests.cluster.joined``).

The workers connect to a master that listens on the address in ``--master-bind``. They stay connected for
all loads of a run, and end when the run ends.
"""

from __future__ import annotations

import atexit
import collections
import contextlib
import functools
import os
import selectors
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator

from loadtests import hosts
from loadtests.engines import load_token
from loadtests.engines.cluster import MASTER, Cluster, Here, Worker
from loadtests.engines.generator_process import Event, GeneratorProcess, start, wait_for
from loadtests.errors import UserError, called, shown
from loadtests.files import ROOT
from loadtests.formatting import plural
from loadtests.hosts import deploy
from loadtests.hosts.error_tail import ErrorTail
from loadtests.observe.machine import boot

LISTENS_WITHIN_S = 30.0
CARRIES_WITHIN_S = 30.0
# A replacement must connect from the lost worker's machine. It often connects before the harness notices the loss.
REPLACED_WITHIN_S = 5.0
ENDED_WITHIN_S = 3.0
LOOPBACK = "127.0.0.1"


class Meeting(Cluster):
    """A cluster of workers that the harness doesn't start. Only events from the workers in ``at_work`` are reported."""

    def __init__(self, popen: subprocess.Popen[bytes], errors: ErrorTail, token: str) -> None:
        super().__init__(popen, errors)
        self.token = token
        self.at_work: list[Joined] = []

    @property
    def here(self) -> list[Joined]:
        """The connected workers that have the same files as this machine and aren't lost."""
        return [worker for worker in self.workers if isinstance(worker, Joined) and worker.there]

    def incoming(self) -> Iterable[tuple[GeneratorProcess, Event]]:
        for line in self.lines():
            if line[:1] == b"{":
                yield from self.of_master(line)
                continue
            number, _, text = line.partition(b" ")
            worker = Joined(self) if int(number) == len(self.workers) else self.workers[int(number)]
            event = worker.event(text)
            if worker in self.at_work:
                yield worker, event


class Joined(Worker):
    """A connected worker that the harness didn't start.

    The attribute ``there`` is true if the worker has the same files as this machine and isn't lost.
    """

    there = False

    def __init__(self, meeting: Meeting) -> None:
        super().__init__(meeting.popen, meeting.errors, meeting, None)
        self._meeting = meeting
        self.where = f"worker {len(meeting.workers)}"
        self.refused = ""

    @property
    def sources(self) -> tuple[GeneratorProcess, ...]:
        return (self._meeting,)

    def event(self, text: bytes) -> Event:
        try:
            event = super().event(text)
            if event["event"] == "here" and not self.came:
                self.last = event
                self._come(self._value(Here))
            return event
        except UserError:
            self.there = False
            if self in self._meeting.at_work:
                raise
            return {"event": "lost"}

    def _come(self, about: Here) -> None:
        self.came, self.about = True, about
        self.where = f"{self.where} ({shown(about.host)})"
        if (names := deploy.differing(deploy.digests(ROOT, deploy.of_load()), about.files)) is not None:
            self.refused = f"{self.where}: files differ from this machine's: {names}. Check out the same revision."
            self.write({"end": self.refused})
            return
        self.there = True
        if about.boot != boot():
            self.machine = self.where


class Expected:
    """A group of ``count`` workers that the user starts.

    The workers must connect to ``host:port`` within ``max_wait_s`` seconds. The command to start a worker is printed to
    standard error.
    """

    def __init__(self, count: int, host: str, port: int, max_wait_s: float) -> None:
        self.count, self.host, self.port, self.max_wait_s = count, host, port, max_wait_s
        self._stack = contextlib.ExitStack()
        self._meeting: Meeting | None = None
        self._places: list[Joined] = []

    def __len__(self) -> int:
        return self.count

    @contextlib.contextmanager
    def working(self, program: str, core: int | None) -> Iterator[list[Worker]]:
        """Run a program on the workers until the context ends.

        Workers on this machine run on ``core``. Each worker on another machine uses a separate core of that machine.

        Raises:
            EngineError: If a worker fails.
            UserError: If too few workers connected, or a worker was lost.
        """
        meeting = self._gathered()
        nth: collections.Counter[str] = collections.Counter()
        meeting.at_work = places = list(self._places)
        try:
            for worker in places:
                here = worker.about.boot == boot() and core is not None
                own = {"core": core} if here else {"nth": nth[worker.about.boot]}
                nth[worker.about.boot] += 1
                worker.write({"carry": program, **own})
            wait_for(places, "carries", CARRIES_WITHIN_S)  # earlier events belong to an earlier load
            yield [*places]
        finally:
            meeting.at_work = []
            for worker in places:
                worker.write({"carry": ""})

    def close(self) -> None:
        """Stop the workers and the master."""
        if self._meeting is not None:
            meeting, self._meeting = self._meeting, None
            for worker in meeting.here:
                worker.write({"end": ""})
            assert meeting.popen.stdin is not None
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                meeting.popen.stdin.close()
                meeting.popen.wait(ENDED_WITHIN_S)
        atexit.unregister(self.close)
        self._stack.close()

    def _gathered(self) -> Meeting:
        """Return the cluster when all its workers are connected.

        Raises:
            UserError: If too few workers connected, or a lost worker wasn't replaced.
        """
        if self._meeting is None:
            try:
                return self._gather()
            except BaseException:
                self.close()
                raise
        meeting = self._meeting
        if meeting.popen.poll() is not None:
            raise UserError("The Locust master was killed. Restart the workers and continue the run with --resume.")
        _listen(meeting, lambda: self._replaced() is None, REPLACED_WITHIN_S)
        if (lost := self._replaced()) is not None:
            raise UserError(f"{lost.where} was lost, and no replacement connected from its machine")
        return meeting

    def _replaced(self) -> Joined | None:
        """Replace lost workers with new workers. Return a lost worker that has no replacement, or None."""
        assert self._meeting is not None
        for index, worker in enumerate(self._places):
            if not worker.there:
                new = [one for one in self._meeting.here if one not in self._places]
                own = [one for one in new if one.about.boot == worker.about.boot]
                if not own:  # a worker on another machine may be unable to reach the servers
                    return worker
                self._places[index] = own[0]
        return None

    def _gather(self) -> Meeting:
        _require_free(self.host, self.port)
        given = load_token.given()
        load_token.hide()
        token = given or load_token.drawn()
        kind = functools.partial(Meeting, token=token)
        core = hosts.at("local").allot(os.environ.get("CORES")).generator[0]
        meeting = self._stack.enter_context(start(kind, [sys.executable, "-m", MASTER], ROOT, core))
        self._meeting = meeting
        atexit.register(self.close)
        meeting.write({"token": token, "host": self.host, "port": self.port})
        wait_for([meeting], "listening", LISTENS_WITHIN_S)
        print(self._instructions("" if given else load_token.of_workers(token)), file=sys.stderr, flush=True)
        _listen(meeting, lambda: len(meeting.here) >= self.count, self.max_wait_s)
        self._places = meeting.here[: self.count]
        came = len(self._places)
        if came < self.count:
            why = "".join(f"; {one.refused}" for one in meeting.workers if isinstance(one, Joined) and one.refused)
            of_all = f"{came} of {plural(self.count, 'worker')}"
            raise UserError(f"only {of_all} connected within {self.max_wait_s:g} s{why}")
        return meeting

    def _instructions(self, token: str) -> str:
        workers = plural(self.count, "worker")
        lines = [
            f"Waiting up to {self.max_wait_s:g} s for {workers}. To start a worker, run this command on "
            f"another machine with the same revision of this project:"
        ]
        lines.append(f"  {called()} worker {self.host}:{self.port}")
        if token:
            lines.append(f"Enter this token when the worker asks for it, or pass it on standard input: {token}")
        if self.host != LOOPBACK:
            lines.append(
                f"{self.host}:{self.port} must be on a private network. Anyone with the token can join the run and "
                "read the passwords of a journey's users."
            )
        return "\n".join(lines)


def _listen(meeting: Meeting, enough: Callable[[], bool], within_s: float) -> None:
    """Process incoming events until ``enough`` returns true, or ``within_s`` seconds have passed.

    Raises:
        EngineError: If the master ends.
    """
    until = time.monotonic() + within_s
    with selectors.DefaultSelector() as selector:
        assert meeting.popen.stdout is not None
        selector.register(meeting.popen.stdout, selectors.EVENT_READ)
        while True:
            left = 0.0 if enough() else max(0.0, until - time.monotonic())
            if not selector.select(left):
                return
            collections.deque(meeting.incoming(), maxlen=0)


def _require_free(host: str, port: int) -> None:
    """Check that the master can listen on an address.

    Raises:
        UserError: If the address can't be used.
    """
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except OSError as error:
            raise UserError(f"--master-bind {host}:{port}: {error.strerror}") from None
