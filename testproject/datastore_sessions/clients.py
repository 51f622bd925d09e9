"""Call the datastore with its client library, over gRPC or HTTP, from threads, greenlets or an event loop.

Each process creates a client at the first use, after the server has forked. Asynchronous gRPC needs a client for each
event loop. Failed calls aren't repeated, because the views report a datastore that is down, and because Datastore would
refuse a repeated write whose first attempt was successful.
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
# By default, the interval between gRPC's attempts to reconnect grows to two minutes.
CHANNEL = (("grpc.initial_reconnect_backoff_ms", 100), ("grpc.max_reconnect_backoff_ms", 1000))
# The maximum number of HTTP connections. By default, requests keeps ten connections, and opens a new connection for
# each further call.
MAX_CONNECTIONS = 1000

_making = threading.Lock()
_of_loops: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, DatastoreAsyncClient] = weakref.WeakKeyDictionary()


def call(method: str, request: Any) -> Any:
    """Return the response to a request.

    Args:
        method: `lookup` or `commit`.
        request: The message for this method.

    Raises:
        GoogleAPIError: If the datastore returns an error.
        OSError: If the datastore can't be reached.
    """
    api = _client(over_grpc())
    return getattr(api, method)(request=request, retry=None, timeout=TIMEOUT_S)


async def acall(method: str, request: Any) -> Any:
    """Send a request in a coroutine, and return the response.

    Over gRPC, the call runs in the event loop. Over HTTP, it runs in a thread.

    With a WSGI server, Django creates an event loop for each request, and a client would end with its loop. In this
    case, the thread of the request makes the call, as with Django's ORM.
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
        session.mount("http://", requests.adapters.HTTPAdapter(pool_maxsize=MAX_CONNECTIONS))
        client = datastore.Client(project=PROJECT, _http=session, _use_grpc=False)
        client.base_url = f"http://{address('http')}"
        return client._datastore_api
    _befriend_gevent()
    channel = grpc.insecure_channel(address("grpc"), options=CHANNEL)
    return DatastoreClient(transport=DatastoreGrpcTransport(channel=channel))


def _befriend_gevent() -> None:
    """Patch gRPC for gevent.

    gRPC waits in C, where gevent can't switch to another greenlet, so each call would stop all greenlets. GRPC_GEVENT=0
    prevents the patch. The setup gunicorn-gevent-unpatched shows the effect.
    """
    monkey = sys.modules.get("gevent.monkey")
    if monkey is not None and monkey.is_module_patched("socket") and os.environ.get("GRPC_GEVENT") != "0":
        from grpc.experimental import gevent

        gevent.init_gevent()
