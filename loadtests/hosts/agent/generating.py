"""``python -m loadtests.hosts.agent.generating PROGRAM SECONDS``: a process of the generator on another machine than
the harness's.

Lines of JSON come over standard input and go back on standard output, as between the harness and a process of its own
(PROGRAM: the ``generator``, generator/main.js, or an ``injector``, journeys/injector/process.py), which is started with
the first of them that is not for this program:

    {"beat": true}           the harness is there
    {"look": <n>}            answered by {"event": "looked", "ms": <this machine's monotonic clock>}
    {"spin": true}           answered by {"event": "spun", "s": <seconds that a fixed piece of work took>}
    {"prove": [<host>, [<address>, <port>], <token>, <client>]}
                             answered by {"event": "proved"} with what the way to there is (hosts/network.py)

It begins with {"event": "here"} and what it is, or {"event": "refused"} and why. It waits SECONDS for another agent to
have ended. To a result it adds what happened on the generator's core meanwhile (core_watch.py). When standard input
closes, or nothing comes over it for a while, the generator ends, and this with it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import os
import selectors
import sys
import threading
import time
from typing import Any

from loadtests.engines import locust, node
from loadtests.engines.generator_process import GeneratorProcess, start
from loadtests.errors import UserError
from loadtests.files import ROOT
from loadtests.hosts import deploy, network, wire
from loadtests.hosts.agent.core_watch import CoreWatch
from loadtests.hosts.agent.lock import exclusive
from loadtests.observe import calibration, cores, machine
from loadtests.observe.machine import boot

PROGRAMS = {node.PROGRAM: (node.command, node.GENERATOR), locust.PROGRAM: (locust.command, ROOT)}
READ_BYTES = 1 << 16
MOST_BYTES = 1 << 28  # of a job: its bodies, what is expected, and a recording's times
LOOK_EVERY_S = 1.0


class Relay:
    """Between a harness, which writes to one file descriptor and reads another, and a process of the generator, which
    runs one of PROGRAMS."""

    def __init__(self, program: str, heard_from: int, tells_to: int) -> None:
        self._program = program
        self._heard_from = heard_from
        self._tells_to = tells_to
        self._partial = wire.Lines(MOST_BYTES)
        self._stack = contextlib.ExitStack()
        self._generator: GeneratorProcess | None = None
        self._core = cores.all_of()[-1]
        self._watch = CoreWatch(self._core)
        self._selector = selectors.DefaultSelector()
        self.heard_at = time.monotonic()

    def tell(self, event: dict[str, Any]) -> None:
        """Says something to the harness. Raises OSError where that is gone."""
        wire.write(self._tells_to, event)

    def run(self) -> None:
        """Until the harness is gone, or was not heard for a while. Raises UserError and EngineError for what cannot be
        done, and wire.NotAMessage."""
        self.heard_at = time.monotonic()
        threading.Thread(target=_watch, args=(self,), daemon=True).start()
        self._selector.register(self._heard_from, selectors.EVENT_READ)
        with self._stack, self._selector:
            while True:
                for key, _ in self._selector.select():
                    if key.fileobj != self._heard_from:
                        self._told()
                    elif not self._heard():
                        return

    def _heard(self) -> bool:
        """Whether the harness is there; does what it says."""
        data = os.read(self._heard_from, READ_BYTES)
        self.heard_at = time.monotonic()
        for line in self._partial.add(data):
            message = _message(line)
            if "look" in message:
                self.tell({"event": "looked", "ms": time.monotonic() * 1000})
            elif "prove" in message:
                self._prove(*wire.typed(message["prove"], tuple[str, tuple[str, int], str, str]))
            elif "spin" in message:
                self.tell({"event": "spun", "s": calibration.calibrate(self._core)})
            elif "beat" not in message:
                self._started().write(message)
                self._watch.on_message(message)
        return bool(data)

    def _prove(self, host: str, address: tuple[str, int], token: str, client: str) -> None:
        """Says what the way to the servers is; meanwhile nobody is listened to, and so nobody is missed."""
        self.heard_at = math.inf
        way = network.look(host, address, token, client)
        self.heard_at = time.monotonic()
        self.tell({"event": "proved", **dataclasses.asdict(way)})

    def _told(self) -> None:
        """Passes on what the generator says; lowers its helpers here, where they are, and sees what happens here."""
        for event in self._started().read():
            if event["event"] == "ready":
                node.demote(event.get("helpers", []))
                event["helpers"] = []
            self._watch.on_event(event)
            self.tell(event)

    def _started(self) -> GeneratorProcess:
        if self._generator is None:
            command, folder = PROGRAMS[self._program]
            self._generator = self._stack.enter_context(start(command(), folder, self._core))
            assert self._generator.popen.stdout is not None
            self._selector.register(self._generator.popen.stdout, selectors.EVENT_READ)
        return self._generator


def main(program: str, free_within_s: float) -> None:
    """Relays until the harness is gone."""
    tells_to = os.dup(1)
    os.dup2(2, 1)  # what anything else prints is none of the conversation
    relay = Relay(program, 0, tells_to)
    with contextlib.suppress(OSError):
        try:
            with exclusive(free_within_s):
                marker = deploy.read_marker(ROOT.parent)
                files = deploy.digests(ROOT, list(marker.files))
                relay.tell({"event": "here", "files": files, "boot": boot(), "machine": machine.describe()})
                relay.run()
        except (UserError, wire.NotAMessage) as error:
            relay.tell({"event": "refused", "why": str(error)})


def _message(line: bytes) -> dict[str, Any]:
    """What the harness says, to the letter: a job is for the generator. Raises wire.NotAMessage."""
    try:
        return wire.typed(json.loads(line), dict[str, Any])
    except (ValueError, RecursionError):
        raise wire.NotAMessage("a message that is no JSON") from None


def _watch(relay: Relay) -> None:
    """Ends this process where the harness is out of reach, whatever it is doing: where the network is cut, a line that
    is being written is never taken. The generator ends with its standard input."""
    while time.monotonic() < relay.heard_at + wire.SILENCE_S:
        time.sleep(LOOK_EVERY_S)
    os._exit(1)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
