"""Run the project's own engine: Node and undici, a fixed schedule, and times from the intended send."""

from __future__ import annotations

import dataclasses
from contextlib import AbstractContextManager

from loadtests.engines import node, require_able
from loadtests.engines.base import UNWATCHED, Others, Watch
from loadtests.errors import unknown
from loadtests.records.result import Result
from loadtests.workload import Feature, Load


@dataclasses.dataclass(frozen=True)
class Openloop:
    """See generator/openloop.js. The last processes of a load run on ``others``, one on each.

    Send k of a fixed rate is due at start + k / rate, which is known before the first request. A late generator sends
    at once and doesn't skip anything. A request uses the connection that was idle longest, or else opens a connection,
    or else (if all ``connections`` are busy) waits for one. Response time includes all of this.

    Without a rate, each connection sends as soon as it gets an answer. Send k of a replay is due at the k-th recorded
    time. The load's seed also determines the request of each send. Several processes take turns.

    No request is sent twice, even if a server closes an idle connection at the moment of its use. This counts as
    ``reset``. To make it rare, the engine closes connections that are idle for ``Load.idle_s``.
    """

    name = "openloop"
    label = "this project's load generator, with an absolute schedule"
    place = 1
    features = frozenset(Feature) - {Feature.JOURNEYS}

    others: Others = ()

    def shared_with(self, others: Others) -> Openloop:
        return Openloop(others)

    def require(self) -> None:
        """Check that Node and its packages are installed.

        Raises:
            EngineError: If they aren't.
        """
        node.require()

    def check(self, load: Load) -> None:
        """Check the protocol and the dialect.

        Raises:
            UserError: If one is unknown.
        """
        if load.protocol not in node.protocols():
            raise unknown("protocol", load.protocol, node.protocols())
        if load.conversation is not None and load.conversation.dialect not in node.dialects():
            raise unknown("dialect", load.conversation.dialect, node.dialects())

    def generator(self, processes: int = 1, core: int | None = None) -> AbstractContextManager[node.NodeGenerator]:
        return node.running(self, processes, core, self.others)

    def run(self, load: Load, watch: Watch = UNWATCHED) -> Result:
        require_able(self, load)  # before anything is started
        with self.generator(load.processes, load.core) as generator:
            return generator.make(load, watch).result()


ENGINE = Openloop()
