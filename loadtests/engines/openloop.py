"""The project's own engine: Node and undici, an absolute schedule, time counted from the intended send."""

from __future__ import annotations

from loadtests.engines import node, require_able
from loadtests.engines.base import OnSecond, OnStart, ShouldStop
from loadtests.engines.merge import merge
from loadtests.errors import unknown
from loadtests.records.result import Result
from loadtests.workload import Feature, Load


class Openloop:
    """See generator/openloop.js.

    Send k of a fixed rate is due at start + k / rate, decided before the first request. A late generator sends at
    once and skips nothing. A request takes an idle connection, else opens one, else (all ``connections`` busy) waits
    for one; all of that is in its response time. Without a rate, each connection sends as soon as it is answered. A
    replay's send k is due at the k-th of its recorded times.

    Which of several requests send k is for is fixed beforehand as well, by the load's seed; several processes take
    turns at them.

    No request is sent twice, not even where a server closes a kept connection at the moment of its use: that counts
    as ``reset``. Connections idle for four seconds are closed from this side, to keep that rare.
    """

    name = "openloop"
    place = 1
    features = frozenset(Feature)

    def require(self) -> None:
        """Raises EngineError where Node or its packages are not there."""
        node.require()

    def check(self, load: Load) -> None:
        """Raises UserError for a protocol that the generator does not speak; all else that makes sense can be made."""
        if load.protocol not in node.protocols():
            raise unknown("protocol", load.protocol, node.protocols())

    def run(
        self,
        load: Load,
        on_second: OnSecond | None = None,
        should_stop: ShouldStop | None = None,
        on_start: OnStart | None = None,
    ) -> Result:
        """See base.Engine."""
        require_able(self, load)
        parts, timeline = node.run(self.name, load, on_second, should_stop, on_start)
        return merge(self.name, parts, timeline, load.requests)


ENGINE = Openloop()
