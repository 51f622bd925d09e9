"""The channel layer that settings name as BACKEND."""

import os
from collections.abc import Mapping
from re import Pattern
from typing import Any, ClassVar, TypeAlias

import msgpack
from channels.exceptions import ChannelFull, MessageTooLarge
from channels.layers import BaseChannelLayer

from . import lifecycle
from .allocation import no_space
from .directory import default_path, private_directory
from .node import Node
from .store import MAX_MESSAGE, QueueFull

Message: TypeAlias = dict[str, Any]

_CHANNEL_KEY = "__asgi_channel__"


class IPCChannelLayer(BaseChannelLayer):  # type: ignore[misc]
    """Channels between the processes of one machine that run as the same user and name the same `path`.

    `path`            a directory that only this user may enter; made where it does not exist
    `expiry`          seconds after which an unread message may be dropped
    `group_expiry`    seconds that a membership lasts after the latest group_add()
    `capacity`        unread messages that a channel may hold; the channels of one new_channel() prefix of a
                      process share it
    `channel_capacity`  capacities of channels by name, glob or compiled pattern; the first that fits counts

    The first use raises ImproperlyConfigured if `path` can't be private to this user, and OSError with ENOSPC if the
    file system has no room for the layer's files.
    """

    extensions: ClassVar[list[str]] = ["groups", "flush"]
    ChannelFull = ChannelFull
    MessageTooLarge = MessageTooLarge

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        expiry: float = 60,
        group_expiry: float = 86400,
        capacity: int = 100,
        channel_capacity: Mapping[str | Pattern[str], int] | None = None,
    ) -> None:
        super().__init__(expiry=expiry, capacity=capacity)
        self.path = os.fspath(path) if path is not None else default_path()
        self.group_expiry = group_expiry
        self.channel_capacity = self.compile_capacities(channel_capacity or {})
        self._joined: tuple[str, Node] | None = None

    # Channels

    async def send(self, channel: str, message: Message) -> None:
        """Put `message` on `channel`. Raises ChannelFull, or MessageTooLarge beyond 128 MB."""
        self.require_valid_channel_name(channel)
        payload = _pack(message)
        try:
            self._node.send(channel, payload, expiry=self.expiry, capacity=self.get_capacity(channel))
        except QueueFull:
            raise ChannelFull(channel) from None

    async def receive(self, channel: str) -> Message:
        """The next message on `channel`, waiting for it if need be; cancelling it loses none.

        On "prefix!", the next on any channel of that prefix, whose name is under "__asgi_channel__".
        Raises ValueError for a name with "!" of another process.
        """
        self.require_valid_channel_name(channel)
        taken = await self._node.receive(channel)
        message: Message = msgpack.unpackb(taken.payload, strict_map_key=False)
        if channel.endswith("!"):
            message[_CHANNEL_KEY] = taken.channel
        return message

    async def new_channel(self, prefix: str = "specific") -> str:
        """The name of a channel on which only this process receives. It costs nothing until it is sent to."""
        return self._node.new_channel(prefix)

    async def flush(self) -> None:
        """Remove all messages and groups, of every process. Those who wait go on waiting.

        Raises:
            OSError: With ENOSPC, if the file system refuses to overwrite a part of the layer's files.
        """
        try:
            self._node.flush()
        except QueueFull:
            raise no_space(self.path) from None

    async def close(self) -> None:
        """Leave the exchange. Using the layer again joins it anew, under another name."""
        if self._joined:
            directory, joined = self._joined
            self._joined = None
            if not joined.closed:
                lifecycle.leave(directory)

    # Groups

    async def group_add(self, group: str, channel: str) -> None:
        """Add `channel` to `group` for `group_expiry` seconds from now."""
        self.require_valid_group_name(group)
        self.require_valid_channel_name(channel)
        try:
            self._node.group_add(group, channel, expiry=self.group_expiry)
        except QueueFull:
            raise ChannelFull(group) from None

    async def group_discard(self, group: str, channel: str) -> None:
        """Take `channel` out of `group` if it is in it.

        Raises:
            OSError: With ENOSPC, if the file system refuses to overwrite a part of the layer's files.
        """
        self.require_valid_group_name(group)
        self.require_valid_channel_name(channel)
        try:
            self._node.group_discard(group, channel)
        except QueueFull:
            raise no_space(self.path) from None

    async def group_send(self, group: str, message: Message) -> None:
        """Put `message` on every channel of `group`; those that are full go without."""
        self.require_valid_group_name(group)
        self._node.group_send(group, _pack(message), expiry=self.expiry, capacity=self.get_capacity)

    def statistics(self) -> dict[str, int]:
        """How much the exchange holds, of all processes: `entries` (messages, members, those who wait and so
        on), the bytes of memory they have `used`, and those of the `file`, which keeps the size it once needed."""
        return self._node.statistics()

    @property
    def _node(self) -> Node:
        # Joined at first use, for a server may import the settings and then fork; and anew in a child.
        if self._joined is None or self._joined[1].closed:
            directory = private_directory(self.path)
            self._joined = directory, lifecycle.join(directory)
        return self._joined[1]


def _pack(message: Message) -> bytes:
    if not isinstance(message, dict):
        raise TypeError(f"A message is a dict, not {type(message).__name__}.")
    if _CHANNEL_KEY in message:
        raise ValueError(f"The key {_CHANNEL_KEY} of a message is reserved.")
    payload: bytes = msgpack.packb(message)
    if len(payload) > MAX_MESSAGE:
        raise MessageTooLarge(f"A message of {len(payload)} bytes; the most is {MAX_MESSAGE}.")
    return payload
