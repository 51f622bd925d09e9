"""``python -m loadtests.cluster.master``: Locust's master, between the harness and the workers of a load.

It listens on loopback alone. Its first line of input has the ``token`` of the cluster; it then writes
``{"event": "listening", "port": <n>}``. After that each line, in and out, is the number of a worker, a space, and a
message of the harness to it, or one of its events. A worker that is not heard of for a while has the event ``lost``;
one that says what is no text, or too much of it, ``nonsense``. It ends when its standard input closes. What comes from
somebody who does not know the token is dropped, and so is what is no message.
"""

from __future__ import annotations

import hmac
import json
import logging
import os
from typing import IO, Annotated, Any

import gevent
import msgspec
import zmq.green as zmq
from gevent.fileobject import FileObject
from locust import runners
from locust.env import Environment
from locust.exception import RPCError
from locust.rpc import zmqrpc

from loadtests.hosts import wire

BEATS = 9  # that a worker may miss, one a second
LOOK_EVERY_S = 0.5
LOST = json.dumps({"event": "lost"})
NONSENSE = json.dumps({"event": "nonsense", "value": f"no text, or one of over {wire.MOST_BYTES // 2**20} MB"})
HERE, TO_WORKER, TO_HARNESS = "here", "to-worker", "to-harness"  # messages
READ_BYTES = 2 * wire.MOST_BYTES  # of a message; the connection of one that is longer is closed


def proof(token: str, message: str) -> str:
    """What shows that who sends a message knows the token, to one who may be somebody else."""
    return hmac.new(token.encode(), message.encode(), "sha256").hexdigest()


class Arrival(msgspec.Struct, frozen=True):
    """How a worker says that it is there; ``text`` is its first event."""

    proof: str
    number: Annotated[int, msgspec.Meta(ge=0, lt=10_000)]
    text: str


class Heartbeat(msgspec.Struct, frozen=True):
    """Locust's."""

    state: str
    current_cpu_usage: float


AWAITED: dict[str, Any] = {"client_ready": str, "heartbeat": Heartbeat, HERE: Arrival, TO_HARNESS: Any}


class Server(zmqrpc.Server):
    """Locust's server ends for good when somebody sends it what is no message. This one passes on what is awaited."""

    def __init__(self, host: str, port: int) -> None:
        zmqrpc.BaseSocket.__init__(self, zmq.ROUTER, True)  # type: ignore[no-untyped-call]
        self.socket.setsockopt(zmq.MAXMSGSIZE, READ_BYTES)
        self.port = self.socket.bind_to_random_port(f"tcp://{host}")

    def recv_from_client(self) -> tuple[str, Any]:
        while True:
            try:
                sender, message = super().recv_from_client()  # type: ignore[no-untyped-call]
                msgspec.convert(message.data, AWAITED[message.type])
                if sender == message.node_id:
                    return sender, message
            except RPCError:
                raise
            except Exception:  # of msgpack and of whatever else foreign bytes lead to
                continue


class Master:
    """Between the harness, which reads ``out``, and the workers that have proved themselves."""

    def __init__(self, token: str, out: IO[bytes]) -> None:
        runners.HEARTBEAT_LIVENESS = BEATS
        zmqrpc.Server = Server  # type: ignore[misc]
        self._runner: Any = Environment().create_master_runner("127.0.0.1", 0)
        self._token, self._out = token, out
        self._ids: dict[str, str] = {}  # Locust's, by a worker's number
        self._runner.register_message(HERE, self._come)
        self._runner.register_message(TO_HARNESS, self._say)
        self._write(json.dumps({"event": "listening", "port": self._runner.server.port}))

    def pass_on(self, number: str, text: str) -> None:
        """Sends a worker a message."""
        message = {"proof": proof(self._token, TO_WORKER), "text": text}
        self._runner.send_message(TO_WORKER, message, self._ids[number])

    def watch(self) -> None:
        """Looks for workers that are lost."""
        while True:
            gevent.sleep(LOOK_EVERY_S)
            for number, one in self._ids.items():
                client = self._runner.clients.get(one)
                if client is None or client.state == runners.STATE_MISSING:
                    self._write(f"{number} {LOST}")

    def _come(self, environment: Environment, msg: Any) -> None:
        arrival = msgspec.convert(msg.data, Arrival)
        number = str(arrival.number)
        if hmac.compare_digest(arrival.proof.encode(), proof(self._token, HERE).encode()) and number not in self._ids:
            self._ids[number], msg.data = msg.node_id, arrival.text
            self._say(environment, msg)

    def _say(self, environment: Environment, msg: Any) -> None:
        for number, one in self._ids.items():
            if one == msg.node_id:
                text = " ".join(msg.data.splitlines()) if isinstance(msg.data, str) else ""
                fits = 0 < len(text.encode()) < wire.MOST_BYTES - len(number)
                self._write(f"{number} {text if fits else NONSENSE}")

    def _write(self, line: str) -> None:
        self._out.write(line.encode() + b"\n")
        self._out.flush()


def main() -> None:
    """Passes on until the harness is gone."""
    logging.getLogger("locust").setLevel(logging.ERROR)
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what anything else prints is none of the conversation
    given = FileObject(0, "rb", closefd=False)
    master = Master(json.loads(given.readline())["token"], out)
    gevent.spawn(master.watch)
    for line in given:
        number, _, text = line.decode().rstrip("\n").partition(" ")
        master.pass_on(number, text)
    os._exit(0)


if __name__ == "__main__":
    main()
