"""Run the embedded datastore: ``python -m loadtests.services.datastore.embedded``.

The datastore listens on two free ports of the loopback interface, one for gRPC and one for HTTP, and writes their
addresses to the files ``datastore.grpc`` and ``datastore.http`` in RUN_DIR. If the datastore is restarted with the same
folder, it uses the same ports, so that clients can reconnect. Each request waits for DATASTORE_DELAY_MS milliseconds.

If DATASTORE_EMULATOR_HOST names another datastore, the program checks that it is reachable, and exits.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import sys
from pathlib import Path

HOST = "127.0.0.1"
BACKLOG = 1024
KEEP_ALIVE_S = 600  # a long timeout, so that clients can use idle connections again
LOOKED_FOR_S = 5.0


def main() -> None:
    """Run the datastore until a signal ends the process."""
    if host := os.environ.get("DATASTORE_EMULATOR_HOST"):
        _look_for(host)
        return
    folder = os.environ.get("RUN_DIR")
    if not folder:
        sys.exit("error: RUN_DIR is not set. Set it to a folder for the addresses, or source supervisor/defaults.sh")
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(Path(folder), int(os.environ.get("DATASTORE_DELAY_MS") or 0) / 1000))


def _look_for(host: str) -> None:
    """Check that another datastore is reachable.

    If the datastore isn't reachable, exit with an error, because all its clients would fail.
    """
    name, _, port = host.rpartition(":")
    try:
        socket.create_connection((name.strip("[]"), int(port)), LOOKED_FOR_S).close()
    except (OSError, ValueError) as error:
        print(f"error: there is no datastore at {host} (DATASTORE_EMULATOR_HOST): {error}", file=sys.stderr)
        sys.exit(os.EX_UNAVAILABLE)
    print(f"using the datastore at {host} instead of starting a datastore")


async def serve(folder: Path, delay_s: float) -> None:
    """Serve the datastore over gRPC and HTTP until a signal ends the process."""
    import uvicorn

    from loadtests.services.datastore import over_grpc, over_http
    from loadtests.services.datastore.methods import Datastore

    datastore = Datastore(delay_s)
    grpc_file, http_file = folder / "datastore.grpc", folder / "datastore.http"
    try:
        server, port = await over_grpc.listen(datastore, f"{HOST}:{_port_in(grpc_file)}")
    except OSError:
        server, port = await over_grpc.listen(datastore, f"{HOST}:0")
    with _listener(_port_in(http_file)) as listener:
        config = uvicorn.Config(
            over_http.application(datastore),
            lifespan="off",
            access_log=False,
            log_level="warning",
            backlog=BACKLOG,
            timeout_keep_alive=KEEP_ALIVE_S,
        )
        _write(grpc_file, port)
        _write(http_file, listener.getsockname()[1])
        await uvicorn.Server(config).serve(sockets=[listener])
    await server.stop(None)


def _listener(port: int) -> socket.socket:
    """Return a socket on this port, or on any free port if this port is taken.

    The socket has an explicit protocol. asyncio disables Nagle's algorithm only for sockets whose protocol is TCP, and
    an answer in two pieces would otherwise wait 40 ms for the client's delayed acknowledgement.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
    except OSError:
        listener.bind((HOST, 0))
    listener.listen(BACKLOG)
    return listener


def _port_in(file: Path) -> int:
    """Return the port that an earlier start wrote to the file, or 0 if there was no earlier start."""
    try:
        return int(file.read_text(encoding="ascii").rpartition(":")[2])
    except (OSError, ValueError):
        return 0


def _write(file: Path, port: int) -> None:
    """Write the address with this port to the file atomically."""
    new = file.with_name(f"{file.name}.new")
    new.write_text(f"{HOST}:{port}", encoding="ascii")
    new.rename(file)


if __name__ == "__main__":
    main()
