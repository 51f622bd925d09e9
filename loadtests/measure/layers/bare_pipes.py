"""The least that a layer in Python's event loop can do: what channels_ipc can be compared with, not a layer to use.

A message is packed, written to the pipe of the process that receives, and given to who waits for it. There is no
capacity, expiry or group, one receiver for each channel, and no message above 4 KB, which a pipe takes in one piece.
The process that starts first is the one that is asked.
"""

from __future__ import annotations

import asyncio
import itertools
import os
from collections import defaultdict, deque
from pathlib import Path
from typing import Any

import msgpack
from channels.layers import BaseChannelLayer

SIZE = 4  # bytes that say how long a message is
PIPE_HOLDS = 1 << 20


class BarePipes(BaseChannelLayer):  # type: ignore[misc]
    """A pipe for each process below the folder ``path``; the one of the first is called ``public``."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self._folder = Path(path)
        self._folder.mkdir(exist_ok=True)
        self._name = "private" if (self._folder / "public").exists() else "public"
        os.mkfifo(self._folder / self._name)
        self._fd = os.open(self._folder / self._name, os.O_RDWR | os.O_NONBLOCK)
        self._pipes: dict[str, int] = {}
        self._local_parts = itertools.count()
        self._messages: defaultdict[str, deque[Any]] = defaultdict(deque)
        self._waiting: dict[str, asyncio.Future[None]] = {}
        self._rest = b""
        self._hears = False

    async def new_channel(self, prefix: str = "specific") -> str:
        return f"{prefix}.{self._name}!{next(self._local_parts)}"

    async def send(self, channel: str, message: dict[str, Any]) -> None:
        self.require_valid_channel_name(channel)
        to = "private" if "!" in channel else "public"
        if to not in self._pipes:
            self._pipes[to] = os.open(self._folder / to, os.O_RDWR)
        payload = msgpack.packb((channel, message))
        os.write(self._pipes[to], len(payload).to_bytes(SIZE, "big") + payload)

    async def receive(self, channel: str) -> Any:
        self.require_valid_channel_name(channel)
        if not self._hears:
            asyncio.get_running_loop().add_reader(self._fd, self._read)
            self._hears = True
        if not self._messages[channel]:
            self._waiting[channel] = asyncio.get_running_loop().create_future()
            await self._waiting[channel]
            del self._waiting[channel]
        found = self._messages[channel].popleft()
        if not self._messages[channel]:
            del self._messages[channel]
        return found

    def _read(self) -> None:
        data = self._rest + os.read(self._fd, PIPE_HOLDS)
        at = 0
        while at + SIZE <= len(data) and (end := at + SIZE + int.from_bytes(data[at : at + SIZE], "big")) <= len(data):
            channel, message = msgpack.unpackb(data[at + SIZE : end])
            self._messages[channel].append(message)
            if (waiting := self._waiting.get(channel)) and not waiting.done():
                waiting.set_result(None)
            at = end
        self._rest = data[at:]
