"""How each layer is reached; the measuring and the echoing process agree on it here."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from loadtests.measure.layers.rounds import IPC, MEMORY, PUBSUB, REDIS

CHANNEL = "layers.echo"
READY = "ready"


def channel_layer(name: str, address: str) -> Any:
    """The channel layer called ``name`` at ``address``: a directory for channels_ipc, a URL for channels_redis."""
    if name == MEMORY:
        from channels.layers import InMemoryChannelLayer

        return InMemoryChannelLayer()
    if name == IPC:
        sys.path.insert(0, str(Path(__file__).parents[2] / "testproject"))
        from channels_ipc.core import IPCChannelLayer

        return IPCChannelLayer(path=address)
    assert name in (REDIS, PUBSUB), name
    from channels_redis.core import RedisChannelLayer
    from channels_redis.pubsub import RedisPubSubChannelLayer

    # The layer blocks for five seconds in BZPOPMIN, and redis-py 8 gives up after five; it also raises beyond 100
    # connections, which is not what is measured here.
    layer = RedisChannelLayer if name == REDIS else RedisPubSubChannelLayer
    return layer(hosts=[{"address": address, "socket_timeout": None, "max_connections": 1000}])
