"""Serve the datastore over gRPC."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import grpc

from loadtests.services.datastore.methods import METHODS, Datastore, Method
from loadtests.services.datastore.refusals import Refusal

SERVICE = "google.datastore.v1.Datastore"
STATUSES = {status.value[0]: status for status in grpc.StatusCode}
# Without this option, two processes could share a port, and each process would store half of the entities.
OPTIONS = (("grpc.so_reuseport", 0),)


async def listen(datastore: Datastore, address: str) -> tuple[Any, int]:
    """Start a server on ``host:port``, and return the server and its port. Port 0 selects a free port.

    Raises:
        OSError: If the port can't be used.
    """
    server = grpc.aio.server(options=OPTIONS)
    handlers = {
        method.name: grpc.unary_unary_rpc_method_handler(
            _behaviour(datastore, method), method.request.FromString, lambda response: response.SerializeToString()
        )
        for method in METHODS
    }
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, handlers),))
    try:
        port = server.add_insecure_port(address)
    except RuntimeError as error:
        raise OSError(str(error)) from None
    await server.start()
    return server, port


def _behaviour(datastore: Datastore, method: Method) -> Callable[[Any, Any], Awaitable[Any]]:
    async def answer(request: Any, context: Any) -> Any:
        try:
            return await datastore.answer(method, request)
        except Refusal as refusal:
            await context.abort(STATUSES[refusal.status.number], refusal.message)

    return answer
