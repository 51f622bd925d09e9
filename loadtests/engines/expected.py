"""Generate load with workers that a user, Compose or Kubernetes starts (``python -m loadtests worker``).

The workers connect to a master that listens on the address in ``--master-bind``. They stay connected for
all loads of a run, and end when the run ends.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator

from loadtests import hosts
from loadtests.engines import load_token
from loadtests.engines.base import EngineError
from loadtests.engines.cluster import LOOPBACK, MASTER, Cluster, Worker
from loadtests.engines.generator_process import start
from loadtests.errors import UserError, called
from loadtests.files import ROOT
from loadtests.formatting import plural

ENDED_WITHIN_S = 3.0


class Expected:
    """A group of ``count`` workers that the user starts.

    The workers must connect to ``host:port`` within ``max_wait_s`` seconds. The command to start a worker is printed to
    standard error.
    """

    def __init__(self, count: int, host: str, port: int, max_wait_s: float) -> None:
        self.count, self.host, self.port, self.max_wait_s = count, host, port, max_wait_s
        self._stack = contextlib.ExitStack()
        self._cluster: Cluster | None = None
        self._places: list[Worker] = []

    def __len__(self) -> int:
        return self.count

    @contextlib.contextmanager
    def working(self, program: str, core: int | None) -> Iterator[list[Worker]]:
        """Run a program on the workers until the context ends.

        Raises:
            EngineError: If a worker fails.
            UserError: If too few workers connected, or a worker was lost.
        """
        if self._cluster is None:
            try:
                self._gather()
            except BaseException:
                self.close()
                raise
        cluster = self._cluster
        assert cluster is not None
        lost = ["the Locust master"] if cluster.popen.poll() is not None else []
        if not lost:
            cluster.listen(lambda: True, 0.0)
            lost = [worker.where for worker in self._places if not worker.there]
        if lost:
            raise UserError(f"{lost[0]} was lost. Restart the workers and continue the run with --resume.")
        with cluster.working(self._places, program, core):
            yield self._places

    def close(self) -> None:
        """Stop the workers and the master."""
        if self._cluster is not None:
            cluster, self._cluster = self._cluster, None
            for worker in cluster.here:
                worker.write({"end": ""})
            assert cluster.popen.stdin is not None
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                cluster.popen.stdin.close()
                cluster.popen.wait(ENDED_WITHIN_S)
        atexit.unregister(self.close)
        self._stack.close()

    def _gather(self) -> None:
        """Start the master, and wait until all workers are connected.

        Raises:
            UserError: If too few workers connected.
        """
        given = load_token.given()
        token = given or load_token.drawn()
        core = hosts.at("local").allot(os.environ.get("CORES")).generator[0]
        cluster = self._stack.enter_context(start(Cluster, [sys.executable, "-m", MASTER], ROOT, core))
        self._cluster = cluster
        atexit.register(self.close)
        try:
            cluster.open(token, self.host, self.port)
        except EngineError as error:
            raise UserError(f"--master-bind {self.host}:{self.port}: {error}") from None
        print(self._instructions("" if given else load_token.of_workers(token)), file=sys.stderr, flush=True)
        cluster.listen(lambda: len(cluster.here) >= self.count, self.max_wait_s)
        self._places = cluster.here[: self.count]
        if len(self._places) < self.count:
            why = "".join(f"; {one.refused}" for one in cluster.workers if one.refused)
            of_all = f"{len(self._places)} of {plural(self.count, 'worker')}"
            raise UserError(f"only {of_all} connected within {self.max_wait_s:g} s{why}")

    def _instructions(self, token: str) -> str:
        workers = plural(self.count, "worker")
        lines = [
            f"Waiting up to {self.max_wait_s:g} s for {workers}. To start a worker, run this command on "
            f"another machine with the same revision of this project:"
        ]
        lines.append(f"  {called()} worker {self.host}:{self.port}")
        if token:
            lines.append(f"Enter this token when the worker asks for it, or pass it on standard input: {token}")
        if self.host != LOOPBACK:
            lines.append(
                f"{self.host}:{self.port} must be on a private network. Anyone with the token can join the run and "
                "read the passwords of a journey's users."
            )
        return "\n".join(lines)
