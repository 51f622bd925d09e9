"""The datastore's own client library, over gRPC or HTTP, from threads, greenlets or an event loop.

One client a process, made at the first use, after a server has forked; for asynchronous gRPC one an event loop. No call
is repeated: the view reports a datastore that is down, and a repeated write would be refused as done already.
"""

import asyncio
import functools
import os
import sys
import threading
import weakref
from typing import Any

import grpc
import requests
from asgiref.sync import AsyncToSync, sync_to_async
from google.cloud import datastore
from google.cloud.datastore_v1 import DatastoreAsyncClient, DatastoreClient
from google.cloud.datastore_v1.services.datastore.transports import (
    DatastoreGrpcAsyncIOTransport,
    DatastoreGrpcTransport,
)

from datastore_sessions.address import address, over_grpc
from datastore_sessions.messages import PROJECT

TIMEOUT_S = 5.0
# After a datastore was gone, gRPC tries again at intervals that grow to two minutes, by default.
CHANNEL = (("grpc.initial_reconnect_backoff_ms", 100), ("grpc.max_reconnect_backoff_ms", 1000))
MOST_CONNECTIONS = 1000  # over HTTP; requests keeps ten by default, and opens one for each call above

_making = threading.Lock()
_of_loops: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, DatastoreAsyncClient] = weakref.WeakKeyDictionary()


def call(method: str, request: Any) -> Any:
    """The response to a request of `lookup` or `commit`. Raises GoogleAPIError and OSError."""
    api = _client(over_grpc())
    return getattr(api, method)(request=request, retry=None, timeout=TIMEOUT_S)


async def acall(method: str, request: Any) -> Any:
    """The same from a coroutine: over gRPC in its event loop, over HTTP in a thread.

    The event loop that Django makes for one request of a WSGI server is gone after it, and a client with it; there the
    request's own thread calls, as Django's ORM does.
    """
    loop = asyncio.get_running_loop()
    if not over_grpc() or loop in AsyncToSync.loop_thread_executors:
        return await sync_to_async(call)(method, request)
    client = _of_loops.get(loop)
    if client is None:
        channel = grpc.aio.insecure_channel(address("grpc"), options=CHANNEL)
        client = _of_loops[loop] = DatastoreAsyncClient(transport=DatastoreGrpcAsyncIOTransport(channel=channel))
    return await getattr(client, method)(request=request, retry=None, timeout=TIMEOUT_S)


def _client(grpc_wanted: bool) -> Any:
    with _making:
        return _made(grpc_wanted)


@functools.cache
def _made(grpc_wanted: bool) -> Any:
    if not grpc_wanted:
        session = requests.Session()
        session.mount("http://", requests.adapters.HTTPAdapter(pool_maxsize=MOST_CONNECTIONS))
        client = datastore.Client(project=PROJECT, _http=session, _use_grpc=False)
        client.base_url = f"http://{address('http')}"
        return client._datastore_api
    _befriend_gevent()
    channel = grpc.insecure_channel(address("grpc"), options=CHANNEL)
    return DatastoreClient(transport=DatastoreGrpcTransport(channel=channel))


def _befriend_gevent() -> None:
    """Patches gRPC for gevent: it waits in C, where gevent cannot switch, so each call would stop all greenlets.

    GRPC_GEVENT=0 leaves it unpatched: the setup gunicorn-gevent-unpatched shows the effect.
    """
    monkey = sys.modules.get("gevent.monkey")
    if monkey is not None and monkey.is_module_patched("socket") and os.environ.get("GRPC_GEVENT") != "0":
        from grpc.experimental import gevent

        gevent.init_gevent()
