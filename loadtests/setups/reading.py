"""Reads the setups from supervisor/conf.d."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path

from loadtests import files
from loadtests.errors import unknown
from loadtests.setups import needs, services
from loadtests.setups.other_stacks import STACKS
from loadtests.setups.sections import SupervisorSection

# What a server may be unable to do: the words of `cannot=` in supervisor/conf.d.
CANNOT = {
    "websocket": "answer WebSockets",
    "streaming-request": "hand over a request's body while it still arrives",
    "keep-alive": "answer a second request on the same connection",
    "head": "answer HEAD without a body, which spoils the next answer on the connection",
    "async-views": "run asynchronous views that use the database, or two at a time",
    "sync-consumer": "run a synchronous consumer of Channels",
    "json-consumer": "run a JSON consumer of Channels",
    "compression": "compress the messages of a WebSocket",
}

# What few servers can do, and only where it is asked for: the words of `offers=`.
OFFERS = {
    "tls": "answer over TLS",
    "h2": "answer HTTP/2 over TLS",
    "h2c": "answer HTTP/2 without TLS",
}

# How a server replaces its workers under load: the words of `renews=`.
RENEWS = {
    "HUP": "reload its workers by that signal to its first process",
    "rolling": "be reloaded by restarting one of its instances after the other",
    "max-requests": "replace a worker after MAX_REQUESTS requests",
}
# What a test may demand of it, in words, and which of them meet that.
RELOAD, MAX_REQUESTS = "reload", "max-requests"
DEMANDED = {
    RELOAD: ("replace its workers gracefully on demand", {"HUP", "rolling"}),
    MAX_REQUESTS: ("replace a worker after a number of requests", {"max-requests"}),
}

# The words of `dialect=`, what is spoken over a WebSocket; docs/websockets.rst has them.
DIALECTS = ("plain", "socket.io", "action-cable")

# The end of a name: `uvicorn-hopless` is the setup `uvicorn` with Django served through the package hopless.
HOPLESS = "-hopless"
# Likewise, of one that serves the base of the user's project: what a change is compared with.
BASE = "-base"

# A test uses one of two protocols, and each setup serves one of them.
HTTP = "http"
WEBSOCKET = "websocket"


@dataclasses.dataclass(frozen=True)
class Setup:
    """One way of serving the project.

    ``name`` is its supervisor group's; ``interface`` is wsgi, asgi, asgi-layer (ASGI over a channel layer), or a
    peer's (node, rack, bolt); ``dialect`` a word of DIALECTS, empty for HTTP; ``needs`` names of
    loadtests.setups.needs; ``docs`` the source of its settings; ``cannot`` words of CANNOT; ``services`` run with it,
    and ``charges`` are those that count as its cost; ``wrong`` is the fault that it demonstrates; ``stack`` a word of
    loadtests.setups.other_stacks, empty for today's stack or the user's; ``answers`` the paths that it answers to GET,
    empty where it serves the sample project; ``hopless``: Django is served through that package, and ``name`` ends in
    HOPLESS; ``base``: what is served is the base of the user's project, and ``name`` ends in BASE; ``renews`` words of
    RENEWS; ``offers`` words of OFFERS.
    """

    name: str
    label: str
    interface: str
    needs: tuple[str, ...]
    docs: str
    cannot: tuple[str, ...]
    file: Path
    services: tuple[str, ...] = ()
    charges: tuple[str, ...] = ()
    wrong: str = ""
    dialect: str = ""
    stack: str = ""
    hopless: bool = False
    base: bool = False
    renews: tuple[str, ...] = ()
    offers: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()

    @property
    def group(self) -> str:
        """Its supervisor group."""
        name = self.name.removesuffix(BASE) if self.base else self.name
        return name.removesuffix(HOPLESS) if self.hopless else name

    @property
    def impossible(self) -> str | None:
        """Why it cannot be served through hopless, in a few words, where that is asked; None where it can."""
        if self.hopless and self.interface != "asgi":
            return "hopless is for ASGI, and it is served otherwise"
        if self.hopless and self.dialect and "channels" not in self.needs:
            return "hopless is for Django and Channels, and it answers WebSockets without them"
        return None

    def through_hopless(self) -> Setup:
        """The same setup with Django served through hopless."""
        return dataclasses.replace(
            self,
            name=f"{self.name}{HOPLESS}",
            label=f"{self.label}, hopless",
            needs=(*self.needs, "hopless"),
            hopless=True,
        )

    def of_base(self) -> Setup:
        """The same setup with the base of the user's project."""
        return dataclasses.replace(self, name=f"{self.name}{BASE}", label=f"{self.label}, base", base=True)

    def refuses(self, demands: Iterable[str]) -> str | None:
        """Which demands (words of CANNOT and OFFERS, and HTTP) it cannot meet, in words; None where it can meet all."""
        demands = set(demands)
        if self.dialect and HTTP in demands:
            return "it is there for WebSockets, and is not asked over HTTP"
        unmet = [CANNOT[word] for word in self.cannot if word in demands]
        unmet += [what for word, what in OFFERS.items() if word in demands and word not in self.offers]
        unmet += [what for word, (what, by) in DEMANDED.items() if word in demands and by.isdisjoint(self.renews)]
        if unmet:
            return f"it cannot {' or '.join(unmet)}"
        if not self.dialect and WEBSOCKET in demands:
            return "it is there for HTTP: the application that it serves answers no WebSockets"
        return None


def known(folder: Path | None = None) -> dict[str, Setup]:
    """All setups by name, of supervisor/ or a folder like it. Raises UserError for a file that does not describe
    one."""
    folder = folder or files.SUPERVISOR
    names = services.known(folder)
    setups = [_read(SupervisorSection(file, "setup"), names) for file in sorted((folder / "conf.d").glob("*.conf"))]
    return {setup.name: setup for setup in setups}


def find(names: Iterable[str], hopless: bool = False) -> list[Setup]:
    """The setups of these names, which may end in HOPLESS and in BASE; all that have a file where none is named. With
    ``hopless`` each is followed by itself through hopless. Raises UserError with the nearest names."""
    setups = known()
    found = []
    for name in list(names) or setups:
        served = name.removesuffix(BASE)
        plain = served.removesuffix(HOPLESS)
        if plain not in setups:
            raise unknown("setup", name, setups)
        twin = setups[plain].through_hopless()
        ways = [setups[plain], twin] if hopless else [setups[plain] if served == plain else twin]
        found += ways if name == served else [way.of_base() for way in ways]
    return list(dict.fromkeys(found))


def missing(setup: Setup, bin: Path | None = None) -> str | None:
    """What this machine lacks for the setup and its services, and how to install it, in a line; None without a gap.

    ``bin`` is the directory of the servers' Python and commands; this Python's by default.
    """
    return needs.missing(_needs(setup), bin)


def missing_needs(setup: Setup) -> list[str]:
    """The names of what this machine lacks for the setup and its services."""
    return needs.missing_needs(_needs(setup))


def _needs(setup: Setup) -> Iterable[str]:
    known = services.known() if setup.services else {}
    return dict.fromkeys([*setup.needs, *(need for name in setup.services for need in known[name].needs)])


def _read(section: SupervisorSection, services: Iterable[str]) -> Setup:
    return Setup(
        name=section.name,
        label=section.text("label"),
        interface=section.text("interface"),
        needs=section.words("needs", needs.NEEDS),
        docs=section.text("docs", ""),
        cannot=section.words("cannot", CANNOT),
        file=section.file,
        services=section.words("services", services),
        charges=section.words("charges", services),
        wrong=section.text("wrong", ""),
        dialect=section.word("dialect", DIALECTS),
        stack=section.word("stack", STACKS),
        renews=section.words("renews", RENEWS),
        offers=section.words("offers", OFFERS),
        answers=tuple(section.text("answers", "").split()),
    )
