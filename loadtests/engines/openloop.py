"""The project's own engine: Node and undici, an absolute schedule, time counted from the intended send."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Iterator

from loadtests.engines import node, require_able
from loadtests.engines.base import OnEnd, OnSecond, OnStart, ShouldStop
from loadtests.engines.merge import merge
from loadtests.errors import unknown
from loadtests.hosts.link import Address
from loadtests.records.result import Result
from loadtests.workload import Feature, Load

MEASURED, WARM_UP = 0, -1  # which moments are drawn


@dataclasses.dataclass(frozen=True)
class Openloop:
    """See generator/openloop.js. Of the processes that make a load the last run on ``others``, one on each.

    Send k of a fixed rate is due at start + k / rate, decided before the first request. A late generator sends at
    once and skips nothing. A request takes an idle connection, else opens one, else (all ``connections`` busy) waits
    for one; all of that is in its response time. Without a rate, each connection sends as soon as it is answered. A
    replay's send k is due at the k-th of its recorded times.

    Which of several requests send k is for is fixed beforehand as well, by the load's seed; several processes take
    turns at them.

    No request is sent twice, not even where a server closes a kept connection at the moment of its use: that counts
    as ``reset``. Connections that idle (``Load.idle_s``) are closed from this side, to keep that rare.
    """

    name = "openloop"
    place = 1
    features = frozenset(Feature) - {Feature.JOURNEYS}

    others: tuple[Address, ...] = ()

    def shared_with(self, others: tuple[Address, ...]) -> Openloop:
        """See base.SharedEngine."""
        return Openloop(others)

    def require(self) -> None:
        """Raises EngineError where Node or its packages are not there."""
        node.require()

    def check(self, load: Load) -> None:
        """Raises UserError for a protocol or a dialect that the generator does not speak; all else that makes sense can
        be made."""
        if load.protocol not in node.protocols():
            raise unknown("protocol", load.protocol, node.protocols())
        if load.conversation is not None and load.conversation.dialect not in node.dialects():
            raise unknown("dialect", load.conversation.dialect, node.dialects())

    @contextlib.contextmanager
    def generator(self, processes: int = 1, core: int | None = None) -> Iterator[OpenloopMaker]:
        """See base.SlicingEngine."""
        with node.running(self.name, processes, core, self.others) as running:
            yield OpenloopMaker(running)

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
            prepared = generator.prepare(load)
            if load.warmup_s:
                prepared.warm_up(load.warmup_s)
            if on_start is not None:
                on_start()
            prepared.measure(load.duration_s, on_second=on_second, should_stop=should_stop)
            if on_end is not None:
                on_end()
            return prepared.result()


class OpenloopMaker:
    """See base.LoadMaker."""

    def __init__(self, running: node.Processes) -> None:
        self._running = running

    def prepare(self, load: Load) -> OpenloopLoad:
        """See base.LoadMaker."""
        require_able(ENGINE, load)
        return OpenloopLoad(load, self._running.prepare(load))

    def spins(self) -> dict[str, float]:
        """See base.LoadMaker."""
        return self._running.spins()


class OpenloopLoad:
    """See base.PreparedLoad."""

    def __init__(self, load: Load, prepared: node.NodeLoad) -> None:
        self._load = load
        self._prepared = prepared
        self._slices = 0
        self._measured_s = 0.0

    def step(self) -> None:
        """See base.PreparedLoad."""
        self._prepared.step()

    def warm_up(self, seconds: float) -> None:
        """See base.PreparedLoad."""
        self._prepared.slice(node.SchedulePart(seconds, 0.0, seconds), node.NONE, self._load.moments(WARM_UP))

    def measure(
        self,
        duration_s: float,
        *,
        settle_s: float = 0.0,
        on_second: OnSecond | None = None,
        should_stop: ShouldStop | None = None,
    ) -> None:
        """See base.PreparedLoad."""
        load = self._load
        # The rate is kept over all slices: each has its part of one schedule, of what is measured and of what settles.
        slices = max(self._slices + 1, math.ceil(load.duration_s / duration_s))
        settling = node.SchedulePart(settle_s, settle_s * self._slices, settle_s * slices)
        measured = node.SchedulePart(duration_s, self._measured_s, max(load.duration_s, self._measured_s + duration_s))
        self._prepared.slice(settling, measured, load.moments(MEASURED), on_second, should_stop)
        self._slices += 1
        self._measured_s += duration_s

    def result(self) -> Result:
        """See base.PreparedLoad."""
        parts, timeline = self._prepared.close()
        return merge(ENGINE.name, parts, timeline, self._load.requests)


ENGINE = Openloop()
