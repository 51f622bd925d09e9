"""Implement methods of google.datastore.v1.Datastore for gRPC and HTTP, with a delay and counts."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable
from typing import Any

from google.cloud.datastore_v1 import types

from loadtests.services.datastore.entities import Entities


@dataclasses.dataclass(frozen=True)
class Method:
    """A method of the datastore's protocol.

    Args:
        name: The method's name over gRPC. Over HTTP, the first letter is lower case.
        request: The type of the method's requests.
        answer: The function that answers a request.
    """

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
    """The number of requests to each method, and the current and the maximum number of requests in progress."""

    requests: dict[str, int] = dataclasses.field(default_factory=dict)
    in_flight: int = 0
    most_in_flight: int = 0


class Datastore:
    """The entities behind a delay that represents the network to a real datastore.

    The event loop executes one request at a time, while any number of requests can wait for the delay.
    """

    def __init__(self, delay_s: float) -> None:
        self.delay_s = delay_s
        self.entities = Entities()
        self.counts = MethodCounts()

    def reset(self) -> None:
        """Delete all entities and counts."""
        self.entities.stored.clear()
        self.counts = MethodCounts()

    async def answer(self, method: Method, request: Any) -> Any:
        """Return the response to a request.

        Raises:
            Refusal: If the request isn't valid or isn't implemented.
        """
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
