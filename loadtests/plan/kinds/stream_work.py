"""Define the work of tests with streams: server-sent events, other requests at the same time, and their paces."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from msgspec import Meta

from loadtests.formatting import plural
from loadtests.plan.kinds.pace import FixedRate, Pace, Rate
from loadtests.plan.kinds.search import Search
from loadtests.plan.kinds.work import Work
from loadtests.plan.objective import OF_STREAMS, Objective, SearchPlan
from loadtests.plan.percentiles import requests_needed
from loadtests.records.bounds import Ordinal
from loadtests.records.decode import Duration
from loadtests.setups import HTTP
from loadtests.workload import EventStreams, Load, Request
from loadtests.workload.conversation import MAX_CONNECTIONS
from loadtests.workload.event_streams import PROTOCOL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

    from loadtests.plan.fields import TablePlace

LONGEST_S = 10.0  # The maximum length of a stream, because every setup must answer a whole stream before its trial.
ENDINGS = "/events/ended"  # The path that returns the ended views.
LARGEST = 1024 * 1024  # The maximum size of an event in bytes.
MORE_S = 2.0  # The grace period for late streams, in addition to the length of a stream.
PROBE_GRACE_S = 1.0  # The grace period after a probe. A stream without an event then counts as unanswered.


@dataclasses.dataclass(frozen=True, kw_only=True)
class Streaming(Work):
    """Read streams of events from an endpoint, and restart each stream after its end.

    The pace defines the number of streams at once and the rate of other requests.

    Args:
        path: The endpoint, which accepts the parameters ``events`` and ``every``.
        events: The number of events in a stream.
        every_s: The seconds between two events.
        meanwhile: The path of the other requests.
        leave_s: The seconds from the time when a stream was due until its client leaves.
        slow: The number of additional clients that read slowly.
        pause_s: The seconds for which slow clients read nothing after their first event.
        size: The size of an event for slow clients, in bytes.
    """

    can_interleave = False
    terms = OF_STREAMS

    path: Annotated[str, Meta(pattern=r"^/", description="The endpoint that sends the events.")] = "/either/events"
    events: Annotated[Ordinal, Meta(description="The number of events in a stream.")] = 40
    every_s: Annotated[Duration, Meta(description="The time between two events.")] = 0.05
    meanwhile: Annotated[str, Meta(pattern=r"^/", description="The path of the other requests.")] = "/"
    leave_s: Annotated[Duration | None, Meta(description="The time until each client leaves.")] = None
    slow: Annotated[int, Meta(ge=0, le=MAX_CONNECTIONS, description="Additional clients that read slowly.")] = 0
    pause_s: Annotated[Duration, Meta(description="The time for which slow clients read nothing.")] = 4.0
    size: Annotated[int, Meta(ge=1, le=LARGEST, description="The bytes of an event for slow clients.")] = 256 * 1024

    @classmethod
    def from_keys(cls, values: Mapping[str, Any], place: TablePlace) -> Self:
        found = super().from_keys(values, place)
        if found.length_s > LONGEST_S:
            raise ValueError(f"events: a stream can last at most {LONGEST_S:g} s, not {found.length_s:g}")
        return found

    @property
    def every_ms(self) -> int:
        """The interval between events in milliseconds."""
        return round(self.every_s * 1000)

    @property
    def length_s(self) -> float:
        """The length of a stream in seconds, without delays."""
        return self.events * self.every_s

    @property
    def opening_s(self) -> float:  # type: ignore[override]
        # One stream is read before the load, and some streams still run after the load.
        return 2 * self.length_s + (self.pause_s if self.slow else 0)

    @property
    def all_requests(self) -> tuple[Request, ...]:
        path = f"{self.path}{'&' if '?' in self.path else '?'}events={self.events}&every={self.every_ms}"
        asked = [(self.meanwhile, self.meanwhile), (self.path, path)]
        if self.slow:
            asked.append((f"{self.path}, slowly", f"{path}&size={self.size}"))
        return tuple(Request(f"GET {name}", path=path) for name, path in asked)

    @property
    def comparison_key(self) -> tuple[object, ...]:
        return tuple(vars(self).values())

    @property
    def setup_features(self) -> frozenset[str]:
        return frozenset({HTTP})

    def with_requests(self, requests: Sequence[Request]) -> Self:
        """Return the work with the first path as the endpoint, and the second path, if any, for the other requests."""
        path, *others = (request.path for request in requests)
        return dataclasses.replace(self, path=path, meanwhile=others[0] if others else self.meanwhile)

    def needs_memory_at_rest(self, services: Sequence[str]) -> bool:
        return True

    def quick(self) -> Self:
        return dataclasses.replace(self, events=math.ceil(self.events / 2))

    def load(self, pace: Pace, fields: dict[str, Any]) -> Load:
        other, stream, *slow = fields["requests"]
        body, streamed, *_ = fields["bodies"] or (None, None)
        streams = EventStreams(stream, fields["streams"], self.events, self.every_ms / 1000, streamed)
        grace_s = PROBE_GRACE_S if isinstance(pace, StreamSearch) else streams.length_s + MORE_S
        shared = {"requests": (other,), "bodies": (body,), "streams": streams, "grace_s": grace_s}
        if slow:
            slowly = dataclasses.replace(streams, request=slow[0], count=self.slow, body=None, pause_s=self.pause_s)
            shared |= {"slow_streams": slowly, "grace_s": grace_s + self.pause_s}
        if self.leave_s is not None:
            endings = dataclasses.replace(stream, name=f"GET {ENDINGS}", path=ENDINGS)
            shared |= {"streams": dataclasses.replace(streams, leave_s=self.leave_s, endings=endings)}
        return Load(**{**fields, **shared}, protocol=PROTOCOL)

    def subject(self, pace: Pace) -> str:
        many = plural(pace.streams, "stream") if isinstance(pace, MeanwhileRate) else "streams"
        return (
            f"{many} of {self.events} events ({self.path}, one every {self.every_ms} ms) and "
            f"GET {self.meanwhile} meanwhile{self._who}{self._clients}"
        )

    @property
    def _clients(self) -> str:
        leave = f", clients leaving after {self.leave_s:g} s" if self.leave_s else ""
        slow = f", {plural(self.slow, 'slow client')} next to them" if self.slow else ""
        return f"{leave}{slow}"


@dataclasses.dataclass(frozen=True, kw_only=True)
class MeanwhileRate(FixedRate):
    """A number of streams at once, and a fixed rate of other requests."""

    streams: Annotated[int, Meta(ge=1, le=MAX_CONNECTIONS, description="The number of streams at once.")] = 100

    compared = (*FixedRate.compared, "streams")
    quick_times: ClassVar[dict[str, float]] = {"duration_s": 4.0}  # enough for several streams of half the length

    def load(self, seed: int) -> dict[str, Any]:
        return {**super().load(seed), "streams": self.streams}


@dataclasses.dataclass(frozen=True, kw_only=True)
class StreamSearch(Search):
    """A search for the most streams at once, while other requests are sent at a fixed ``rate``."""

    rate: Rate = 100.0

    unit = "streams"
    compared = ("objective", "rate")
    step_ratio = 0.1

    @property
    def rates(self) -> tuple[float, float]:
        return 1.0, float(MAX_CONNECTIONS)

    @property
    def probes(self) -> tuple[int, int]:
        return 9, 4  # measured values, because the p99 of so few requests varies more than in the simulation

    @property
    def seconds(self) -> float:
        return super().seconds + sum(self.probes) * PROBE_GRACE_S

    def phrase(self, work: Work, unit: str) -> str:
        return f" at {self.rate:g} {unit}s per second, the most streams at once within {self.objective}"

    def load(self, seed: int) -> dict[str, Any]:
        paced = {"rate": self.rate, "arrival_seed": seed, "streams": round(self.start_rate)}
        return {"duration_s": self.probe_s, **paced}

    def plan(self, work: Work, counts: str, unit: str) -> tuple[Objective, SearchPlan]:
        assert isinstance(work, Streaming)
        objective, plan = super().plan(work, counts, unit)
        # The starts of the streams are spread over the length of a stream, so a probe takes at least twice this time.
        # The rate of other requests is the same in every probe, so the time for enough requests is known.
        short_s = max(self.probe_s, 2 * work.length_s)
        needed = max((requests_needed(limit.percentile) for limit in objective.limits if not limit.of), default=0)
        long_s = max(self.confirm_s, short_s, needed / self.rate)
        return objective, dataclasses.replace(plan, short_s=short_s, long_s=long_s, requests=0, whole=True)
