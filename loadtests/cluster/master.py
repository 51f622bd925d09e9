"""``python -m loadtests.cluster.master``: Locust's master, between the harness and the workers of a load.

It listens on loopback alone. Its first line of input has the ``token`` of the cluster; it then writes
``{"event": "listening", "port": <n>}``. After that each line, in and out, is the number of a worker, a space, and a
message of the harness to it, or one of its events. A worker that is not heard of for a while has the event ``lost``. It
ends when its standard input closes. What comes from somebody who does not know the token is dropped.
"""

from __future__ import annotations

import hmac
import json
import logging
import os
from typing import IO, Any

import gevent
from gevent.fileobject import FileObject
from locust import runners
from locust.env import Environment

BEATS = 9  # that a worker may miss, one a second
LOOK_EVERY_S = 0.5
LOST = json.dumps({"event": "lost"})
HERE, TO_WORKER, TO_HARNESS = "here", "to-worker", "to-harness"  # messages


class Master:
    """Between the harness, which reads ``out``, and the workers that have proved themselves."""

    def __init__(self, token: str, out: IO[bytes]) -> None:
        runners.HEARTBEAT_LIVENESS = BEATS
        self._runner: Any = Environment().create_master_runner("127.0.0.1", 0)
        self._token, self._out = token.encode(), out
        self._ids: dict[str, str] = {}  # Locust's, by a worker's number
        self._runner.register_message(HERE, self._come)
        self._runner.register_message(TO_HARNESS, self._say)
        self._write(json.dumps({"event": "listening", "port": self._runner.server.port}))

    def pass_on(self, number: str, text: str) -> None:
        """Sends a worker a message."""
        self._runner.send_message(TO_WORKER, text, self._ids[number])

    def watch(self) -> None:
        """Looks for workers that are lost."""
        while True:
            gevent.sleep(LOOK_EVERY_S)
            for number, one in self._ids.items():
                client = self._runner.clients.get(one)
                if client is None or client.state == runners.STATE_MISSING:
                    self._write(f"{number} {LOST}")

    def _come(self, environment: Environment, msg: Any) -> None:
        number = str(int(msg.data["number"]))
        if hmac.compare_digest(msg.data["token"].encode(), self._token) and number not in self._ids:
            self._ids[number], msg.data = msg.node_id, msg.data["text"]
            self._say(environment, msg)

    def _say(self, environment: Environment, msg: Any) -> None:
        for number, one in self._ids.items():
            if one == msg.node_id:
                self._write(f"{number} {' '.join(msg.data.splitlines())}")

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
