"""Run the npm package ``loadtest``, which the test of 2016 used, with its own figures."""

from __future__ import annotations

import dataclasses

from loadtests.engines import node, require_able
from loadtests.engines.base import UNWATCHED, Watch
from loadtests.errors import UserError
from loadtests.records.result import NOTHING, Figures, Result
from loadtests.workload import Feature, Load

METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH")


class Loadtest:
    """See generator/loadtest.js.

    The package starts its clock at the actual send, so its latency is a service time, in ``service_time_ms``. It has
    whole milliseconds, lacks p99.9, and includes only requests that were answered as expected (the package itself also
    counts a 503). It doesn't know the intended send, so at a fixed rate ``response_time_ms`` and ``send_lag_ms``
    contain None. In a closed loop, the two sends are the same by definition, so response time is service time.

    It drops requests in flight at the end, without a grace period. They count as ``unfinished``. At a fixed rate it
    opens as many connections as it needs. ``connections`` only limits a closed loop.
    """

    name = "loadtest"
    label = "the npm package of the load test of 2016"
    place = 2
    features = frozenset({Feature.FIXED_RATE, Feature.CLOSED_LOOP})

    def require(self) -> None:
        """Check that Node and its packages are installed.

        Raises:
            EngineError: If they aren't.
        """
        node.require()

    def check(self, load: Load) -> None:
        """Check that the package can generate the load.

        Raises:
            UserError: If it can't.
        """
        if load.protocol != "http":
            raise UserError(f"the engine loadtest only supports HTTP. Use openloop for {load.protocol}")
        [request] = load.requests
        if request.closes:
            raise UserError("the engine loadtest can't keep only a part of its connections open. Use openloop")
        if request.method not in METHODS:
            raise UserError(f"the engine loadtest can't send {request.method}, only {', '.join(METHODS)}. Use openloop")
        for what, body in (("send", request.body), *(("expect", body) for body in load.bodies)):
            try:
                (body or b"").decode()
            except UnicodeDecodeError:
                raise UserError(f"the engine loadtest cannot {what} a body that is not UTF-8. Use openloop") from None

    def run(self, load: Load, watch: Watch = UNWATCHED) -> Result:
        require_able(self, load)  # before anything is started
        with node.running(self, load.processes, load.core) as generator:
            prepared = generator.make(load, watch)
            measured = prepared.result()
        own: Figures = prepared.parts[0]["own_ms"] or dict(NOTHING)
        closed = load.rate is None
        service_time = measured.histograms["service_time"]
        return dataclasses.replace(
            measured,
            response_time_ms=dict(own) if closed else dict(NOTHING),
            service_time_ms=own,
            latency_of="service_time",
            histograms={"service_time": service_time, **({"response_time": service_time} if closed else {})},
        )


ENGINE = Loadtest()
