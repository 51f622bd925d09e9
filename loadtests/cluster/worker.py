"""Run part of a load as a Locust worker: ``python -m loadtests.cluster.worker [PORT]``.

The worker runs one load program, either an injector of users, or the generator (generator/main.js) as a child process.
It forwards messages between this program and the harness. The messages pass through Locust's master.

The first line of input is JSON:

* ``token``: the secret of the cluster.
* ``number``: the number of this worker in the cluster.
* ``program``: the load program.
* ``port``: the port of the master on this machine. The ``PORT`` argument overrides it.
* ``core``: the core for the load program.
* ``apart``: whether the harness runs on another machine. In that case the worker uses the last core, reports the
  digests of its files, and locks this machine, so that no other run can use it.

The worker answers these messages with an ``answer`` event and forwards most other messages to the load program:

* ``look``: returns the monotonic clock of this machine in milliseconds.
* ``spin``: returns the seconds that a fixed amount of CPU work takes.
* ``prove``: checks the connection to the servers. The value contains the arguments of ``loadtests.hosts.network.look``.

The worker and its load program exit when standard input closes. They also exit when the master is silent for too long.
In the second case, the worker first saves the unfinished measurements to a file in the cache folder.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import logging
import os
import subprocess
import sys
import tempfile
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
from loadtests.cluster.master import HERE, LONGEST, TO_HARNESS, TO_WORKER
from loadtests.engines import locust, node
from loadtests.errors import UserError
from loadtests.files import ROOT, cache, make_folder
from loadtests.hosts import deploy, network, wire
from loadtests.hosts.agent.core_watch import CoreWatch
from loadtests.hosts.agent.lock import exclusive
from loadtests.journeys.injector.process import Injecting, open_as_many_files_as_allowed
from loadtests.observe import calibration, cores, machine

FREE_WITHIN_S = 30.0  # an earlier worker may still be ending its processes
REACHED_WITHIN_S = 10
KEPT_FOR_S = 7 * 24 * 3600.0
KEPT_WITHIN_S = 2.0  # the time to collect the measurements after the connection to the master is lost
Event = dict[str, Any]
Say = Callable[[Event], None]


class Generating:
    """Run a load program (the generator or an injector) on a core, and call ``say`` with its events."""

    def __init__(self, program: str, core: int | None, say: Say) -> None:
        command, cwd = [sys.executable, "-m", locust.INJECTOR], ROOT
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

    def _read(self, say: Say) -> None:
        for line in self._popen.stdout or ():
            if self._ended:
                return
            event = json.loads(line)
            if event["event"] == "ready":
                node.demote(event.get("helpers", []))  # a harness on another machine can't demote these threads
                event["helpers"] = []
            say(event)
        if (status := self._popen.wait()) < 0 and not self._ended:
            print(f"the load generator stopped: killed by signal {-status}", file=sys.stderr)
        if not self._ended:
            end(1)


class Carrier:
    """Forward messages between the master and a load program on a core.

    An injector runs in this process if ``inside`` is set, or else in a child process.
    """

    def __init__(self, runner: Any, program: str, core: int | None, inside: bool = True) -> None:
        self._runner, self._inside = runner, inside
        self._inbox: Queue[str] = Queue()
        self._kept: Queue[Event] | None = None
        self._program: Generating | Injecting | None = None
        self._begun: dict[str, Event] = {}  # for each load without a result, the last message that started the load
        self.take(program, core)
        runner.register_message(TO_WORKER, lambda environment, msg: self._inbox.put(msg.data))

    def take(self, program: str, core: int | None) -> None:
        """End the previous load program, and select the next program, which isn't started until its first load.

        Args:
            program: The name of the program, or an empty string for no program.
            core: The core for the program. If the core is None, the program isn't pinned, and this machine's last core
                is calibrated and observed.
        """
        if isinstance(self._program, Generating):
            self._program.end()
        self._program, self._begun = None, {}
        self._kind, self._pinned, self._core = program, core, cores.all_of()[-1] if core is None else core
        self._watch = CoreWatch(self._core)

    def carry(self) -> None:
        """Process the harness's messages until this process ends."""
        for text in self._inbox:
            self._do(json.loads(text))

    def keep(self) -> str:
        """End the loads that have no result yet, and save their measurements to a file in the cache folder.

        The worker calls this method when the master is gone. The method also removes saved files that are older than a
        week.

        Returns:
            The path of the file, or an empty string if there is no measurement.
        """
        if self._program is None or not self._begun:
            return ""
        self._kept = Queue()
        self._program.write({"stop": True})
        parts = self._heard("over", 1)
        for name in filter(None, self._begun):
            self._program.write({"load": name, "close": True})
        parts += self._heard("result", len(self._begun))
        folder = cache() / "load-parts"
        make_folder(folder)
        for old in folder.iterdir():
            if old.stat().st_mtime < time.time() - KEPT_FOR_S:
                old.unlink(missing_ok=True)
        with tempfile.NamedTemporaryFile("w", suffix=".json", dir=folder, delete=False) as file:
            json.dump({"loads": list(self._begun.values()), "events": parts}, file)
        return file.name

    def _heard(self, last: str, times: int) -> list[Event]:
        """Return the program's events until ``last`` has occurred ``times`` times or KEPT_WITHIN_S has passed."""
        assert self._kept is not None
        heard: list[Event] = []
        with gevent.Timeout(KEPT_WITHIN_S, False):
            while sum(event["event"] == last for event in heard) < times:
                heard.append(self._kept.get())
        return heard

    def _do(self, message: Event) -> None:
        if "carry" in message:
            self.take(message["carry"], _own_core(message))
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
        else:
            self._watch.on_message(message)
            self._program = self._program or self._start()
            if "slice" in message or "start" in message:
                self._begun[message.get("load", "")] = message
            elif "close" in message:
                self._begun.pop(message["load"], None)
            self._program.write(message)

    def _start(self) -> Generating | Injecting:
        if self._inside and self._kind == locust.PROGRAM:
            return Injecting(lambda event, **values: self._on_event({"event": event, **values}))
        return Generating(self._kind, self._pinned, self._on_event)

    def _on_event(self, event: Event) -> None:
        if self._kept is not None:
            self._kept.put(event)
            return
        if self._kind != locust.PROGRAM:
            self._watch.on_event(event)
        elif event["event"] == "result":  # checking the core earlier would delay answers
            self._watch.on_event({"event": "over"})
            self._watch.on_event(event)
            self._begun.clear()
        self._say(event)

    def _answer(self, value: object) -> None:
        self._say({"event": "answer", "value": value})

    def _say(self, event: Event) -> None:
        text = json.dumps(event)
        if len(text) > LONGEST:  # the master would drop the message, and the harness would wait for an answer
            megabytes, most = len(text) // 2**20, wire.MAX_BYTES // 2**20
            too_much = f"the event {event['event']} is {megabytes} MB; at most {most} MB are allowed"
            text = json.dumps({"event": "nonsense", "value": too_much})
        self._runner.send_message(TO_HARNESS, text)


def connected(host: str, port: int, why: str) -> Any:
    """Connect to the master as a Locust worker.

    Args:
        host: The master's host.
        port: The master's port.
        why: The probable reason for a failure, which the error message contains.

    Raises:
        UserError: If no master answers.
    """
    runners.MASTER_HEARTBEAT_TIMEOUT = int(wire.SILENCE_S)
    runners.CONNECT_TIMEOUT, runners.CONNECT_RETRY_COUNT = 1, REACHED_WITHIN_S
    try:
        runner: Any = Environment().create_worker_runner(host, port)
    except ConnectionError:
        raise UserError(f"no master answered within {REACHED_WITHIN_S} s: {why}") from None
    runner.last_heartbeat_timestamp = time.time()  # measure the master's silence from now on
    return runner


def _own_core(message: Event) -> int:
    """Return the core in the harness's message if this machine has that core, or else the n-th core from the end."""
    allowed, core = cores.all_of(), int(message.get("core", -1))
    return core if core in allowed else allowed[-1 - message.get("nth", 0) % len(allowed)]


def carry(first: Event) -> None:
    """Take part in a cluster until the process ends.

    Raises:
        UserError: If another run has locked this machine, or no master answers.
    """
    with contextlib.ExitStack() as stack:
        about: Event = {}
        core = first.get("core")
        if first["apart"]:
            stack.enter_context(exclusive(FREE_WITHIN_S))
            files = deploy.digests(ROOT, list(deploy.read_marker(ROOT.parent).files))
            about = {"files": files, "boot": machine.boot(), "machine": machine.describe()}
            core = cores.all_of()[-1]
        if first["program"] == locust.PROGRAM:
            stack.enter_context(cores.pinned(core))  # also pins the threads that Locust starts
            open_as_many_files_as_allowed()
        secure_worker(first["token"])
        runner = connected(
            "127.0.0.1", first["port"], "check that sshd on this machine allows port forwarding (AllowTcpForwarding)"
        )
        take_part(runner, Carrier(runner, first["program"], core), first["number"], about)


def take_part(runner: Any, carrier: Carrier, number: int | None, about: Event) -> None:
    """Report that the worker is ready, and forward messages until the process ends."""
    gevent.spawn(_end_without, runner, carrier)
    runner.send_message(HERE, {"number": number, "text": json.dumps({"event": "here", "value": about})})
    carrier.carry()


def main() -> None:
    """Run part of a load until the harness or the master is gone."""
    logging.getLogger("locust").setLevel(logging.CRITICAL)
    os.dup(1)  # keeps standard output open until this process has ended
    os.dup2(2, 1)
    given = FileObject(os.dup(0), "rb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # reading could block if a child process shared the input
    port = {"port": int(sys.argv[1])} if len(sys.argv) > 1 else {}
    line = given.readline()
    gevent.spawn(_end_with, given)
    try:
        carry({**json.loads(line), **port})
    except (UserError, wire.NotAMessage) as error:
        print(error, file=sys.stderr)
    except Exception:
        traceback.print_exc()
    end(1)


def _end_with(given: FileObject) -> None:
    given.read()
    end(0)


def _end_without(runner: Any, carrier: Carrier) -> None:
    runner.greenlet.join()
    why = "lost the connection to the master"
    try:
        kept = carrier.keep()
    except (OSError, UserError) as error:
        kept, why = "", f"{why}; the unfinished measurements are lost: {error}"
    print(f"{why}. Saved the unfinished measurements to {kept}" if kept else why, file=sys.stderr)
    end(1)


def end(status: int) -> None:
    """End the process immediately, without waiting for messages that are still to be sent."""
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    main()
