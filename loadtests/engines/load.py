"""What an engine is asked to do."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from urllib.parse import urlsplit

from loadtests.errors import UserError

DEFAULT_CONNECTIONS_CLOSED = 10
DEFAULT_CONNECTIONS_FIXED = 1000  # below the 1,024 open files that many servers are allowed

MAX_RATE = 1_000_000.0
MAX_DURATION_S = 24 * 3600.0
MAX_REQUESTS = 1_000_000_000
MAX_CONNECTIONS = 60_000  # an address has about so many ports
MAX_PROCESSES = 64


@dataclasses.dataclass(frozen=True)
class Load:
    """One load on one URL.

    ``rate`` is in requests per second; None means a closed loop (autothrottled): each of ``connections`` sends as
    soon as it is answered. At a fixed rate ``connections`` is the most that are opened. None takes 10 in a closed
    loop and 1,000 at a fixed rate.

    ``timeout_s``: while the schedule runs, a request unanswered for so long is given up (error ``timeout``); after
    the schedule's end, those outstanding get so long to be answered (the grace period).

    ``warmup_s``: for so long the same load is sent beforehand, and nothing of it is kept.

    ``expect_body`` None means that the body is not checked. ``processes`` share the rate and the connections.
    ``core`` pins all of them to that CPU.

    Raises UserError where a value makes no sense.
    """

    url: str
    method: str = "GET"
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict)
    body: bytes | None = None
    expect_status: int = 200
    expect_body: str | bytes | None = None
    rate: float | None = None
    connections: int | None = None
    duration_s: float = 10.0
    warmup_s: float = 0.0
    timeout_s: float = 10.0
    processes: int = 1
    core: int | None = None
    keep_alive: bool = True

    def __post_init__(self) -> None:
        _check_url(self.url)
        if not self.method.isalpha() or not self.method.isascii():
            raise UserError(f"{self.method!r} is not an HTTP method")
        _check_range("the duration", self.duration_s, MAX_DURATION_S, "s")
        _check_range("the timeout", self.timeout_s, MAX_DURATION_S, "s")
        if self.warmup_s:
            _check_range("the warm-up", self.warmup_s, MAX_DURATION_S, "s")
        if self.rate is not None:
            _check_range("the rate", self.rate, MAX_RATE, "requests per second")
            if self.rate * self.duration_s > MAX_REQUESTS:
                raise UserError(
                    f"{self.rate:g} requests per second for {self.duration_s:g} s are over {MAX_REQUESTS:,}"
                )
            if self.planned < self.processes:
                raise UserError(
                    f"{self.rate:g} requests per second for {self.duration_s:g} s are {self.planned} requests, "
                    f"fewer than {self.processes} processes"
                )
        _check_count("processes", self.processes, MAX_PROCESSES)
        _check_count("connections", self.connection_count, MAX_CONNECTIONS)
        if self.connection_count < self.processes:
            raise UserError(f"{self.connection_count} connections cannot be shared by {self.processes} processes")

    @property
    def connection_count(self) -> int:
        """``connections``, or what stands for None."""
        if self.connections is not None:
            return self.connections
        return DEFAULT_CONNECTIONS_CLOSED if self.rate is None else DEFAULT_CONNECTIONS_FIXED

    @property
    def planned(self) -> int:
        """How many requests the schedule holds: those due before its end, the first at its start; 0 without a rate.

        The same arithmetic as in generator/schedule.js.
        """
        return 0 if self.rate is None else math.ceil(self.rate * self.duration_s - 1e-6)


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good or not url.isascii() or any(character.isspace() for character in url):
        raise UserError(f"{url!r} is not a URL that can be loaded; it should look like http://127.0.0.1:8000/")


def _check_range(what: str, value: float, highest: float, unit: str) -> None:
    if not 0 < value <= highest:  # false for NaN as well
        raise UserError(f"{what} must be over 0 and at most {highest:,.0f} {unit}, not {value:g}")


def _check_count(what: str, value: int, highest: int) -> None:
    if not 1 <= value <= highest:
        raise UserError(f"the number of {what} must be from 1 to {highest:,}, not {value}")
