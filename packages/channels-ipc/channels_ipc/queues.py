"""Define the keys of queues, waiters and groups in the tree, and the steps of their transactions.

The tree contains these keys. The keys of a channel are next to each other:

    c <channel> 00 <number>            a message of the channel's queue; numbers run without gaps
    c <prefix!> 01                     the number of unread messages from send() for the channels of a prefix
    c <channel> 02 <ticket> <process>  a process that waits on the channel, the longest waiting first
    g <group> 00 <channel>             a member, and when its membership expires
    i <process> 00 <group> 00 <number> a parcel: a group message for the members of one process
    p <transaction>                    the payload of a group message, stored once
    r <transaction>                    the number of messages that refer to the payload
"""

import re
import struct
from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

import lmdb

from .names import is_local, non_local, owner_of

Cursor: TypeAlias = "lmdb.Cursor[memoryview]"
Transaction: TypeAlias = "lmdb.Transaction[memoryview]"

# the expiry, the transaction that sent the message, and whether the payload is shared
ENTRY: Final = struct.Struct(">dQ?")
NUMBER: Final = struct.Struct(">Q")
TIME: Final = struct.Struct(">d")
KEY: Final = re.compile(rb"c([^\0-\2]+)([\0-\2])")
_REFERENCES = struct.Struct(">I")
_UNREAD = struct.Struct(">Id")  # the number of messages, and the time until which all these messages remain valid
_TICKET_LENGTH = 16


class Waiter(NamedTuple):
    """A process that waits on a channel, with its ticket."""

    process: str
    ticket: str
    channel: str


def queue(channel: str) -> bytes:
    return b"c%b\0" % channel.encode()


def waiters(channel: str) -> bytes:
    return b"c%b\2" % channel.encode()


def group(name: str) -> bytes:
    return b"g%b\0" % name.encode()


def parcels(process: str, group: str | None = None) -> bytes:
    """Return the key prefix of all parcels of a process, or only of its parcels from a group."""
    return b"i%b\0" % process.encode() + (b"" if group is None else b"%b\0" % group.encode())


def _counter(channel: str) -> bytes:
    return b"c%b\1" % non_local(channel).encode()


def skip_to(cursor: Cursor, key: bytes) -> bytes:
    """Move to `key`, or to the next key if `key` is missing. Return the new key, or b"" at the end.

    All loops use this function, because the position of a cursor after a deletion is hard to predict.
    """
    return bytes(cursor.key()) if cursor.set_range(key) else b""


def after(key: bytes) -> bytes:
    """Return the smallest key after `key`."""
    return key + b"\0"


def _next_section(match: re.Match[bytes]) -> bytes:
    """Return the upper bound of the keys with the same channel and kind as `match`."""
    return match[0][:-1] + bytes([match[2][0] + 1])


class Head(NamedTuple):
    """The oldest message of a queue: its channel, its expiry, and the transaction that sent it."""

    channel: str
    expires: float
    sent: int


def head(cursor: Cursor, channel: str) -> Head | None:
    """Move to the oldest message of `channel` or, for "prefix!", to the oldest message of the prefix's channels."""
    if not channel.endswith("!"):
        prefix = queue(channel)
        if not skip_to(cursor, prefix).startswith(prefix):
            return None
        expires, sent, _ = ENTRY.unpack_from(cursor.value())
        return Head(channel, expires, sent)
    oldest: Head | None = None
    oldest_key = b""
    prefix = b"c" + channel.encode()
    key = skip_to(cursor, prefix)
    while key.startswith(prefix) and (match := KEY.match(key)):
        if match[2] == b"\0":
            expires, sent, _ = ENTRY.unpack_from(cursor.value())
            if oldest is None or sent < oldest.sent:
                oldest, oldest_key = Head(match[1].decode(), expires, sent), key
        key = skip_to(cursor, _next_section(match))
    if oldest:
        cursor.set_key(oldest_key)
    return oldest


def _lapses(cursor: Cursor) -> float:
    expires: float = ENTRY.unpack_from(cursor.value())[0]
    return expires


def remove(txn: Transaction, cursor: Cursor, channel: str = "") -> bytes:
    """Remove the message of `channel` or the parcel at the cursor, and return the payload."""
    entry = cursor.value()
    shared = ENTRY.unpack_from(entry)[2]
    content = bytes(entry[ENTRY.size :])
    cursor.delete()
    if shared:
        return _dereference(txn, content[: NUMBER.size])
    if is_local(channel):
        _uncount(txn, channel)
    return content


def share(txn: Transaction, payload: bytes, references: int) -> None:
    """Store a payload once, under the number of this transaction."""
    number = NUMBER.pack(txn.id())
    txn.put(b"p" + number, payload)
    txn.put(b"r" + number, _REFERENCES.pack(references))


def _dereference(txn: Transaction, number: bytes) -> bytes:
    payload = bytes(txn.get(b"p" + number, b""))
    (left,) = _REFERENCES.unpack(txn.get(b"r" + number, b""))
    if left > 1:
        txn.put(b"r" + number, _REFERENCES.pack(left - 1))
    else:
        txn.delete(b"p" + number)
        txn.delete(b"r" + number)
    return payload


def next_number(
    txn: Transaction, cursor: Cursor, prefix: bytes, now: float, capacity: int, channel: str = ""
) -> int | None:
    """Return the number for the next message of a queue, or None if `capacity` messages are unread."""
    key = skip_to(cursor, prefix)
    if not key.startswith(prefix):
        return 0 if capacity > 0 else None
    following = _last_number(cursor, prefix) + 1
    cursor.set_key(key)
    while key.startswith(prefix) and following - _number(key) >= capacity:
        if _lapses(cursor) > now:
            return None
        remove(txn, cursor, channel)
        key = skip_to(cursor, prefix)
    return following


def length(cursor: Cursor, channel: str) -> int:
    """Return the number of messages in the channel's queue."""
    prefix = queue(channel)
    key = skip_to(cursor, prefix)
    return _last_number(cursor, prefix) + 1 - _number(key) if key.startswith(prefix) else 0


def _last_number(cursor: Cursor, prefix: bytes) -> int:
    """Move to the last message of a queue that isn't empty, and return its number."""
    last = cursor.prev() if cursor.set_range(prefix[:-1] + b"\1") else cursor.last()
    assert last
    return _number(bytes(cursor.key()))


def _number(key: bytes) -> int:
    number: int = NUMBER.unpack(key[-NUMBER.size :])[0]
    return number


# The capacity of a prefix, which all its channels in a process share, as in the specification.


def unread(txn: Transaction, channel: str) -> int:
    """Return the number of unread messages from send() for the prefix of `channel`, or 0 without a prefix."""
    counted = txn.get(_counter(channel)) if is_local(channel) else None
    return _UNREAD.unpack(counted)[0] if counted else 0


def count(txn: Transaction, cursor: Cursor, channel: str, now: float, expires: float, capacity: int) -> bool:
    """Count another message of the channel's prefix, and return whether the prefix had room for it."""
    if not is_local(channel):
        return True
    key = _counter(channel)
    counted = txn.get(key)
    number, earliest = _UNREAD.unpack(counted) if counted else (0, expires)
    if number >= capacity and earliest <= now:
        earliest = _purge(txn, cursor, non_local(channel), now, expires)
        number = unread(txn, channel)
    if number >= capacity:
        txn.put(key, _UNREAD.pack(number, earliest))
        return False
    txn.put(key, _UNREAD.pack(number + 1, min(earliest, expires)))
    return True


def _uncount(txn: Transaction, channel: str) -> None:
    key = _counter(channel)
    number, earliest = _UNREAD.unpack(txn.get(key) or b"")
    if number > 1:
        txn.put(key, _UNREAD.pack(number - 1, earliest))
    else:
        txn.delete(key)


def _purge(txn: Transaction, cursor: Cursor, prefix: str, now: float, earliest: float) -> float:
    """Remove expired messages in the queues of `prefix`.

    Returns:
        The earliest expiry of the remaining messages, or `earliest` if this time is earlier.
    """
    start = b"c" + prefix.encode()
    key = skip_to(cursor, start)
    while key.startswith(start) and (match := KEY.match(key)):
        step = _next_section(match)
        if match[2] == b"\0":
            if _lapses(cursor) <= now:
                remove(txn, cursor, match[1].decode())
                step = key
            else:
                earliest = min(earliest, _lapses(cursor))
        key = skip_to(cursor, step)
    return earliest


# Waiters


def pop_waiter(cursor: Cursor, channel: str) -> Waiter | None:
    """Remove and return the waiter that has waited longest on `channel`."""
    if is_local(channel):  # local channels need no list of waiters, because their names determine the reader
        return None
    prefix = waiters(channel)
    key = skip_to(cursor, prefix)
    if not key.startswith(prefix):
        return None
    cursor.delete()
    waiter = key[len(prefix) :].decode()
    return Waiter(waiter[_TICKET_LENGTH:], waiter[:_TICKET_LENGTH], channel)


# Housekeeping


def sweep_one(txn: Transaction, cursor: Cursor, key: bytes, now: float, alive: Callable[[str], bool]) -> None:
    """Remove the entry with `key`, at the cursor, if the entry has expired or belongs to a dead process."""
    match = KEY.match(key)
    if match and match[2] == b"\0":
        channel = match[1].decode()
        if (_lapses(cursor) <= now or _dead(channel, alive)) and _is_head(cursor, key):
            remove(txn, cursor, channel)
    elif match and match[2] == b"\2":
        if not alive(key[match.end() + _TICKET_LENGTH :].decode()):
            cursor.delete()
    elif key.startswith(b"i"):
        process = key[1 : key.index(b"\0")].decode()
        if (_lapses(cursor) <= now or not alive(process)) and _is_head(cursor, key):
            remove(txn, cursor)
    elif key.startswith(b"g") and (
        TIME.unpack(cursor.value())[0] <= now or _dead(key.partition(b"\0")[2].decode(), alive)
    ):
        cursor.delete()


def _dead(channel: str, alive: Callable[[str], bool]) -> bool:
    if not is_local(channel):
        return False
    owner = owner_of(channel)
    return owner is None or not alive(owner)


def _is_head(cursor: Cursor, key: bytes) -> bool:
    """Return whether the message at `key` is the oldest of its queue.

    Removing another message would leave a gap in the numbers.
    """
    first = skip_to(cursor, key[: -NUMBER.size]) == key
    cursor.set_key(key)
    return first
