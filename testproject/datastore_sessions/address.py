"""The datastore's address: an emulator, or the embedded server next to the setup. Never Google's service."""

import os
from pathlib import Path


def address(protocol: str) -> str:
    """`host:port` for `grpc` or `http`. Raises ConnectionError where there is no datastore.

    An emulator has both on one port; the embedded server (loadtests/services/datastore) writes two addresses to
    RUN_DIR.
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
    """True for gRPC, the default of the client library; False for HTTP."""
    return os.environ.get("DATASTORE_GRPC", "1") != "0"
