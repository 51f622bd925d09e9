"""The setups: read from supervisor/conf.d, which is the one place that says how a setup starts."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path

from loadtests import files
from loadtests.errors import unknown
from loadtests.setups import needs, services
from loadtests.setups.other_stacks import STACKS
from loadtests.setups.sections import SupervisorSection

# What somebody may want of a server and not get, as `cannot=` in supervisor/conf.d names it.
CANNOT = {
    "websocket": "answer WebSockets",
    "http2": "answer HTTP/2",
    "streaming-request": "hand over a request's body while it still arrives",
    "keep-alive": "answer a second request on the same connection",
    "head": "answer HEAD without a body, which spoils the next answer on the connection",
    "async-views": "run asynchronous views that use the database, or two at a time",
    "sync-consumer": "run a synchronous consumer of Channels",
    "json-consumer": "run a JSON consumer of Channels",
    "compression": "compress the messages of a WebSocket",
}

# What is spoken over a WebSocket, as `dialect=` names it; docs/peers.rst has them.
DIALECTS = ("plain", "socket.io", "action-cable")

# What a test asks of a setup beside these: one of two protocols. A setup is there for one of them.
HTTP = "http"
WEBSOCKET = "websocket"


@dataclasses.dataclass(frozen=True)
class Setup:
    """One way of serving the project.

    ``name`` is its supervisor group's; ``interface`` is wsgi, asgi or asgi-layer (ASGI over a channel layer), or what a
    peer in another language runs on (node, rack); ``dialect`` is what it speaks over WebSockets, in a word from
    DIALECTS, and empty where it is there for HTTP; ``needs`` are names from loadtests.setups.needs; ``docs`` is where
    its settings come from; ``cannot`` is what it cannot do, in words from CANNOT; ``services`` run beside it, and it
    pays for those that it ``charges``; ``wrong`` is what goes wrong with it, where it is there to show that; ``stack``
    is that whose packages and project it serves, in a word of loadtests.setups.other_stacks, and empty where that is
    today's, or the user's.
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

    def refuses(self, demands: Iterable[str]) -> str | None:
        """Which of these demands (words from CANNOT, and HTTP) it cannot meet, in words; None where it can meet all."""
        wanted = set(demands)
        if self.dialect and HTTP in wanted:
            return "it is there for WebSockets, and is not asked over HTTP"
        unmet = [CANNOT[word] for word in self.cannot if word in wanted]
        if unmet:
            return f"it cannot {' or '.join(unmet)}"
        if not self.dialect and WEBSOCKET in wanted:
            return "it is there for HTTP: the application that it serves answers no WebSockets"
        return None


def known(folder: Path | None = None) -> dict[str, Setup]:
    """All setups by name, of supervisor/ or of another folder like it. Raises UserError for a file that does not
    describe one."""
    folder = folder or files.SUPERVISOR
    beside = services.known(folder)
    setups = [_read(SupervisorSection(file, "setup"), beside) for file in sorted((folder / "conf.d").glob("*.conf"))]
    return {setup.name: setup for setup in setups}


def find(names: Iterable[str]) -> list[Setup]:
    """The setups of these names; all of them where none is named. Raises UserError with the nearest names."""
    setups = known()
    wanted = list(names)
    for name in wanted:
        if name not in setups:
            raise unknown("setup", name, setups)
    return [setups[name] for name in wanted] if wanted else list(setups.values())


def missing(setup: Setup, bin: Path | None = None) -> str | None:
    """What this machine lacks for the setup and its services, and how to install it, in a line; None without a gap.

    ``bin`` is the directory of the servers' Python and commands; this Python's by default.
    """
    return needs.missing(_needs(setup), bin)


def missing_needs(setup: Setup) -> list[str]:
    """The names of what this machine lacks for the setup and its services."""
    return needs.missing_needs(_needs(setup))


def _needs(setup: Setup) -> Iterable[str]:
    beside = services.known() if setup.services else {}
    return dict.fromkeys([*setup.needs, *(need for name in setup.services for need in beside[name].needs)])


def _read(section: SupervisorSection, beside: Iterable[str]) -> Setup:
    return Setup(
        name=section.name,
        label=section.text("label"),
        interface=section.text("interface"),
        needs=section.words("needs", needs.NEEDS),
        docs=section.text("docs", ""),
        cannot=section.words("cannot", CANNOT),
        file=section.file,
        services=section.words("services", beside),
        charges=section.words("charges", beside),
        wrong=section.text("wrong", ""),
        dialect=section.word("dialect", DIALECTS),
        stack=section.word("stack", STACKS),
    )
