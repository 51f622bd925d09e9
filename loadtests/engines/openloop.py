"""Run this project's own engine, which uses Node.

The engine sends requests on a fixed schedule, and measures times from the intended send.
"""

from __future__ import annotations

import dataclasses
from contextlib import AbstractContextManager

from loadtests.engines import node, require_able
from loadtests.engines.base import UNWATCHED, Others, Watch
from loadtests.records.result import Result
from loadtests.workload import Feature, Load


@dataclasses.dataclass(frozen=True)
class Openloop:
    """Generate load with generator/openloop.js.

    The processes with the highest indexes run on ``others``, one process on each machine or worker.

    At a fixed rate with even arrivals, request k is due at start + k / rate. All due times are known before the first
    request. A late generator sends immediately, and doesn't skip requests. A request uses the connection that was idle
    for the longest time. If no connection is idle, the request opens a connection or, if all ``connections`` are busy,
    waits for a connection. Response time includes these delays.

    Without a rate, each connection sends a request as soon as it receives an answer. In a replay, request k is due at
    the k-th recorded time. In a mix, the load's seed determines the order of requests. If there are several processes,
    these processes take turns.

    No request is sent twice. If a server closes an idle connection when a request is about to use it, the request
    counts as ``reset``. To make such failures rare, the engine closes connections that are idle for ``Load.idle_s``.
    """

    name = "openloop"
    features = frozenset(Feature) - {Feature.JOURNEYS}

    others: Others = ()

    def shared_with(self, others: Others) -> Openloop:
        return Openloop(others)

    def require(self) -> None:
        """Check that Node and its packages are installed.

        Raises:
            EngineError: If Node or a package is missing.
        """
        node.require()

    def check(self, load: Load) -> None:
        """Accept all loads."""

    def generator(self, processes: int = 1, core: int | None = None) -> AbstractContextManager[node.NodeGenerator]:
        return node.running(self, processes, core, self.others)

    def run(self, load: Load, watch: Watch = UNWATCHED) -> Result:
        require_able(self, load)  # check the load before any process is started
        with self.generator(load.processes, load.core) as generator:
            return generator.make(load, watch)


ENGINE = Openloop()
