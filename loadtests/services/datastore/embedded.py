"""The embedded datastore as a program: ``python -m loadtests.services.datastore.embedded``.

It listens on two free ports of loopback, one for gRPC and one for HTTP, and writes their addresses to the files
``datastore.grpc`` and ``datastore.http`` in RUN_DIR. One that is started again there listens where its predecessor did,
so that clients find it. DATASTORE_DELAY_MS is what each request waits. Where DATASTORE_EMULATOR_HOST names another it
looks whether that is there, and ends.
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
KEEP_ALIVE_S = 600  # a client must not find its connection closed
LOOKED_FOR_S = 5.0


def main() -> None:
    """Runs until a signal ends it."""
    if host := os.environ.get("DATASTORE_EMULATOR_HOST"):
        _look_for(host)
        return
    folder = os.environ.get("RUN_DIR")
    if not folder:
        sys.exit("error: set RUN_DIR, a folder for the addresses, or source supervisor/defaults.sh")
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(Path(folder), int(os.environ.get("DATASTORE_DELAY_MS") or 0) / 1000))


def _look_for(host: str) -> None:
    """Says that the datastore is used, or that it is not there: then all that use it would fail one by one."""
    name, _, port = host.rpartition(":")
    try:
        socket.create_connection((name.strip("[]"), int(port)), LOOKED_FOR_S).close()
    except (OSError, ValueError) as error:
        print(f"error: there is no datastore at {host} (DATASTORE_EMULATOR_HOST): {error}", file=sys.stderr)
        sys.exit(os.EX_UNAVAILABLE)
    print(f"using the datastore at {host}, starting none")


async def serve(folder: Path, delay_s: float) -> None:
    """Serves over gRPC and HTTP until a signal to end."""
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
    """A socket on this port, or on a free one where that is taken.

    Its protocol is given: asyncio turns Nagle's algorithm off for sockets that say TCP only, and an answer in two
    pieces would wait 40 ms for the client's delayed acknowledgement.
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
    """The port in an address that was written before; 0 where there is none."""
    try:
        return int(file.read_text(encoding="ascii").rpartition(":")[2])
    except (OSError, ValueError):
        return 0


def _write(file: Path, port: int) -> None:
    """The address, which is there whole or not at all."""
    new = file.with_name(f"{file.name}.new")
    new.write_text(f"{HOST}:{port}", encoding="ascii")
    new.rename(file)


if __name__ == "__main__":
    main()
