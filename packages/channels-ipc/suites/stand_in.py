"""Replace the layers in other projects' tests with ``IPCChannelLayer``. This module is a pytest plugin.

All layers of a test share a directory, as they would share a Redis server. Each test uses a separate directory.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Iterator
from typing import Any

import channels.layers
import channels_redis.core
import channels_redis.pubsub
import pytest
from channels_ipc.core import IPCChannelLayer

_made: list[IPCChannelLayer] = []
_directory = ""


class StandIn(IPCChannelLayer):
    """A layer that accepts the configuration of a Redis layer, and ignores the hosts."""

    def __init__(self, hosts: Any = None, **config: Any) -> None:
        super().__init__(path=os.path.join(_directory, "layer"), **config)
        _made.append(self)

    async def close_pools(self) -> None:
        """Do nothing, because the layer has no pools, and local channels must keep their messages."""


channels.layers.InMemoryChannelLayer = StandIn
channels_redis.core.RedisChannelLayer = channels_redis.pubsub.RedisPubSubChannelLayer = StandIn


@pytest.fixture(autouse=True)
def directory() -> Iterator[None]:
    global _directory
    _directory = tempfile.mkdtemp(prefix="layer-suite-")
    yield
    for layer in _made:
        asyncio.run(layer.close())
    _made.clear()
    shutil.rmtree(_directory)
