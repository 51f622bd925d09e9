"""Run Locust's master between the harness and the workers of a load: ``python -m loadtests.cluster.master``.

The first line of input contains the run's ``token``, and the ``host`` and ``port`` to listen on. Keys that are derived
from the token encrypt all connections (keys.py), so a client without the workers' token can neither send nor receive
data. As soon as it is listening, the master writes ``{"event": "listening", "port": <n>}``.

The master numbers the workers in the order in which they report. Each further line consists of a worker's number, a
space, and a message. Lines of input contain messages from the harness to the worker, and lines of output contain events
from the worker.

For a worker that has been silent for too long, the master writes the event ``lost``. For a worker that sends binary
data or too much text, the master writes the event ``nonsense``. The master ends when its standard input closes, and the
workers end with the master.
"""

from __future__ import annotations

import json
import logging
import os
from typing import IO, Any

import gevent
from gevent.fileobject import FileObject
from locust import runners
from locust.env import Environment

from loadtests.cluster.keys import secure_master
from loadtests.hosts import wire

BEATS = 9  # the number of heartbeats that a worker may miss; each worker sends one heartbeat per second
LOOK_EVERY_S = 0.5
SENT_WITHIN_S = 0.5  # the time to deliver the last messages
LOST = json.dumps({"event": "lost"})
NONSENSE = json.dumps({"event": "nonsense", "value": f"not text, or longer than {wire.MAX_BYTES // 2**20} MB"})
TO_WORKER, TO_HARNESS = "to-worker", "to-harness"  # The types of messages.
LONGEST = wire.MAX_BYTES - 8  # The maximum size of a worker's message, without the worker's number.
READ_BYTES = 2 * wire.MAX_BYTES  # A connection with a longer message is closed.


class Master:
    """Forward messages between the harness, which reads ``out``, and the authenticated workers."""

    def __init__(self, out: IO[bytes], token: str, host: str, port: int) -> None:
        runners.HEARTBEAT_LIVENESS = BEATS
        secure_master(token, READ_BYTES)
        self._runner: Any = Environment().create_master_runner(host, port)
        self._out = out
        self._ids: list[str] = []  # Locust's id of each worker, by the worker's number
        self._lost: set[str] = set()
        self._runner.register_message(TO_HARNESS, self._say)
        self._write(json.dumps({"event": "listening", "port": self._runner.server.port}))

    def pass_on(self, number: str, text: str) -> None:
        """Send a message to a worker."""
        self._runner.send_message(TO_WORKER, text, self._ids[int(number)])

    def watch(self) -> None:
        """Report workers whose connection is lost."""
        while True:
            gevent.sleep(LOOK_EVERY_S)
            for number, one in enumerate(self._ids):
                client = self._runner.clients.get(one)
                if one not in self._lost and (client is None or client.state == runners.STATE_MISSING):
                    self._lost.add(one)
                    self._write(f"{number} {LOST}")

    def close(self) -> None:
        """End all workers."""
        gevent.sleep(SENT_WITHIN_S)
        self._runner.quit()

    def _say(self, environment: Environment, msg: Any) -> None:
        if msg.node_id not in self._ids:
            self._ids.append(msg.node_id)
        text = " ".join(msg.data.splitlines()) if isinstance(msg.data, str) else ""
        number = self._ids.index(msg.node_id)
        self._write(f"{number} {text if 0 < len(text.encode()) <= LONGEST else NONSENSE}")

    def _write(self, line: str) -> None:
        self._out.write(line.encode() + b"\n")
        self._out.flush()


def main() -> None:
    """Forward messages until the harness closes the input."""
    logging.getLogger("locust").setLevel(logging.ERROR)
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # other output must not mix with the messages
    given = FileObject(0, "rb", closefd=False)
    master = Master(out, **json.loads(given.readline()))
    gevent.spawn(master.watch)
    for line in given:
        number, _, text = line.decode().rstrip("\n").partition(" ")
        master.pass_on(number, text)
    master.close()
    os._exit(0)


if __name__ == "__main__":
    main()
