"""The methods of google.datastore.v1.Datastore that are answered, over gRPC and HTTP: with a delay, and counted."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable
from typing import Any

from google.cloud.datastore_v1 import types

from loadtests.services.datastore.entities import Entities


@dataclasses.dataclass(frozen=True)
class Method:
    """A method: its name over gRPC, the message that it takes, and what answers it. Over HTTP its name begins with a
    small letter."""

    name: str
    request: Any
    answer: Callable[[Entities, Any], Any]

    @property
    def http_name(self) -> str:
        return self.name[0].lower() + self.name[1:]


METHODS = (
    Method("Lookup", types.LookupRequest.pb(), Entities.lookup),
    Method("Commit", types.CommitRequest.pb(), Entities.commit),
)


@dataclasses.dataclass
class MethodCounts:
    """How many requests of each method there were, and how many of all were worked on at once at most."""

    requests: dict[str, int] = dataclasses.field(default_factory=dict)
    in_flight: int = 0
    most_in_flight: int = 0


class Datastore:
    """The entities, behind a delay that stands for the way to a real one; in one event loop, so one request at a time
    is worked on, and any number waits."""

    def __init__(self, delay_s: float) -> None:
        self.delay_s = delay_s
        self.entities = Entities()
        self.counts = MethodCounts()

    def reset(self) -> None:
        """Forgets all."""
        self.entities.stored.clear()
        self.counts = MethodCounts()

    async def answer(self, method: Method, request: Any) -> Any:
        """The response to a request. Raises Refusal."""
        counts = self.counts
        counts.requests[method.name] = counts.requests.get(method.name, 0) + 1
        counts.in_flight += 1
        counts.most_in_flight = max(counts.most_in_flight, counts.in_flight)
        try:
            if self.delay_s:
                await asyncio.sleep(self.delay_s)
            return method.answer(self.entities, request)
        finally:
            counts.in_flight -= 1
