"""Define the steps of the transactions that send messages to groups.

A group message is sent once to each process with members, as a parcel that lists these members. The process collects
its parcels and distributes the messages to its channels in its own memory. Members without "!" in their names get the
message in their queues, because any process may receive on these channels.
"""

import math
from collections.abc import Callable
from typing import Final, NamedTuple

import msgpack

from . import queues
from .inbox import GroupMessage, Inbox
from .names import is_local, non_local, owner_of

_MEMBERS_AT: Final = queues.ENTRY.size + queues.NUMBER.size


class Parcel(NamedTuple):
    """A group message for one process, and the capacities of the channels that receive it."""

    message: GroupMessage
    members: dict[str, int]


class Reached(NamedTuple):
    """The channels (with the waiters to wake) and the other processes to which a group message was sent."""

    channels: list[tuple[str, queues.Waiter | None]]
    processes: list[str]


def find_members(cursor: queues.Cursor, group: str, now: float) -> tuple[list[str], float]:
    """Return the channels in the group and the time of the next expiry, and remove expired memberships."""
    prefix = queues.group(group)
    members, lapsed, until = [], [], math.inf
    if cursor.set_range(prefix):
        for key, value in cursor.iternext():
            name = bytes(key)
            if not name.startswith(prefix):
                break
            expires = queues.TIME.unpack(value)[0]
            if expires > now:
                until = min(until, expires)
                members.append(name[len(prefix) :].decode())
            else:
                lapsed.append(name)
    for name in lapsed:
        cursor.set_key(name)
        cursor.delete()
    return members, until


class Members(NamedTuple):
    """The capacities of the members of a group.

    Attributes:
        changes: The count of changes to groups when the members were read.
        until: The time when the first membership expires.
        anyone: The members on which any process may receive.
        owned: The other members, by the process that receives on them.
    """

    changes: bytes
    until: float
    anyone: dict[str, int]
    owned: dict[str, dict[str, int]]


def read_members(
    cursor: queues.Cursor, group: str, now: float, changes: bytes, capacity: Callable[[str], int]
) -> Members:
    """Return the members of the group, and remove expired memberships."""
    channels, until = find_members(cursor, group, now)
    anyone: dict[str, int] = {}
    owned: dict[str, dict[str, int]] = {}
    for channel in channels:
        owner = owner_of(channel)
        if owner:
            owned.setdefault(owner, {})[channel] = capacity(channel)
        elif not is_local(channel):
            anyone[channel] = capacity(channel)
    return Members(changes, until, anyone, owned)


def put_all(
    txn: queues.Transaction,
    cursor: queues.Cursor,
    group: str,
    anyone: dict[str, int],
    by_process: dict[str, dict[str, int]],
    payload: bytes,
    *,
    now: float,
    expires: float,
) -> Reached:
    """Add a parcel for each process and a message for each channel that any process may read.

    A process gets no parcel if its unread parcels from the group have reached the largest capacity of its members.
    """
    reached = Reached([], [])
    entry = queues.ENTRY.pack(expires, txn.id(), True) + queues.NUMBER.pack(txn.id())
    for process, members in by_process.items():
        prefix = queues.parcels(process, group)
        number = queues.next_number(txn, cursor, prefix, now, max(members.values()))
        if number is not None:
            txn.put(prefix + queues.NUMBER.pack(number), entry + msgpack.packb(members))
            reached.processes.append(process)
    for channel, capacity in anyone.items():
        prefix = queues.queue(channel)
        number = queues.next_number(txn, cursor, prefix, now, capacity, channel)
        if number is not None:
            txn.put(prefix + queues.NUMBER.pack(number), entry)
            reached.channels.append((channel, queues.pop_waiter(cursor, channel)))
    if references := len(reached.processes) + len(reached.channels):
        queues.share(txn, payload, references)
    return reached


def collect(txn: queues.Transaction, cursor: queues.Cursor, inbox: Inbox, now: float) -> None:
    """Distribute the parcels of this process, in the order in which they were sent."""
    prefix = queues.parcels(inbox.process)
    parcels = []
    while queues.skip_to(cursor, prefix).startswith(prefix):
        value = bytes(cursor.value())
        expires, sent, _ = queues.ENTRY.unpack_from(value)
        payload = queues.remove(txn, cursor)
        parcels.append(
            Parcel(GroupMessage(sent, expires, payload, is_next=False), msgpack.unpackb(value[_MEMBERS_AT:]))
        )
    for parcel in sorted(parcels, key=lambda parcel: parcel.message.sent):
        if inbox.is_new(parcel.message.sent) and parcel.message.expires > now:
            distribute(txn, cursor, inbox, parcel, now)


def distribute(txn: queues.Transaction, cursor: queues.Cursor, inbox: Inbox, parcel: Parcel, now: float) -> None:
    """Put the message on each member that has room for it, in addition to the member's messages from send()."""
    by_prefix: dict[str, tuple[int, GroupMessage]] = {}
    for channel, capacity in parcel.members.items():
        prefix = non_local(channel)
        if prefix not in by_prefix:
            unread = queues.unread(txn, channel)
            by_prefix[prefix] = unread, parcel.message._replace(is_next=not unread)
        unread, message = by_prefix[prefix]
        stored = queues.length(cursor, channel) if unread else 0
        if unread < capacity and inbox.count(channel, now) + stored < capacity:
            inbox.put(channel, message)
