"""Provide the channel layer for BACKEND in the setting CHANNEL_LAYERS."""

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
    """Connect the processes of one machine that run as the same user and use the same `path`.

    The first use raises ImproperlyConfigured if `path` can't be private to this user, and OSError with ENOSPC if the
    file system has no room for the layer's files.

    Args:
        path: A directory that only this user may enter. The layer creates a missing directory.
        expiry: The seconds after which an unread message may be dropped.
        group_expiry: The seconds that a membership lasts after the latest group_add().
        capacity: The maximum number of unread messages on a channel. Within a process, the channels that new_channel()
            creates with the same prefix share this capacity.
        channel_capacity: Capacities of channels by name, glob or compiled pattern. The first match applies.
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
        """Put `message` on `channel`.

        Raises:
            ChannelFull: If the channel or the store is full.
            MessageTooLarge: If the message exceeds 128 MB.
        """
        self.require_valid_channel_name(channel)
        payload = _pack(message)
        try:
            self._node.send(channel, payload, expiry=self.expiry, capacity=self.get_capacity(channel))
        except QueueFull:
            raise ChannelFull(channel) from None

    async def receive(self, channel: str) -> Message:
        """Return the next message on `channel`, and wait for it if necessary. Cancelling this call loses no message.

        For "prefix!", return the next message on any channel of this prefix, with the channel's name in the key
        "__asgi_channel__".

        Raises:
            ValueError: If the name contains "!" and belongs to another process.
        """
        node = self._node
        payload = node.take_grouped(channel)
        if payload is not None:  # most group messages need no transaction
            message: Message = msgpack.unpackb(payload, strict_map_key=False)
            return message
        self.require_valid_channel_name(channel)
        taken = await node.receive(channel)
        message = msgpack.unpackb(taken.payload, strict_map_key=False)
        if channel.endswith("!"):
            message[_CHANNEL_KEY] = taken.channel
        return message

    async def new_channel(self, prefix: str = "specific") -> str:
        """Return the name of a channel on which only this process receives. An unused channel costs nothing."""
        return self._node.new_channel(prefix)

    async def flush(self) -> None:
        """Remove all messages and groups of all processes. Waiting receivers continue to wait.

        Raises:
            OSError: With ENOSPC, if the file system refuses to overwrite a part of the layer's files.
        """
        try:
            self._node.flush()
        except QueueFull:
            raise no_space(self.path) from None

    async def close(self) -> None:
        """Leave the exchange. The next use of the layer joins the exchange again under another name."""
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
        """Remove `channel` from `group` if it is a member.

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
        """Put `message` on each channel of `group`. Full channels don't receive the message."""
        self.require_valid_group_name(group)
        self._node.group_send(group, _pack(message), expiry=self.expiry, capacity=self.get_capacity)

    def statistics(self) -> dict[str, int]:
        """Return the size of the exchange that all processes share.

        `entries` counts messages, members, waiting processes and so on. `used` is the memory of all entries in bytes.
        `file` is the size of the file in bytes, which never shrinks.
        """
        return self._node.statistics()

    @property
    def _node(self) -> Node:
        # The layer joins at the first use, because a server can import the settings and then fork. A child process
        # joins again.
        if self._joined is None or self._joined[1].closed:
            directory = private_directory(self.path)
            self._joined = directory, lifecycle.join(directory)
        return self._joined[1]


def _pack(message: Message) -> bytes:
    if not isinstance(message, dict):
        raise TypeError(f"A message must be a dict, not {type(message).__name__}.")
    if _CHANNEL_KEY in message:
        raise ValueError(f"The key {_CHANNEL_KEY} of a message is reserved.")
    payload: bytes = msgpack.packb(message)
    if len(payload) > MAX_MESSAGE:
        raise MessageTooLarge(f"A message of {len(payload)} bytes exceeds the maximum of {MAX_MESSAGE}.")
    return payload
