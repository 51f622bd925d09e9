"""Run the npm package ``loadtest``, which the load test of 2016 used, and return the package's own figures."""

from __future__ import annotations

import dataclasses

from loadtests.engines import node, require_able
from loadtests.engines.base import UNWATCHED, Watch
from loadtests.errors import UserError
from loadtests.records.result import NOTHING, Result
from loadtests.workload import Feature, Load


class Loadtest:
    """Generate load with the npm package ``loadtest`` (see generator/loadtest.js).

    The package measures times from the actual send, so the reported latency is a service time (``service_time_ms``).
    The times are in whole milliseconds, and include only requests that were answered as expected (the package itself
    also counts a 503). The package doesn't know the intended send, so ``response_time_ms`` and
    ``send_lag_ms`` contain None at a fixed rate. In a closed loop, the intended send is the actual send by definition,
    so the response time is the service time.

    At the end, the package drops requests in flight, without a grace period. These requests count as ``unfinished``. At
    a fixed rate, the package opens as many connections as it needs. ``connections`` limits only closed loops.
    """

    name = "loadtest"
    features = frozenset({Feature.FIXED_RATE, Feature.CLOSED_LOOP})

    def require(self) -> None:
        """Check that Node and its packages are installed.

        Raises:
            EngineError: If Node or a package is missing.
        """
        node.require()

    def check(self, load: Load) -> None:
        """Check that the package can generate the load.

        Raises:
            UserError: If the package can't generate the load.
        """
        if load.protocol != "http":
            raise UserError(f"the engine loadtest only supports HTTP. Use openloop for {load.protocol}")
        [request] = load.requests
        if request.closes:
            raise UserError("the engine loadtest can't send requests that close their connections. Use openloop")
        if request.method != "GET":
            raise UserError(f"the engine loadtest can't send {request.method}, only GET. Use openloop")

    def run(self, load: Load, watch: Watch = UNWATCHED) -> Result:
        require_able(self, load)  # check the load before any process is started
        with node.running(self, load.processes, load.core) as generator:
            measured = generator.make(load, watch)
        closed = load.rate is None
        service_time = measured.histograms["service_time"]
        return dataclasses.replace(
            measured,
            response_time_ms=measured.service_time_ms if closed else dict(NOTHING),
            latency_of="service_time",
            histograms={"service_time": service_time, **({"response_time": service_time} if closed else {})},
        )


ENGINE = Loadtest()
