"""The channel layers that the setups have, from the environment: a CHANNEL_LAYERS entry each."""

from collections.abc import Callable, Mapping
from typing import Any

from django.core.exceptions import ImproperlyConfigured

Layer = dict[str, Any]

# redis-py 8 allows 100 connections and raises above; a process with thousands of WebSockets sends for many at once.
MOST_CONNECTIONS = 4096


def layer(environ: Mapping[str, str]) -> Layer:
    """The one that `CHANNEL_LAYER` names, in memory by default. Raises ImproperlyConfigured for another name."""
    wanted = environ.get("CHANNEL_LAYER") or "memory"
    if wanted not in LAYERS:
        raise ImproperlyConfigured(f"CHANNEL_LAYER is {wanted!r}; there are: {', '.join(LAYERS)}")
    return LAYERS[wanted](environ)


def memory(environ: Mapping[str, str]) -> Layer:
    """Channels' own, within one process."""
    return {"BACKEND": "channels.layers.InMemoryChannelLayer"}


def ipc(environ: Mapping[str, str], **config: Any) -> Layer:
    """Between the processes of this machine, in IPC_DIR."""
    if "IPC_DIR" not in environ:
        raise ImproperlyConfigured("Set IPC_DIR, or source supervisor/defaults.sh, which sets it.")
    return {"BACKEND": "channels_ipc.core.IPCChannelLayer", "CONFIG": {"path": environ["IPC_DIR"], **config}}


def redis(environ: Mapping[str, str]) -> Layer:
    """channels_redis, its core layer: queues in Redis."""
    return over_redis(environ, "channels_redis.core.RedisChannelLayer", MOST_CONNECTIONS)


def pubsub(environ: Mapping[str, str]) -> Layer:
    """channels_redis, its layer over Redis' publish and subscribe."""
    return over_redis(environ, "channels_redis.pubsub.RedisPubSubChannelLayer", MOST_CONNECTIONS)


def over_redis(environ: Mapping[str, str], backend: str, connections: int, **config: Any) -> Layer:
    """A layer in the Redis of REDIS_URL, or in the one that supervisor/redis.sh starts. Raises ImproperlyConfigured
    where neither is known."""
    if "REDIS_URL" in environ:
        address = environ["REDIS_URL"]
        prefix = f"asgi:{environ.get('BENCH_PORT', '')}"  # setups that run at once may share a Redis, but no queue
    elif "RUN_DIR" in environ:
        address = f"unix://{environ['RUN_DIR']}/redis.sock"  # where supervisor/redis.sh listens
        prefix = "asgi"
    else:
        raise ImproperlyConfigured("Set REDIS_URL, or source supervisor/defaults.sh, which sets RUN_DIR.")
    # The layer blocks for five seconds in BZPOPMIN, and redis-py 8 gives up after five by default.
    host = {"address": address, "socket_timeout": None, "max_connections": connections}
    return {"BACKEND": backend, "CONFIG": {"hosts": [host], "prefix": prefix, **config}}


LAYERS: Mapping[str, Callable[[Mapping[str, str]], Layer]] = {
    "memory": memory,
    "ipc": ipc,
    "redis": redis,
    "pubsub": pubsub,
}
