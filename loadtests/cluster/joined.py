"""Run a worker that a user, Compose or Kubernetes starts (``python -m loadtests worker``).

The worker connects to the master of a run that expects workers. It runs the load programs that the harness selects, one
after another, and ends when the run ends.
"""

from __future__ import annotations

import logging
import os
import socket
import sys
import time
import traceback

import gevent

from loadtests.cluster.keys import secure_worker
from loadtests.cluster.worker import Carrier, connected, end, take_part
from loadtests.errors import UserError
from loadtests.files import ROOT
from loadtests.hosts import deploy
from loadtests.journeys.injector.process import open_as_many_files_as_allowed
from loadtests.observe import machine

MASTER_WITHIN_S = 300.0  # the master may be started after the worker
LOOK_EVERY_S = 0.5


def join(host: str, port: int, token: str, within_s: float = MASTER_WITHIN_S) -> None:
    """Take part in a run until the run ends, and then end this process.

    Args:
        host: The master's host.
        port: The master's port.
        token: The token of the run.
        within_s: The maximum time to wait for the master.

    Raises:
        UserError: If no master answers in time, or the master doesn't accept the token.
    """
    logging.getLogger("locust").setLevel(logging.CRITICAL)
    open_as_many_files_as_allowed()
    _wait_for(host, port, within_s)
    secure_worker(token)
    runner = connected(host, port, f"{host}:{port} doesn't accept this token")
    print(f"Connected to the run at {host}:{port}. The worker stops when the run ends.", file=sys.stderr)
    about = {
        "files": deploy.digests(ROOT, deploy.of_load()),
        "boot": machine.boot(),
        "machine": machine.describe(),
        "host": socket.gethostname(),
    }
    try:
        take_part(runner, Carrier(runner, "", None, inside=False), None, about)
    except Exception:
        traceback.print_exc()
        end(1)


def _wait_for(host: str, port: int, within_s: float) -> None:
    until = time.monotonic() + within_s
    while True:
        try:
            socket.create_connection((host, port), timeout=LOOK_EVERY_S).close()
            return
        except OSError as error:
            if time.monotonic() > until:
                why = error.strerror or os.strerror(error.errno) if error.errno else str(error)
                raise UserError(f"no master answered at {host}:{port} within {within_s:g} s: {why}") from None
        gevent.sleep(LOOK_EVERY_S)
