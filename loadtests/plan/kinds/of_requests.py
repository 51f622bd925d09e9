"""What all kinds of test have in common that send HTTP requests."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

from loadtests.formatting import plural
from loadtests.plan.kinds.base import Test, digest
from loadtests.setups import HTTP
from loadtests.setups.fetching import ORIGIN
from loadtests.workload import DEFAULT_ENGINE, Request

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclasses.dataclass(frozen=True, kw_only=True)
class RequestsTest(Test):
    """A test that sends HTTP requests: one, or a mix of several."""

    @property
    def short_description(self) -> str:
        return f"{self._sent} (the origin plays {Path(self.recipe).stem})" if self.recipe else self._sent

    @property
    def _sent(self) -> str:
        if len(self.requests) > 1:
            return f"a mix of {plural(len(self.requests), 'request')}"
        [request] = self.requests
        return f"{request.method} {request.path}"

    @property
    def exact_description(self) -> str:
        if self.requests == (Request(self._sent, path=self.requests[0].path),):
            return self.short_description
        return f"{self.short_description} ({digest([request.to_dict() for request in self.requests])})"

    @property
    def needs_memory_at_rest(self) -> bool:
        return ORIGIN in self.services  # what a request that waits for it takes is asked

    @property
    def can_interleave(self) -> bool:
        return self.engine == DEFAULT_ENGINE and self.search is None

    @property
    def setup_features(self) -> frozenset[str]:
        return frozenset({HTTP, *("head" for request in self.requests if request.method == "HEAD")})

    def with_requests(self, requests: tuple[Request, ...]) -> Self:
        return dataclasses.replace(self, requests=requests)
