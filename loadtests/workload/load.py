"""What an engine has to do."""

from __future__ import annotations

import dataclasses
import math
import zlib
from enum import Enum
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from loadtests.errors import UserError
from loadtests.formatting import plural
from loadtests.workload.conversation import MOST_CONNECTIONS, Conversation
from loadtests.workload.event_streams import PROTOCOL, EventStreams
from loadtests.workload.request import Request, Workload
from loadtests.workload.secrets import without_login
from loadtests.workload.users import Users

DEFAULT_CONNECTIONS_CLOSED = 10
DEFAULT_CONNECTIONS_FIXED = 1000  # below the 1,024 open files that many servers are allowed

MAX_RATE = 1_000_000.0
MAX_DURATION_S = 24 * 3600.0
MAX_REQUESTS = 1_000_000_000
MAX_CONNECTIONS = MOST_CONNECTIONS
MAX_PROCESSES = 64


DEFAULT_ENGINE = "openloop"  # the one that can do all of it

ARRIVALS = ("random", "even")  # when the requests of a rate are due


class Feature(Enum):
    """What an engine may be able to do, in words that end ``the engine ... cannot``."""

    FIXED_RATE = "send at a fixed rate"
    CLOSED_LOOP = "send as fast as it is answered"
    MIX = "send a mix of requests"
    REPLAY = "replay a recording"
    RANDOM_ARRIVALS = "send at random moments"
    PROCESSES = "share a load among several processes"
    EARLY_STOP = "stop a probe that is lost"
    RESPONSE_TIME = "count time from the intended send"
    TLS = "trust the certificate of a run"
    JOURNEYS = "have users walk a journey"


@dataclasses.dataclass(frozen=True)
class Load:
    """One load on one server: requests, how they are mixed, and when they are sent.

    ``protocol`` is what is spoken, by the name that the generator has for it (a file of generator/protocols/). Over
    ``websocket`` there is a ``conversation``, and one request, whose path and headers are those of the handshakes; its
    sends are what is called requests here.

    ``origin`` is the address without a path, ``http://127.0.0.1:8000``. The ``requests`` are sent in a mix by their
    weights, whose order depends on nothing but them and ``seed`` (see ``loadtests.workload.order``). ``bodies`` are
    what they should be answered with, in the order of the requests; None means that a body is not checked, and where
    all are None there may be none.

    ``rate`` is in requests per second; None means a closed loop (autothrottled): each of ``connections`` sends as
    soon as it is answered. At a fixed rate ``connections`` is the most that are opened. None takes 10 in a closed
    loop and 1,000 at a fixed rate; 10 where messages are sent over connections that are held. A conversation that only
    holds connections has the rate 0.

    ``arrival_seed`` says that the moments of a fixed rate are random, as those of users who know nothing of each other,
    and which they are: the same seed gives the same. None: they are even.

    ``recorded`` holds, for a replay, when each send is due (in seconds after the start, ascending) and which request
    it is for (its index). ``rate`` is then its mean rate, at which the warm-up is sent.

    ``timeout_s``: while the schedule runs, a request unanswered for so long is given up (error ``timeout``); after
    the schedule's end, those outstanding get ``grace_s`` to be answered (None: as long), the grace period.

    ``listens_s``: for so long after the end, messages that come twice, or to somebody else, are still counted.

    ``warmup_s``: for so long the same load is sent beforehand, and nothing of it is kept.

    ``idle_s``: a connection on which nothing happens for so long is closed from this side, before the server does so at
    the very moment of its use: servers tend to wait for five seconds at the least.

    ``processes`` share the rate and the connections, or the users; of a broadcast its rooms, each with its receivers
    and as many publishers. ``core`` pins all of them to that CPU.

    ``ca`` is the certificate (PEM) that a server of https:// is trusted by, those of the system without it; with
    ``resumption`` a further connection resumes a TLS session, where the server can, else each has a full handshake.

    ``streams``, which the protocol ``events`` has, are read while the requests are sent; ``slow_streams`` next to
    them, and are counted apart.

    ``users``, where there are any, walk a journey, and nothing else is sent: of the one request then only the
    headers count, which go with whatever a user asks for. ``warmup_s`` is for how long they come.

    Raises UserError where a value makes no sense.
    """

    origin: str
    requests: tuple[Request, ...]
    bodies: tuple[bytes | None, ...] = ()
    recorded: tuple[tuple[float, int], ...] = ()
    seed: int = 2016
    rate: float | None = None
    arrival_seed: int | None = None
    connections: int | None = None
    duration_s: float = 10.0
    warmup_s: float = 0.0
    timeout_s: float = 10.0
    grace_s: float | None = None
    listens_s: float = 0.0
    processes: int = 1
    core: int | None = None
    keep_alive: bool = True
    idle_s: float = 4.0
    protocol: str = "http"
    conversation: Conversation | None = None
    users: Users | None = None
    streams: EventStreams | None = None
    slow_streams: EventStreams | None = None
    ca: str | None = None
    resumption: bool = True

    @classmethod
    def of_url(cls, url: str, *, bodies: tuple[bytes | None, ...] = (), **options: Any) -> Load:
        """A load of GETs of one URL. Takes the other fields as options."""
        origin, path = split(url)
        return cls(origin, (Request(f"GET {path}", path=path),), bodies, **options)

    def __post_init__(self) -> None:
        Workload(self.requests)
        if self.bodies and len(self.bodies) != len(self.requests):
            raise ValueError(f"{len(self.bodies)} bodies for {len(self.requests)} requests")
        if self.recorded and (self.rate is None or self.recorded[-1][0] > self.duration_s):
            raise ValueError("a replay has a mean rate, and lasts as long as its recording")
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
                    f"{self.rate:g} requests per second for {self.duration_s:g} s are over {MAX_REQUESTS:,}"
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
        if (self.streams is None) != (self.protocol != PROTOCOL):
            raise ValueError(f"streams are for the protocol {PROTOCOL}; this is {self.protocol}")
        for streams in self.all_streams:
            self._require_shared("stream", streams.count)
        talk = self.conversation
        if (talk is None) != (self.protocol != "websocket"):
            raise ValueError(f"a conversation is for the protocol websocket; this is {self.protocol}")
        if talk is None:
            return
        if len(self.requests) != 1 or self.recorded:
            raise ValueError("a conversation has one request, that of its handshakes")
        if (self.rate == 0) != self.only_holds:
            raise UserError(f"only idle connections have the rate 0; this is {talk.does} at {self.rate}")
        if talk.receivers:
            self._require_shared("receiver", talk.receivers)

    def _require_shared(self, what: str, count: int) -> None:
        if count < self.processes:
            processes = plural(self.processes, "process", "processes")
            raise UserError(f"{plural(count, what)} cannot be shared by {processes}")

    @property
    def grace(self) -> float:
        """``grace_s``, or what stands for None."""
        return self.timeout_s if self.grace_s is None else self.grace_s

    @property
    def all_streams(self) -> tuple[EventStreams, ...]:
        """Its streams, the slow ones last."""
        return tuple(one for one in (self.streams, self.slow_streams) if one)

    @property
    def only_holds(self) -> bool:
        """Whether it holds connections and sends nothing."""
        return self.conversation is not None and self.conversation.does == "idle"

    @property
    def connection_count(self) -> int:
        """``connections``, or what stands for None."""
        if self.connections is not None:
            return self.connections
        few = self.rate is None or (self.conversation is not None and self.conversation.sends)
        return DEFAULT_CONNECTIONS_CLOSED if few else DEFAULT_CONNECTIONS_FIXED

    @property
    def planned(self) -> int:
        """How many requests the schedule holds: those due before its end, the first at its start; 0 without a rate.

        The same arithmetic as in generator/schedule.js.
        """
        if self.recorded:
            return len(self.recorded)
        return 0 if self.rate is None else math.ceil(self.rate * self.duration_s - 1e-6)

    @property
    def turns(self) -> int:
        """That its processes take in sending: one each, or, of a broadcast, one for each of its rooms, in which one of
        them publishes."""
        talk = self.conversation
        return talk.rooms if talk is not None and talk.publishes else self.processes

    @property
    def counts_each(self) -> float:
        """How many of what a search counts each send makes: the deliveries of a broadcast."""
        return 1.0 if self.conversation is None else self.conversation.counts_each

    def moments(self, turn: int) -> int | None:
        """What the random moments of a turn are drawn by, so that each has others; None where they are not random."""
        return None if self.arrival_seed is None else zlib.crc32(f"{self.arrival_seed} {turn}".encode())

    def probing(self, rate: float, duration_s: float, turn: int) -> Load:
        """The load of a probe of a search: at another rate, or with another number or rate of users, or number of
        streams, and with other random moments."""
        paced: dict[str, Any] = {"rate": rate / self.counts_each}
        if self.users is not None:
            users = self.users.as_many(rate)
            paced = {"users": users, "connections": max(users.users or 1, self.processes)}
        if self.streams is not None:
            paced = {"streams": dataclasses.replace(self.streams, count=round(rate))}
        return dataclasses.replace(self, duration_s=duration_s, arrival_seed=self.moments(turn), **paced)

    @property
    def features(self) -> frozenset[Feature]:
        """What an engine must be able to do to make it."""
        used = {Feature.TLS: self.ca is not None, Feature.PROCESSES: self.processes > 1}
        if self.users is not None:
            used[Feature.JOURNEYS] = True
        else:
            used |= {
                Feature.FIXED_RATE: self.rate is not None and not self.recorded,
                Feature.CLOSED_LOOP: self.rate is None,
                Feature.MIX: len(self.requests) > 1,
                Feature.REPLAY: bool(self.recorded),
                Feature.RANDOM_ARRIVALS: self.arrival_seed is not None and not self.recorded,
            }
        return frozenset(feature for feature, needed in used.items() if needed)


def split(url: str) -> tuple[str, str]:
    """A URL's origin and its path with the query. Raises UserError where load cannot be sent to it, and where it names
    a user: that would have to be sent as a header."""
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good or not url.isascii() or any(character.isspace() for character in url):
        shown = without_login(url)
        raise UserError(f"{shown!r} is not a URL that can be loaded; it should look like http://127.0.0.1:8000/")
    if "@" in parts.netloc:
        raise UserError(f"{without_login(url)} is asked for with a user's name; send it as a header, Authorization")
    return f"{parts.scheme}://{parts.netloc}", urlunsplit(("", "", parts.path or "/", parts.query, ""))


def _check_range(what: str, value: float, highest: float, unit: str) -> None:
    if not 0 < value <= highest:  # false for NaN as well
        raise UserError(f"{what} must be over 0 and at most {highest:,.0f} {unit}, not {value:g}")


def _check_count(what: str, value: int, highest: int) -> None:
    if not 1 <= value <= highest:
        raise UserError(f"the number of {what} must be from 1 to {highest:,}, not {value}")
