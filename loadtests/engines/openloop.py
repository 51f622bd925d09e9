"""The project's own engine: Node and undici, an absolute schedule, time counted from the intended send."""

from __future__ import annotations

import dataclasses
from contextlib import AbstractContextManager

from loadtests.engines import node, require_able
from loadtests.engines.base import OnEnd, OnSecond, OnStart, Others, ShouldStop
from loadtests.errors import unknown
from loadtests.records.result import Result
from loadtests.workload import Feature, Load


@dataclasses.dataclass(frozen=True)
class Openloop:
    """See generator/openloop.js. The last processes of a load run on ``others``, one on each.

    Send k of a fixed rate is due at start + k / rate, decided before the first request. A late generator sends at
    once and skips nothing. A request takes the connection that was idle longest, else opens one, else (all
    ``connections`` busy) waits for one; all of that is in its response time.
    Without a rate, each connection sends as soon as it is answered. A
    replay's send k is due at the k-th of its recorded times. Which of several requests send k is for is fixed
    beforehand as well, by the load's seed; several processes share the sends in turn.

    No request is sent twice, not even where a server closes a kept connection at the moment of its use: that counts
    as ``reset``. Idle connections (``Load.idle_s``) are closed from this side, to keep that rare.
    """

    name = "openloop"
    label = "this project's own: sends by an absolute schedule"
    place = 1
    features = frozenset(Feature) - {Feature.JOURNEYS}

    others: Others = ()

    def shared_with(self, others: Others) -> Openloop:
        """See base.SharedEngine."""
        return Openloop(others)

    def require(self) -> None:
        """Raises EngineError where Node or its packages are not there."""
        node.require()

    def check(self, load: Load) -> None:
        """Raises UserError for an unknown protocol or dialect."""
        if load.protocol not in node.protocols():
            raise unknown("protocol", load.protocol, node.protocols())
        if load.conversation is not None and load.conversation.dialect not in node.dialects():
            raise unknown("dialect", load.conversation.dialect, node.dialects())

    def generator(self, processes: int = 1, core: int | None = None) -> AbstractContextManager[node.NodeGenerator]:
        """See base.SlicingEngine."""
        return node.running(self, processes, core, self.others)

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
        with self.generator(load.processes, load.core) as generator:
            return generator.make(load, on_second, should_stop, on_start, on_end).result()


ENGINE = Openloop()
