"""``worker``: generate load for a run on another machine."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import socket
import sys
from typing import Annotated

import typer

from loadtests.commands.console import err, fail, waiting

INTERRUPTED = 130  # the exit status of all commands if a signal interrupts them


def command(
    master: Annotated[str, typer.Argument(help="Address where the run waits for its workers: 10.0.0.1:5557.")],
) -> None:
    """Generate load for a run on another machine (`run --expect-workers`), until the run ends.

    The command reads the workers' token from the file that LOAD_TOKEN_FILE names, or else from standard input.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)
    with waiting(err):
        from loadtests.engines import load_token
        from loadtests.measure.clients import host_and_port

        host, port = host_and_port(master, "worker")
    token = load_token.required()
    with waiting(err):
        from loadtests.cluster import worker
    worker.join(host, port, token, socket.gethostname(), functools.partial(print, file=sys.stderr))


def _end(number: int, frame: object) -> None:
    """End the process immediately, because an exception in an import or a greenlet would print a traceback."""
    with contextlib.suppress(SystemExit):
        fail("interrupted")
    os._exit(INTERRUPTED)
