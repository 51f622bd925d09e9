"""Find the address of the datastore, either an emulator or the setup's embedded server, but never Google's service."""

import os
from pathlib import Path


def address(protocol: str) -> str:
    """Return the datastore's `host:port` for a protocol.

    An emulator serves both protocols on one port. The embedded server (loadtests/services/datastore) writes an address
    for each protocol to RUN_DIR.

    Args:
        protocol: `grpc` or `http`.

    Raises:
        ConnectionError: If no datastore is available.
    """
    if host := os.environ.get("DATASTORE_EMULATOR_HOST"):
        return host
    file = Path(os.environ.get("RUN_DIR", "")) / f"datastore.{protocol}"
    try:
        return file.read_text(encoding="ascii").strip()
    except OSError:
        raise ConnectionError(
            "there is no datastore: set DATASTORE_EMULATOR_HOST, or start the service 'datastore'"
        ) from None


def over_grpc() -> bool:
    """Return whether to use gRPC, the default of the client library, instead of HTTP."""
    return os.environ.get("DATASTORE_GRPC", "1") != "0"
