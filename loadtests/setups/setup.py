"""The setups: read from supervisor/conf.d, which is the one place that says how a setup starts."""

from __future__ import annotations

import configparser
import dataclasses
import os
from collections.abc import Iterable
from pathlib import Path

from loadtests.errors import UserError, unknown
from loadtests.paths import ROOT, SUPERVISOR
from loadtests.setups.needs import NEEDS, lacking

# What somebody may want of a server and not get, as `cannot=` in supervisor/conf.d names it.
CANNOT = {
    "websocket": "WebSockets",
    "http2": "HTTP/2",
    "streaming-request": "hand over a request's body while it still arrives",
    "keep-alive": "answer a second request on the same connection",
    "head": "answer HEAD without a body, which spoils the next answer on the connection",
    "async-views": "run asynchronous views that use the database, or two at a time",
}


@dataclasses.dataclass(frozen=True)
class Setup:
    """One way of serving the project.

    ``name`` is its supervisor group's; ``interface`` is wsgi, asgi or asgi-layer (ASGI over a channel layer);
    ``needs`` are names from loadtests.setups.needs; ``docs`` is where its settings come from; ``cannot`` is what it
    cannot do, in words from CANNOT.
    """

    name: str
    label: str
    interface: str
    needs: tuple[str, ...]
    docs: str
    cannot: tuple[str, ...]
    file: Path


def known(folder: Path = SUPERVISOR / "conf.d") -> dict[str, Setup]:
    """All setups by name. Raises UserError for a file that does not describe one."""
    setups = [_read(file) for file in sorted(folder.glob("*.conf"))]
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
    """What this machine lacks for the setup and how to get it, in a line; None where all is there.

    ``bin`` is the directory of the Python that the servers run with, and of their commands; this Python's by default.
    """
    return lacking(setup.needs, bin)


def _read(file: Path) -> Setup:
    name = file.stem
    # As supervisor reads it: no interpolation here, and "; " begins a comment.
    config = configparser.RawConfigParser(inline_comment_prefixes=(";",), strict=False)
    try:
        config.read_string(file.read_text(encoding="utf-8"), str(file))
        about = config[f"setup:{name}"]
        if not any(config.has_section(f"{kind}:{name}") for kind in ("group", "program", "fcgi-program")):
            raise KeyError(f"group:{name}")
        return Setup(
            name=name,
            label=about["label"],
            interface=about["interface"],
            needs=_words(about, "needs", NEEDS),
            docs=about.get("docs", ""),
            cannot=_words(about, "cannot", CANNOT),
            file=file,
        )
    except (OSError, configparser.Error, KeyError) as error:
        shown = os.path.relpath(file, ROOT)
        missing = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise UserError(
            f"{shown} does not describe a setup: {missing}; "
            f"[group:{name}], and [setup:{name}] with label and interface, are needed"
        ) from None


def _words(about: configparser.SectionProxy, key: str, known: Iterable[str]) -> tuple[str, ...]:
    words = tuple(about.get(key, "").replace(",", " ").split())
    for word in words:
        if word not in known:
            raise UserError(f"{key} of [{about.name}]: {unknown('word', word, known)}")
    return words


# The environment variables that a setup takes; supervisor/defaults.sh has their defaults.
KNOBS = (
    "WORKERS", "THREADS", "BIND", "PORT", "CORES", "REDIS_URL", "BACKLOG", "KEEP_ALIVE", "MIDDLEWARES", "CONN_MAX_AGE",
)  # fmt: skip


def host() -> str:
    """The address that the setups are to listen on: BIND, or loopback."""
    return os.environ.get("BIND", "127.0.0.1")


def port() -> int:
    """The port that the setups are to listen on: PORT, or 8000. Raises UserError."""
    text = os.environ.get("PORT", "8000")
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise UserError(f"PORT={text}: not a port; a number from 1 to 65535 is needed")
    return int(text)
