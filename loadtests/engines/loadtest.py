"""The npm package ``loadtest``, the tool of the 2016 test, with its own figures."""

from __future__ import annotations

import dataclasses

from loadtests.engines import node, require_able
from loadtests.engines.base import OnEnd, OnSecond, OnStart, ShouldStop
from loadtests.errors import UserError
from loadtests.records.result import NOTHING, Figures, Result
from loadtests.workload import Feature, Load

METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH")


class Loadtest:
    """See generator/loadtest.js.

    The package starts its clock at the actual send. Its latency is therefore a service time, and
    ``service_time_ms`` is where it stands: whole milliseconds, no p99.9, and only of requests answered as expected
    (the package itself would count a 503's). It knows no intended send, so at a fixed rate ``response_time_ms`` and
    ``send_lag_ms`` hold None; in a closed loop the two sends are one by definition, and response time is service time.

    It drops what is in flight at the end, without a grace period: ``unfinished``. At a fixed rate it opens as many
    connections as it comes to need; ``connections`` counts in a closed loop only.
    """

    name = "loadtest"
    label = "the npm package of the load test of 2016"
    place = 2
    features = frozenset({Feature.FIXED_RATE, Feature.CLOSED_LOOP})

    def require(self) -> None:
        """Raises EngineError where Node or its packages are not there."""
        node.require()

    def check(self, load: Load) -> None:
        """Raises UserError for what the package cannot do."""
        if load.protocol != "http":
            raise UserError(f"the engine loadtest speaks HTTP only; use openloop for {load.protocol}")
        [request] = load.requests
        if request.closes:
            raise UserError("the engine loadtest keeps all of its connections or none; use openloop")
        if request.method not in METHODS:
            raise UserError(f"the engine loadtest cannot send {request.method}; it knows {', '.join(METHODS)}")
        for what, body in (("send", request.body), *(("expect", body) for body in load.bodies)):
            try:
                (body or b"").decode()
            except UnicodeDecodeError:
                raise UserError(f"the engine loadtest cannot {what} a body that is not UTF-8; use openloop") from None

    def run(
        self,
        load: Load,
        on_second: OnSecond | None = None,
        should_stop: ShouldStop | None = None,
        on_start: OnStart | None = None,
        on_end: OnEnd | None = None,
    ) -> Result:
        """See base.Engine."""
        require_able(self, load)  # before anything is started
        with node.running(self, load.processes, load.core) as generator:
            prepared = generator.make(load, on_second, should_stop, on_start, on_end)
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
