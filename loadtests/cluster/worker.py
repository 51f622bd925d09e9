"""``python -m loadtests.cluster.worker [PORT]``: a Locust worker that carries a part of a load: an injector of
users, or the generator (generator/main.js) as its child.

Its first line of input is how it takes part: ``token``, ``number`` and ``program``; the master's ``port`` on this
machine unless it is an argument; a ``core`` for what makes the load; and whether it is ``apart``, on another machine
than the harness. There it has the machine for itself, its last core, and says which files it has.

The harness's messages, over Locust's master, are those of the program, and some that have the event ``answer``, with a
``value``: ``look`` (this machine's monotonic clock, in ms), ``spin`` (the seconds that a fixed piece of work took) and
``prove`` (the way to the servers, see hosts/network.py; its value are the arguments).

It ends, and the generator with it, when its standard input closes or the master is not heard of any more.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hmac
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

from loadtests.cluster.master import HERE, TO_HARNESS, TO_WORKER, proof
from loadtests.engines import locust, node
from loadtests.errors import UserError
from loadtests.files import ROOT
from loadtests.hosts import deploy, network, wire
from loadtests.hosts.agent.core_watch import CoreWatch
from loadtests.hosts.agent.lock import exclusive
from loadtests.journeys.injector.process import Injecting, open_as_many_files_as_allowed
from loadtests.observe import calibration, cores, machine

FREE_WITHIN_S = 30.0  # while an earlier worker may be ending what it started
REACHED_WITHIN_S = 10
Event = dict[str, Any]
Say = Callable[[Event], None]


class Generating:
    """The generator, on a core. ``say`` takes its events."""

    def __init__(self, core: int | None, say: Say) -> None:
        with cores.pinned(core):
            self._popen = subprocess.Popen(
                node.command(), cwd=node.GENERATOR, stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
        gevent.spawn(self._read, say)

    def write(self, message: Event) -> None:
        """Sends it a line."""
        assert self._popen.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # the reading side sees its end
            self._popen.stdin.write(json.dumps(message).encode() + b"\n")
            self._popen.stdin.flush()

    def _read(self, say: Say) -> None:
        for line in self._popen.stdout or ():
            event = json.loads(line)
            if event["event"] == "ready":
                node.demote(event["helpers"])  # here, where they are
                event["helpers"] = []
            say(event)
        if (status := self._popen.wait()) < 0:
            print(f"the load generator broke off: killed by signal {-status}", file=sys.stderr)
        _end(1)


class Carrier:
    """Between the master and a program that makes load on a core."""

    def __init__(self, runner: Any, token: str, program: str, core: int | None) -> None:
        self._runner, self._core = runner, cores.all_of()[-1] if core is None else core
        self._watch = CoreWatch(self._core)
        self._proof = proof(token, TO_WORKER)
        self._inbox: Queue[str] = Queue()
        self._start: Callable[[], Generating | Injecting] = lambda: Generating(core, self._on_event)
        if program == locust.PROGRAM:
            self._start = lambda: Injecting(lambda event, **values: self._on_event({"event": event, **values}))
        self._program: Generating | Injecting | None = None
        runner.register_message(TO_WORKER, self._hear)

    def carry(self) -> None:
        """Does what the harness says, for ever."""
        for text in self._inbox:
            message = json.loads(text)
            if "look" in message:
                self._answer(time.monotonic() * 1000)
            elif "spin" in message:
                self._answer(calibration.calibrate(self._core))
            elif "prove" in message:
                given = wire.typed(message["prove"], tuple[str, tuple[str, int], str, str])
                self._answer(dataclasses.asdict(network.look(*given)))
            else:
                self._watch.on_message(message)
                self._program = self._program or self._start()
                self._program.write(message)

    def _hear(self, environment: Environment, msg: Any) -> None:
        # Where the port could not be forwarded, another user of this machine may listen there.
        if hmac.compare_digest(msg.data["proof"], self._proof):
            self._inbox.put(msg.data["text"])

    def _on_event(self, event: Event) -> None:
        if isinstance(self._program, Generating):
            self._watch.on_event(event)
        elif event["event"] == "result":  # earlier a look would hold up the answers that are awaited
            self._watch.on_event({"event": "over"})
            self._watch.on_event(event)
        self._say(event)

    def _answer(self, value: object) -> None:
        self._say({"event": "answer", "value": value})

    def _say(self, event: Event) -> None:
        self._runner.send_message(TO_HARNESS, json.dumps(event))


def carry(first: Event) -> None:
    """Takes part, until it is ended. Raises UserError."""
    with contextlib.ExitStack() as stack:
        about: Event = {}
        core = first.get("core")
        if first["apart"]:
            stack.enter_context(exclusive(FREE_WITHIN_S))
            files = deploy.digests(ROOT, list(deploy.read_marker(ROOT.parent).files))
            about = {"files": files, "boot": machine.boot(), "machine": machine.describe()}
            core = cores.all_of()[-1]
        if first["program"] == locust.PROGRAM:
            stack.enter_context(cores.pinned(core))  # with the threads that Locust starts
            open_as_many_files_as_allowed()
        runners.MASTER_HEARTBEAT_TIMEOUT = int(wire.SILENCE_S)
        runners.CONNECT_TIMEOUT, runners.CONNECT_RETRY_COUNT = 1, REACHED_WITHIN_S
        try:
            runner: Any = Environment().create_worker_runner("127.0.0.1", first["port"])
        except ConnectionError:
            raise UserError(f"no master within {REACHED_WITHIN_S} s: may sshd here forward ports?") from None
        runner.last_heartbeat_timestamp = time.time()  # a master may be silent from now on
        carrier = Carrier(runner, first["token"], first["program"], core)
        gevent.spawn(_end_without, runner)
        text = json.dumps({"event": "here", "value": about})
        arrival = {"proof": proof(first["token"], HERE), "number": first["number"], "text": text}
        runner.send_message(HERE, arrival)
        carrier.carry()


def main() -> None:
    """Carries a part of a load until the harness, or the master, is gone."""
    logging.getLogger("locust").setLevel(logging.CRITICAL)
    os.dup(1)  # which closes when this process has ended, and not before
    os.dup2(2, 1)
    given = FileObject(os.dup(0), "rb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # a child that had it could make reading it block
    port = {"port": int(sys.argv[1])} if len(sys.argv) > 1 else {}
    line = given.readline()
    gevent.spawn(_end_with, given)
    try:
        carry({**json.loads(line), **port})
    except (UserError, wire.NotAMessage) as error:
        print(error, file=sys.stderr)
    except Exception:
        traceback.print_exc()
    _end(1)


def _end_with(given: FileObject) -> None:
    given.read()
    _end(0)


def _end_without(runner: Any) -> None:
    runner.greenlet.join()
    print("the master was not heard of any more", file=sys.stderr)
    _end(1)


def _end(status: int) -> None:
    """Ends at once: nothing that is still to be sent is waited for."""
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    main()
