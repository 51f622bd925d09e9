"""Run part of a load as a Locust worker.

A user, Compose or Kubernetes starts the worker with ``python -m loadtests worker``. The harness starts it over SSH with
``python -m loadtests.cluster.worker PORT``, and sends it a line of JSON with the ``token`` of the cluster and the
``name`` of the worker. Such a worker locks its machine, so that no other run can use it, and exits when its standard
input closes.

The worker connects to Locust's master, and reports itself with the event ``here``. It runs one load program at a time,
either an injector of users or the generator (generator/main.js), as a child process on a core. The worker answers these
messages, and forwards all other messages to the load program:

* ``carry``: ends the load program, and selects the program with this name, or no program if the name is empty.
* ``look``: returns the monotonic clock of this machine in milliseconds.
* ``spin``: returns the seconds that a fixed amount of CPU work takes.
* ``prove``: checks the connection to the servers. The value contains the arguments of ``loadtests.hosts.network.look``.
* ``end``: ends the worker. The value is an error message, or empty.

The worker and its load program also exit when the master is silent for too long.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import logging
import os
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

import gevent
from gevent.fileobject import FileObject
from gevent.queue import Queue
from locust import runners
from locust.env import Environment

from loadtests.cluster.keys import secure_worker
from loadtests.cluster.master import TO_HARNESS, TO_WORKER
from loadtests.engines import locust, node
from loadtests.errors import UserError
from loadtests.files import ROOT
from loadtests.hosts import deploy, network, wire
from loadtests.hosts.agent.core_watch import CoreWatch
from loadtests.hosts.agent.lock import exclusive
from loadtests.observe import calibration, cores, machine

FREE_WITHIN_S = 30.0  # an earlier worker may still be ending its processes
MASTER_WITHIN_S = 300  # the master may be started after the worker
Event = dict[str, Any]


class Generating:
    """Run a load program (the generator or an injector) on a core, and call ``say`` with its events."""

    def __init__(self, program: str, core: int, say: Callable[[Event], None]) -> None:
        command, cwd = locust.COMMAND, ROOT
        if program == node.PROGRAM:
            command, cwd = node.command(), node.GENERATOR
        with cores.pinned(core):
            self._popen = subprocess.Popen(command, cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._ended = False
        gevent.spawn(self._read, say)

    def end(self) -> None:
        """End the program and ignore its further events."""
        self._ended = True
        self._popen.kill()

    def write(self, message: Event) -> None:
        """Send a message to the program."""
        assert self._popen.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # the reader notices the end of the program
            self._popen.stdin.write(json.dumps(message).encode() + b"\n")
            self._popen.stdin.flush()

    def _read(self, say: Callable[[Event], None]) -> None:
        for line in self._popen.stdout or ():
            if self._ended:
                return
            event = json.loads(line)
            if event["event"] == "ready":
                node.demote(event.pop("helpers", []))  # a harness on another machine can't demote these threads
            say(event)
        if (status := self._popen.wait()) < 0 and not self._ended:
            print(f"the load generator stopped: killed by signal {-status}", file=sys.stderr)
        if not self._ended:
            end(1)


class Carrier:
    """Forward messages between the master and a load program."""

    def __init__(self, runner: Any) -> None:
        self._runner = runner
        self._inbox: Queue[str] = Queue()
        self._program: Generating | None = None
        self._take("", -1)
        runner.register_message(TO_WORKER, lambda environment, msg: self._inbox.put(msg.data))

    def carry(self, name: str) -> None:
        """Report that the worker is ready, and process the harness's messages until this process ends."""
        files = deploy.digests(ROOT, deploy.of_load())
        about = {"name": name, "files": files, "boot": machine.boot(), "machine": machine.describe()}
        self._say({"event": "here", "value": about})
        for text in self._inbox:
            self._do(json.loads(text))

    def _take(self, program: str, core: int) -> None:
        """End the previous load program, and select the next program, which isn't started until its first load.

        Args:
            program: The name of the program, or an empty string for no program.
            core: The program's core, which is also calibrated and observed. If this machine doesn't have the core, or
                the number is -1, the last core is used, and -2 means the second-last core.
        """
        if self._program is not None:
            self._program.end()
        allowed = cores.all_of()
        self._core = core if core in allowed else allowed[min(core, -1) % len(allowed)]
        self._watch = CoreWatch(self._core)
        self._kind, self._program = program, None

    def _do(self, message: Event) -> None:
        if "carry" in message:
            self._take(message["carry"], message["core"])
            self._say({"event": "carries"})
        elif "end" in message:
            print(message["end"] or "the run has ended", file=sys.stderr)
            end(1 if message["end"] else 0)
        elif "look" in message:
            self._answer(time.monotonic() * 1000)
        elif "spin" in message:
            self._answer(calibration.calibrate(self._core))
        elif "prove" in message:
            given = wire.typed(message["prove"], tuple[str, tuple[str, int], str, str])
            try:
                self._answer(dataclasses.asdict(network.look(*given)))
            except UserError as error:
                self._say({"event": "answer", "why": str(error)})
        elif self._kind:
            self._watch.on_message(message)
            self._program = self._program or Generating(self._kind, self._core, self._on_event)
            self._program.write(message)

    def _on_event(self, event: Event) -> None:
        self._watch.on_event(event)
        self._say(event)

    def _answer(self, value: object) -> None:
        self._say({"event": "answer", "value": value})

    def _say(self, event: Event) -> None:
        self._runner.send_message(TO_HARNESS, json.dumps(event))


def join(host: str, port: int, token: str, name: str, say: Callable[[str], None] = lambda text: None) -> None:
    """Connect to the master, take part in its run until the run ends, and then end this process.

    Raises:
        UserError: If no master answers in time.
    """
    logging.getLogger("locust").setLevel(logging.CRITICAL)
    secure_worker(token)
    runners.MASTER_HEARTBEAT_TIMEOUT = int(wire.SILENCE_S)
    runners.CONNECT_TIMEOUT, runners.CONNECT_RETRY_COUNT = 1, MASTER_WITHIN_S
    say(f"Waiting up to {MASTER_WITHIN_S} s for a run with this token at {host}:{port}.")
    try:
        runner: Any = Environment().create_worker_runner(host, port)
    except ConnectionError:
        raise UserError(f"no master with this token answered at {host}:{port} within {MASTER_WITHIN_S} s") from None
    runner.last_heartbeat_timestamp = time.time()  # measure the master's silence from now on
    say("Connected to the run. The worker stops when the run ends.")
    gevent.spawn(_end_without, runner)
    try:
        Carrier(runner).carry(name)
    except Exception:
        traceback.print_exc()
        end(1)


def main() -> None:
    """Run part of a load for the harness that started this process over SSH."""
    given = FileObject(0, "rb", closefd=False)
    first = json.loads(given.readline())
    gevent.spawn(_end_with, given)
    try:
        with exclusive(FREE_WITHIN_S):
            join("127.0.0.1", int(sys.argv[1]), **first)
    except UserError as error:
        print(error, file=sys.stderr)
    end(1)


def _end_with(given: FileObject) -> None:
    given.read()
    end(0)


def _end_without(runner: Any) -> None:
    runner.greenlet.join()
    print("lost the connection to the master", file=sys.stderr)
    end(1)


def end(status: int) -> None:
    """End the process immediately, without waiting for messages that are still to be sent."""
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    main()
