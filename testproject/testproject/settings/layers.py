"""Configure the channel layers of the setups from the environment, as entries of CHANNEL_LAYERS."""

from collections.abc import Callable, Mapping
from typing import Any

from django.core.exceptions import ImproperlyConfigured

Layer = dict[str, Any]

# By default, redis-py 8 raises an error if more than 100 connections are needed. A process with thousands of WebSockets
# sends messages to many of them at once.
MAX_CONNECTIONS = 4096


def layer(environ: Mapping[str, str]) -> Layer:
    """Return the layer that `CHANNEL_LAYER` names, by default the in-memory layer.

    Raises:
        ImproperlyConfigured: If the name is unknown, or the layer needs other variables.
    """
    wanted = environ.get("CHANNEL_LAYER") or "memory"
    if wanted not in LAYERS:
        raise ImproperlyConfigured(f"CHANNEL_LAYER must be one of {', '.join(LAYERS)}, not {wanted!r}")
    return LAYERS[wanted](environ)


def memory(environ: Mapping[str, str]) -> Layer:
    """Return Channels' in-memory layer, which works within one process."""
    return {"BACKEND": "channels.layers.InMemoryChannelLayer"}


def ipc(environ: Mapping[str, str], **config: Any) -> Layer:
    """Return the layer between the processes of this machine, in IPC_DIR."""
    if "IPC_DIR" not in environ:
        raise ImproperlyConfigured("Set IPC_DIR, or source supervisor/defaults.sh, which sets it.")
    return {"BACKEND": "channels_ipc.core.IPCChannelLayer", "CONFIG": {"path": environ["IPC_DIR"], **config}}


def redis(environ: Mapping[str, str]) -> Layer:
    """Return the core layer of channels_redis, with queues in Redis."""
    return over_redis(environ, "channels_redis.core.RedisChannelLayer", MAX_CONNECTIONS)


def pubsub(environ: Mapping[str, str]) -> Layer:
    """Return the layer of channels_redis over Redis' publish and subscribe."""
    return over_redis(environ, "channels_redis.pubsub.RedisPubSubChannelLayer", MAX_CONNECTIONS)


def over_redis(environ: Mapping[str, str], backend: str, connections: int, **config: Any) -> Layer:
    """Return a layer in the Redis server at REDIS_URL, or in the server that supervisor/redis.sh starts.

    Raises:
        ImproperlyConfigured: If neither REDIS_URL nor RUN_DIR is set.
    """
    if "REDIS_URL" in environ:
        address = environ["REDIS_URL"]
        # simultaneous setups may share a Redis server, but not a queue
        prefix = f"asgi:{environ.get('BENCH_PORT', '')}"
    elif "RUN_DIR" in environ:
        address = f"unix://{environ['RUN_DIR']}/redis.sock"  # the socket of supervisor/redis.sh
        prefix = "asgi"
    else:
        raise ImproperlyConfigured("Set REDIS_URL, or source supervisor/defaults.sh, which sets RUN_DIR.")
    # The layer blocks for five seconds in BZPOPMIN, and by default, redis-py 8 stops waiting after five seconds.
    host = {"address": address, "socket_timeout": None, "max_connections": connections}
    return {"BACKEND": backend, "CONFIG": {"hosts": [host], "prefix": prefix, **config}}


LAYERS: Mapping[str, Callable[[Mapping[str, str]], Layer]] = {
    "memory": memory,
    "ipc": ipc,
    "redis": redis,
    "pubsub": pubsub,
}
