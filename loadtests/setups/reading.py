"""Read the setups from supervisor/conf.d."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from pathlib import Path

from loadtests import files
from loadtests.errors import UserError, unknown
from loadtests.setups import deployed, needs, services
from loadtests.setups.deployed import Deployed
from loadtests.setups.other_stacks import STACKS
from loadtests.setups.sections import SupervisorSection
from loadtests.setups.variants import HOPLESS, Variant

# Features that a server may lack: the words of `cannot=` in supervisor/conf.d.
CANNOT = {
    "websocket": "answer WebSockets",
    "streaming-request": "hand over a request's body while it still arrives",
    "keep-alive": "answer a second request on the same connection",
    "head": "answer HEAD without a body, which spoils the next answer on the connection",
    "async-views": "run asynchronous views that use the database, or two at a time",
    "lifespan": "run the lifespan protocol, which the project's ASGI application needs",
    "forwarded": "pass on the X-Forwarded headers of a request",
}

# Features that few servers have, and that only some tests and knobs require: the words of `offers=`.
OFFERS = {
    "tls": "answer over TLS",
    "h2": "answer HTTP/2 over TLS",
    "h2c": "answer HTTP/2 without TLS",
    "parser": "use the other HTTP parser",
    "backpressure": "limit the connections of a worker",
}

# The ways to replace a server's workers under load: the words of `renews=`.
RENEWS = {
    "HUP": "reload its workers when its first process receives this signal",
    "rolling": "be reloaded by restarting its instances one after the other",
    "max-requests": "replace a worker after MAX_REQUESTS requests",
}
# A test's demands for such a replacement: a description, and the words of `renews=` that meet the demand.
RELOAD, MAX_REQUESTS = "reload", "max-requests"
DEMANDED = {
    RELOAD: ("replace its workers gracefully on demand", {"HUP", "rolling"}),
    MAX_REQUESTS: ("replace a worker after a number of requests", {"max-requests"}),
}

# The values of `dialect=`, which is the protocol over a WebSocket (docs/websockets.rst).
DIALECTS = ("plain", "socket.io", "action-cable")

DEPLOYED = "deployed"  # the group in supervisor/deployed.conf
MOST_REASONS = 3  # maximum number of reasons in an error message

# A test uses one of these two protocols, and each setup serves one protocol.
HTTP = "http"
WEBSOCKET = "websocket"


@dataclasses.dataclass(frozen=True)
class Setup:
    """One way to serve the project.

    Args:
        name: The name of the supervisor group, followed by the names of the variants.
        label: The name in reports.
        interface: wsgi, asgi, asgi-layer (ASGI over a channel layer), or the interface of a peer (node, rack, bolt).
        needs: The software that the setup needs (names of ``loadtests.setups.needs``).
        docs: The source of the setup's settings.
        cannot: The features that the server lacks (words of CANNOT).
        file: The supervisor file.
        services: The services that run with the setup.
        charges: The services whose cost is a part of the setup's cost.
        wrong: The fault that the setup demonstrates, or empty.
        dialect: The protocol over WebSockets (a word of DIALECTS), or empty for HTTP.
        stack: A word of ``loadtests.setups.other_stacks``, or empty for today's packages or the user's packages.
        variant: The variants of the environment (``loadtests.setups.variants``).
        renews: The ways in which the workers can be replaced under load (words of RENEWS).
        offers: The features that few servers have (words of OFFERS).
        answers: The paths that the setup answers to GET, or empty if it serves the sample project.
        deployed: The command that replaces the setup's command, or None.
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
    variant: tuple[str, ...] = ()
    renews: tuple[str, ...] = ()
    offers: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    deployed: Deployed | None = None

    @property
    def group(self) -> str:
        """The name of the setup's supervisor group."""
        return DEPLOYED if self.deployed else self.file.stem

    @property
    def hopless(self) -> bool:
        """Whether Django is served through the package hopless."""
        return HOPLESS in self.variant

    def unfit(self, variant: Variant) -> str | None:
        """Return why the variant doesn't change how the setup serves the project, or None if it does."""
        if self.stack or self.interface in ("node", "rack"):
            return "it has its own packages"
        if variant.is_hopless and self.interface != "asgi":
            return "hopless is only for ASGI setups"
        if variant.is_hopless and self.dialect and "channels" not in self.needs:
            return "hopless is only for WebSockets through Django and Channels"
        if variant.python and self.services:
            return "another Python is only for setups without services"
        if variant.file and (setup := deployed.read(Path(variant.file)).setup) != self.file.stem:
            return f"the command is for the setup {setup}"
        if variant.package in needs.PACKAGES and needs.PACKAGES[variant.package] not in _needs(self):
            return f"it doesn't use {variant.package}"
        return None

    def with_variants(self, variants: Sequence[Variant]) -> Setup:
        """Return the same setup in an environment with these variants."""
        changed = self
        for one in variants:
            changed = dataclasses.replace(
                changed,
                name=one.name_for(changed.name),
                label=f"{changed.label}, {one.name}",
                needs=(*changed.needs, *([HOPLESS] if one.is_hopless else [])),
                variant=(*changed.variant, one.text),
            )
            if one.file:
                # The command ignores the knobs, and may run without optional packages.
                command = deployed.read(Path(one.file))
                plain = dataclasses.replace(changed, needs=self.needs[:1], renews=(), offers=(), deployed=command)
                changed = dataclasses.replace(plain, label=f"{self.label}: {command.text}")
        return changed

    def refuses(self, demands: Iterable[str]) -> str | None:
        """Return why the setup can't meet ``demands`` (HTTP, and words of CANNOT and OFFERS), or None if it can."""
        demands = set(demands)
        if self.dialect and HTTP in demands:
            return "it only supports WebSockets, not HTTP tests"
        unmet = [CANNOT[word] for word in self.cannot if word in demands]
        unmet += [what for word, what in OFFERS.items() if word in demands and word not in self.offers]
        unmet += [what for word, (what, by) in DEMANDED.items() if word in demands and by.isdisjoint(self.renews)]
        if unmet:
            return f"it cannot {' or '.join(unmet)}"
        if not self.dialect and WEBSOCKET in demands:
            return "it only serves HTTP"
        return None


def known(folder: Path | None = None) -> dict[str, Setup]:
    """Return all setups by name, from supervisor/ or a folder like it.

    Raises:
        UserError: If a file doesn't describe a setup.
    """
    folder = folder or files.SUPERVISOR
    names = services.known(folder)
    setups = [_read(SupervisorSection(file, "setup"), names) for file in sorted((folder / "conf.d").glob("*.conf"))]
    return {setup.name: setup for setup in setups}


def find(names: Iterable[str], variants: Sequence[Variant] = ()) -> list[Setup]:
    """Return the setups with these names. Without names, return all setups that have a file.

    Args:
        names: The names of the setups.
        variants: The variants of the setups. If a variant changes a setup, the list contains the setup with and without
            the variant.

    Raises:
        UserError: If a name is unknown (the message contains the nearest names), or a variant changes no setup.
    """
    setups = known()
    found = []
    for name in dict.fromkeys(names) or setups:
        if name not in setups:
            raise unknown("setup", name, setups)
        found += [setups[name], *(setups[name].with_variants([one]) for one in variants if not setups[name].unfit(one))]
    for one in variants:
        require_used(one, [setup for setup in found if not setup.variant])
    return found


def require_used(variant: Variant, chosen: Sequence[Setup]) -> None:
    """Check that a variant changes at least one of the chosen setups.

    Raises:
        UserError: If the variant changes none of the chosen setups.
    """
    reasons = {setup.name: setup.unfit(variant) for setup in chosen}
    if all(reasons.values()):
        why = "; ".join(f"{name}: {reason}" for name, reason in list(reasons.items())[:MOST_REASONS])
        raise UserError(f"--variant {variant.text} changes none of the setups: {why}")


def missing(setup: Setup, bin: Path | None = None) -> str | None:
    """Return one line with the software that this machine lacks for the setup and its services, and how to install it.

    Args:
        setup: The setup to check.
        bin: The directory of the servers' Python and commands. The default is the sample project's directory.

    Returns:
        The line, or None if all software is installed.
    """
    return needs.missing(_needs(setup), bin)


def missing_needs(setup: Setup) -> list[str]:
    """Return the names of the software that this machine lacks for the setup and its services."""
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
