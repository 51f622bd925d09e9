"""A pytest plugin: ``IPCChannelLayer`` stands in for the layers whose tests are run.

The layers of one test share a directory, as they would share a Redis; each test has its own.
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
    """Takes what is configured of a Redis, and does without."""

    def __init__(self, hosts: Any = None, **config: Any) -> None:
        super().__init__(path=os.path.join(_directory, "layer"), **config)
        _made.append(self)

    async def close_pools(self) -> None:
        """There are none: what a name with "!" holds must stay."""


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
