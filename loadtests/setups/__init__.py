"""Reads what supervisor/ has: the setups, and the services that run with them."""

from loadtests.setups.knobs import FETCHING, KNOBS, bind, database, given, port, require_knobs, take, tls, workers
from loadtests.setups.reading import (
    CANNOT,
    HOPLESS,
    HTTP,
    MAX_REQUESTS,
    OFFERS,
    RELOAD,
    WEBSOCKET,
    Setup,
    find,
    known,
    missing,
    missing_needs,
)

__all__ = [
    "CANNOT",
    "FETCHING",
    "HOPLESS",
    "HTTP",
    "KNOBS",
    "MAX_REQUESTS",
    "OFFERS",
    "RELOAD",
    "WEBSOCKET",
    "Setup",
    "bind",
    "database",
    "find",
    "given",
    "known",
]
__all__ += ["missing", "missing_needs", "port", "require_knobs", "take", "tls", "workers"]
