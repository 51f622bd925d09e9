"""Describe a load, which an engine sends to a server."""

from __future__ import annotations

import dataclasses
import math
import zlib
from enum import Enum
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from loadtests.errors import UserError
from loadtests.formatting import plural
from loadtests.workload.conversation import MAX_CONNECTIONS, Conversation
from loadtests.workload.event_streams import EventStreams
from loadtests.workload.request import TICKET, Request, Workload
from loadtests.workload.secrets import without_login
from loadtests.workload.users import Users

DEFAULT_CONNECTIONS_CLOSED = 10
DEFAULT_CONNECTIONS_FIXED = 1000  # below a server's usual limit of 1,024 open files

MAX_RATE = 1_000_000.0
MAX_DURATION_S = 24 * 3600.0
MAX_REQUESTS = 1_000_000_000
MAX_PROCESSES = 64


DEFAULT_ENGINE = "openloop"  # the only engine with all features


class Feature(Enum):
    """The optional features of engines. The values complete the error message ``the engine ... cannot``."""

    FIXED_RATE = "send at a fixed rate"
    CLOSED_LOOP = "send in a closed loop"
    MIX = "send a mix of requests"
    REPLAY = "replay a recording"
    RANDOM_ARRIVALS = "send at random moments"
    PROCESSES = "share a load among several processes"
    EARLY_STOP = "stop a probe early"
    RESPONSE_TIME = "measure times from the intended send"
    SILENT = "hold silent connections"
    TLS = "trust the certificate of a run"
    JOURNEYS = "run the journeys of users"
    LOGIN = "send requests of logged-in users"


@dataclasses.dataclass(frozen=True)
class Load:
    """A load on a server: the requests, their mix and their times.

    Args:
        origin: The server's address without a path, such as ``http://127.0.0.1:8000``.
        requests: The requests. Only their weights and ``seed`` determine their order (see
            ``loadtests.workload.order``).
        bodies: The expected bodies in the order of the requests. None means that a body isn't checked. The tuple can be
            empty.
        recorded: For a replay, the time of each send (in seconds after the start, ascending) and the index of its
            request. In that case, ``rate`` is the mean rate, which the warm-up uses.
        seed: The seed of the requests' order.
        rate: The requests per second. None means a closed loop: each connection sends as soon as it receives an answer.
            The rate is 0 if a conversation only holds connections.
        arrival_seed: The seed of random send times, as if users were independent. None means even times.
        connections: The number of connections in a closed loop, or the maximum at a fixed rate. The default is 10 in a
            closed loop, or if messages are sent over open connections. Otherwise, the default is 1,000.
        silent: The number of additional connections that send nothing. If the server closes such a connection, the
            client connects again.
        duration_s: The duration of the measurement, in seconds.
        warmup_s: The seconds for which the same load is sent before the measurement.
        timeout_s: The maximum time of a request while the schedule runs (error ``timeout``).
        grace_s: The time for outstanding requests after the schedule's end. The default is ``timeout_s``.
        listens_s: The seconds after the end in which duplicate and stray messages are still counted.
        processes: The number of processes that share the rate and the connections, or the users. In a broadcast, the
            processes share the rooms and their receivers, and the publishing process of a room opens ``connections``
            publishers for the room.
        core: The CPU core on which all processes run.
        keep_alive: Whether connections stay open between requests.
        idle_s: The engine closes a connection that is idle for this time, so that the server doesn't close it at the
            moment when it is used. Servers usually wait for at least five seconds.
        answer_s: The time of an answer without load, or 0 if it isn't known. A longer silence is a pause of the server.
        protocol: The protocol, which is the name of a file in generator/protocols/. With ``websocket``, there is a
            ``conversation``, and a single request with the path and headers of the handshakes. Messages count as
            requests.
        conversation: The WebSocket messages and connections.
        cookies: The Cookie headers of users who take turns to send the requests that have no cookie.
        users: Users who run a journey. In that case, nothing else is sent, and all requests of the users have the
            headers of the load's only request. The users arrive during ``warmup_s``.
        streams: The streams that are read while the requests are sent, with the protocol ``events``.
        slow_streams: More streams, which are counted separately.
        ca: The certificate (PEM) to trust for https://. The default is the system's certificates.
        resumption: Whether a new connection resumes a TLS session if the server supports this. Otherwise, each
            connection starts with a full handshake.

    Raises:
        UserError: If a value isn't valid.
    """

    origin: str
    requests: tuple[Request, ...]
    bodies: tuple[bytes | None, ...] = ()
    recorded: tuple[tuple[float, int], ...] = ()
    seed: int = 2016
    rate: float | None = None
    arrival_seed: int | None = None
    connections: int | None = None
    silent: int = 0
    duration_s: float = 10.0
    warmup_s: float = 0.0
    timeout_s: float = 10.0
    grace_s: float | None = None
    listens_s: float = 0.0
    processes: int = 1
    core: int | None = None
    keep_alive: bool = True
    idle_s: float = 4.0
    answer_s: float = 0.0
    protocol: str = "http"
    conversation: Conversation | None = None
    cookies: tuple[str, ...] = dataclasses.field(default=(), repr=False)
    users: Users | None = None
    streams: EventStreams | None = None
    slow_streams: EventStreams | None = None
    ca: str | None = None
    resumption: bool = True

    @classmethod
    def of_url(cls, url: str, *, bodies: tuple[bytes | None, ...] = (), **options: Any) -> Load:
        """Return a load of GET requests to one URL. ``options`` are other fields."""
        origin, path = split(url)
        return cls(origin, (Request(f"GET {path}", path=path),), bodies, **options)

    def __post_init__(self) -> None:
        Workload(self.requests)
        _check_range("the duration", self.duration_s, MAX_DURATION_S, "s")
        _check_range("the timeout", self.timeout_s, MAX_DURATION_S, "s")
        _check_range("the grace period", self.grace, MAX_DURATION_S, "s")
        if self.warmup_s:
            _check_range("the warm-up", self.warmup_s, MAX_DURATION_S, "s")
        self._check_conversation()
        if self.rate is not None and not self.only_holds:
            _check_range("the rate", self.rate, MAX_RATE, "requests per second")
            if self.rate * self.duration_s > MAX_REQUESTS:
                raise UserError(
                    f"{self.rate:g} requests per second for {self.duration_s:g} s are more than {MAX_REQUESTS:,}"
                )
            if self.planned < self.processes:
                raise UserError(
                    f"{self.rate:g} requests per second for {self.duration_s:g} s are "
                    f"{plural(self.planned, 'request')}, fewer than {plural(self.processes, 'process', 'processes')}"
                )
        _check_count("processes", self.processes, MAX_PROCESSES)
        _check_count("connections", self.connection_count, MAX_CONNECTIONS)
        if self.conversation is None or not self.conversation.publishes:
            self._require_shared("connection", self.connection_count)

    def _check_conversation(self) -> None:
        for streams in self.all_streams:
            self._require_shared("stream", streams.count)
        talk = self.conversation
        if talk is None:
            if any(request.ticket for request in self.requests):
                raise UserError(f"{TICKET} only works in the paths of WebSockets and event streams")
            return
        if (self.rate == 0) != self.only_holds:
            raise UserError(f"the rate 0 is for idle connections only. This load is {talk.does} at {self.rate}")
        if talk.receivers:
            self._require_shared("receiver", talk.receivers)

    def _require_shared(self, what: str, count: int) -> None:
        if count < self.processes:
            processes = plural(self.processes, "process", "processes")
            raise UserError(f"{plural(count, what)} cannot be shared by {processes}")

    @property
    def grace(self) -> float:
        """The value of ``grace_s``, or its default if it isn't set."""
        return self.timeout_s if self.grace_s is None else self.grace_s

    @property
    def all_streams(self) -> tuple[EventStreams, ...]:
        """All streams of the load. The slow streams come last."""
        return tuple(one for one in (self.streams, self.slow_streams) if one)

    @property
    def only_holds(self) -> bool:
        """Whether the load only holds connections open and sends nothing over them."""
        return self.conversation is not None and self.conversation.does == "idle"

    @property
    def connection_count(self) -> int:
        """The value of ``connections``, or its default if it isn't set."""
        if self.connections is not None:
            return self.connections
        few = self.rate is None or (self.conversation is not None and self.conversation.sends)
        return DEFAULT_CONNECTIONS_CLOSED if few else DEFAULT_CONNECTIONS_FIXED

    @property
    def planned(self) -> int:
        """The number of requests that are due before the end, including a request at the start, or 0 without a rate.

        generator/schedule.js calculates the same number.
        """
        if self.recorded:
            return len(self.recorded)
        return 0 if self.rate is None else math.ceil(self.rate * self.duration_s - 1e-6)

    @property
    def turns(self) -> int:
        """The number of senders that take turns: one for each process, or in a broadcast one for each room."""
        talk = self.conversation
        return talk.rooms if talk is not None and talk.publishes else self.processes

    @property
    def counts_each(self) -> float:
        """The number of units that each send counts as: its deliveries in a broadcast, or else 1."""
        return 1.0 if self.conversation is None else self.conversation.counts_each

    def moments(self, turn: int) -> int | None:
        """Return the seed of the random send times for a turn, or None for even times. Turns have different seeds."""
        return None if self.arrival_seed is None else zlib.crc32(f"{self.arrival_seed} {turn}".encode())

    def probing(self, rate: float, duration_s: float, turn: int) -> Load:
        """Return the load of a search's probe, with new send times, and a new rate or number of users or streams."""
        paced: dict[str, Any] = {"rate": rate / self.counts_each}
        if self.users is not None:
            users = self.users.as_many(rate)
            paced = {"users": users, "connections": max(users.users or 1, self.processes)}
        if self.streams is not None:
            paced = {"streams": dataclasses.replace(self.streams, count=round(rate))}
        return dataclasses.replace(self, duration_s=duration_s, arrival_seed=self.moments(turn), **paced)

    @property
    def features(self) -> frozenset[Feature]:
        """The features that an engine needs for this load."""
        used = {
            Feature.TLS: self.ca is not None,
            Feature.PROCESSES: self.processes > 1,
            Feature.SILENT: self.silent > 0,
        }
        if self.users is not None:
            used[Feature.JOURNEYS] = True
        else:
            used |= {
                Feature.FIXED_RATE: self.rate is not None and not self.recorded,
                Feature.CLOSED_LOOP: self.rate is None,
                Feature.MIX: len(self.requests) > 1,
                Feature.REPLAY: bool(self.recorded),
                Feature.LOGIN: bool(self.cookies),
                Feature.RANDOM_ARRIVALS: self.arrival_seed is not None and not self.recorded,
            }
        return frozenset(feature for feature, needed in used.items() if needed)


def split(url: str) -> tuple[str, str]:
    """Split a URL into its origin and its path with query.

    Raises:
        UserError: If load can't be sent to the URL, or if the URL contains a user name, which would have to be sent as
            a header.
    """
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good or not url.isascii() or any(character.isspace() for character in url):
        shown = without_login(url)
        raise UserError(f"{shown!r} is not a URL for a load. It should look like http://127.0.0.1:8000/")
    if "@" in parts.netloc:
        raise UserError(f"{without_login(url)} contains a login. Send it in the header Authorization")
    return f"{parts.scheme}://{parts.netloc}", urlunsplit(("", "", parts.path or "/", parts.query, ""))


def _check_range(what: str, value: float, highest: float, unit: str) -> None:
    if not 0 < value <= highest:  # false also for NaN
        raise UserError(f"{what} must be over 0 and at most {highest:,.0f} {unit}, not {value:g}")


def _check_count(what: str, value: int, highest: int) -> None:
    if not 1 <= value <= highest:
        raise UserError(f"the number of {what} must be from 1 to {highest:,}, not {value}")
