"""Run Locust's master between the harness and the workers of a load: ``python -m loadtests.cluster.master``.

The first line of input contains the run's ``token``. Keys that are derived from the token encrypt all connections
(keys.py), so a client without the workers' token can neither send nor receive data. The master listens on the loopback
interface, unless the first line contains another ``host`` and ``port``. As soon as it is listening, the master
writes ``{"event": "listening", "port": <n>}``.

Each further line consists of a worker's number, a space, and a message. Lines of input contain messages from the
harness to the worker, and lines of output contain events from the worker. If the first line contains a ``host``, users
start the workers and the master numbers the workers. Otherwise, the harness has numbered the workers. The master
refuses a worker with a wrong number.

For a worker that has been silent for too long, the master writes the event ``lost``. For a worker that sends binary
data or too much text, the master writes the event ``nonsense``. Invalid messages are dropped. The master ends when its
standard input closes, and the workers end with the master.
"""

from __future__ import annotations

import itertools
import json
import logging
import os
from typing import IO, Annotated, Any

import gevent
import msgspec
from gevent.fileobject import FileObject
from locust import runners
from locust.env import Environment
from locust.exception import RPCError
from locust.rpc import zmqrpc

from loadtests.cluster.keys import secure_master
from loadtests.hosts import wire

BEATS = 9  # the number of heartbeats that a worker may miss; each worker sends one heartbeat per second
LOOK_EVERY_S = 0.5
SENT_WITHIN_S = 0.5  # the time to deliver the last messages
LOST = json.dumps({"event": "lost"})
NONSENSE = json.dumps({"event": "nonsense", "value": f"not text, or longer than {wire.MAX_BYTES // 2**20} MB"})
MISNUMBERED = "the run refuses this worker: the worker's number is missing, or the run didn't assign this number"
LOOPBACK = "127.0.0.1"
HERE, TO_WORKER, TO_HARNESS = "here", "to-worker", "to-harness"  # The types of messages.
LONGEST = wire.MAX_BYTES - 8  # The maximum size of a worker's message, without the worker's number.
READ_BYTES = 2 * wire.MAX_BYTES  # A connection with a longer message is closed.


class Arrival(msgspec.Struct, frozen=True):
    """The first message of a worker. ``text`` contains the worker's first event."""

    number: Annotated[int, msgspec.Meta(ge=0, lt=10_000)] | None
    text: str


class Heartbeat(msgspec.Struct, frozen=True):
    """A heartbeat of Locust."""

    state: str
    current_cpu_usage: float


AWAITED: dict[str, Any] = {"client_ready": str, "heartbeat": Heartbeat, HERE: Arrival, TO_HARNESS: Any}


class Server(zmqrpc.Server):
    """Locust's server, which ignores invalid and unexpected messages, so that they can't end the master."""

    def recv_from_client(self) -> tuple[str, Any]:
        while True:
            try:
                sender, message = super().recv_from_client()  # type: ignore[no-untyped-call]
                msgspec.convert(message.data, AWAITED[message.type])
                if sender == message.node_id:
                    return sender, message
            except RPCError:
                raise
            except Exception:  # msgpack and Locust raise various errors for invalid bytes
                continue


class Master:
    """Forward messages between the harness, which reads ``out``, and the authenticated workers."""

    def __init__(self, out: IO[bytes], token: str, host: str = "", port: int = 0) -> None:
        runners.HEARTBEAT_LIVENESS = BEATS
        zmqrpc.Server = Server  # type: ignore[misc]
        secure_master(token, READ_BYTES)
        self._runner: Any = Environment().create_master_runner(host or LOOPBACK, port)
        self._numbers = itertools.count() if host else None
        self._out = out
        self._ids: dict[str, str] = {}  # Locust's id of each worker, by the worker's number
        self._lost: set[str] = set()
        self._runner.register_message(HERE, self._come)
        self._runner.register_message(TO_HARNESS, self._say)
        self._write(json.dumps({"event": "listening", "port": self._runner.server.port}))

    def pass_on(self, number: str, text: str) -> None:
        """Send a message to a worker."""
        self._runner.send_message(TO_WORKER, text, self._ids[number])

    def watch(self) -> None:
        """Report workers whose connection is lost."""
        while True:
            gevent.sleep(LOOK_EVERY_S)
            for number in self._ids.keys() - self._lost:
                client = self._runner.clients.get(self._ids[number])
                if client is None or client.state == runners.STATE_MISSING:
                    self._lost.add(number)
                    self._write(f"{number} {LOST}")

    def close(self) -> None:
        """End all workers."""
        gevent.sleep(SENT_WITHIN_S)
        self._runner.quit()

    def _come(self, environment: Environment, msg: Any) -> None:
        arrival = msgspec.convert(msg.data, Arrival)
        if (arrival.number is None) != (self._numbers is not None):
            self._runner.send_message(TO_WORKER, json.dumps({"end": MISNUMBERED}), msg.node_id)
            return
        number = str(arrival.number if self._numbers is None else next(self._numbers))
        if number not in self._ids:
            self._ids[number], msg.data = msg.node_id, arrival.text
            self._say(environment, msg)

    def _say(self, environment: Environment, msg: Any) -> None:
        for number, one in self._ids.items():
            if one == msg.node_id:
                text = " ".join(msg.data.splitlines()) if isinstance(msg.data, str) else ""
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
