"""What the processes share: queues, waiters and groups, in an LMDB file.

Every method is one write transaction, so each happens wholly or not at all, whenever a process is killed;
the lock is LMDB's robust mutex, which the kernel takes back from the dead. There are no read transactions,
hence no readers' slots that a killed process could leave behind. A transaction that changes nothing costs
half a microsecond, one that does about five.

Times are seconds of the monotonic clock, which all processes of a boot share and nobody sets.
"""

import os
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

import lmdb

from . import queues
from .allocation import NO_SPACE, create_files, means_no_space
from .names import non_local
from .queues import Waiter

MAP_SIZE: Final = 1 << 30
MAX_MESSAGE: Final = MAP_SIZE // 8
_MAX_USED: Final = MAP_SIZE // 2  # the rest is room for the gaps between messages
_SPARE_PAGES: Final = 64
_GROWTH: Final = 2 << 20
_FIRST_BYTES: Final = _SPARE_PAGES * 4096


class QueueFull(Exception):
    """The channel holds as many messages as it may, or the store does."""


class _Transaction:
    """A write transaction as a context; one that found no room raises QueueFull."""

    def __init__(self, env: lmdb.Environment) -> None:
        self._env = env

    def __enter__(self) -> queues.Transaction:
        self._txn = self._env.begin(write=True, buffers=True)
        return self._txn.__enter__()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: Any) -> None:
        try:
            self._txn.__exit__(kind, error, traceback)
        except lmdb.Error as failed:
            error = failed
            if not means_no_space(failed):
                raise
        if isinstance(error, lmdb.Error) and means_no_space(error):
            raise QueueFull from error


class Taken(NamedTuple):
    """A message off a queue, and who should be woken because there are more."""

    channel: str
    payload: bytes
    next_waiter: Waiter | None


class Store:
    """The shared file at `path`. Not to be opened twice in a process, nor used by two threads at once."""

    def __init__(self, path: str) -> None:
        create_files(path, map_size=MAP_SIZE, data_bytes=_FIRST_BYTES)
        self._env = lmdb.open(
            path, subdir=False, mode=0o600, map_size=MAP_SIZE, sync=False, metasync=False, max_spare_txns=0
        )
        self._tree = self._env.open_db(None)
        self._transaction = _Transaction(self._env)
        self._swept_to = b""
        self._file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        self._allocated = 0

    def close(self) -> None:
        self._env.close()
        os.close(self._file)

    # Messages

    def put(self, channel: str, payload: bytes, *, now: float, expires: float, capacity: int) -> Waiter | None:
        """Append `payload` to the channel's queue; returns who waits for it.

        Raises QueueFull where `capacity` messages, or as many bytes as the store holds, are unread.
        """
        with self._transaction as txn:
            self._require_room(txn, len(payload))
            cursor = txn.cursor()
            number = queues.next_number(txn, cursor, channel, now, capacity)
            if number is not None and queues.count(txn, cursor, channel, now, expires, capacity):
                entry = queues.ENTRY.pack(expires, txn.id(), False)
                txn.put(queues.queue(channel) + queues.NUMBER.pack(number), entry + payload)
                return queues.pop_waiter(cursor, channel)
        raise QueueFull  # here, for an exception inside would undo the removal of what had lapsed

    def take(self, channel: str, *, now: float, process: str = "", ticket: str = "") -> Taken | None:
        """The oldest message of the channel, or of any channel of that prefix if the name ends with "!".

        Where there is none, and a ticket is given, the process waits from now on: there is no moment between
        looking and waiting in which a message could come unnoticed.
        """
        with self._transaction as txn:
            cursor = txn.cursor()
            while found := queues.head(cursor, channel):
                name, expires = found
                payload = queues.remove(txn, cursor, name)
                if expires > now:
                    more = ticket and queues.head(cursor, channel)
                    return Taken(name, payload, queues.pop_waiter(cursor, channel) if more else None)
            if ticket:
                txn.put(queues.waiters(channel) + ticket.encode() + process.encode(), b"")
            return None

    def ready(self, channels: Iterable[str]) -> list[str]:
        """Those of the channels that have a message."""
        with self._transaction as txn:
            cursor = txn.cursor()
            return [channel for channel in channels if queues.head(cursor, channel)]

    # Waiters

    def next_waiter(self, channel: str) -> Waiter | None:
        """The process that has waited longest on the channel; it waits no more."""
        with self._transaction as txn:
            return queues.pop_waiter(txn.cursor(), channel)

    def stop_waiting(self, waiter: Waiter) -> None:
        with self._transaction as txn:
            txn.delete(queues.waiters(waiter.channel) + waiter.ticket.encode() + waiter.process.encode())

    # Groups

    def group_add(self, group: str, channel: str, *, expires: float) -> None:
        with self._transaction as txn:
            self._require_room(txn, len(channel))
            txn.put(queues.group(group) + channel.encode(), queues.TIME.pack(expires))

    def group_discard(self, group: str, channel: str) -> None:
        with self._transaction as txn:
            txn.delete(queues.group(group) + channel.encode())

    def group_members(self, group: str, *, now: float) -> list[str]:
        """The channels in the group; those whose membership has lapsed are removed."""
        prefix = queues.group(group)
        members = []
        with self._transaction as txn:
            cursor = txn.cursor()
            key = queues.skip_to(cursor, prefix)
            while key.startswith(prefix):
                if queues.TIME.unpack(cursor.value())[0] > now:
                    members.append(key[len(prefix) :].decode())
                else:
                    cursor.delete()
                key = queues.skip_to(cursor, queues.after(key))
        return members

    def put_all(
        self, capacities: dict[str, int], payload: bytes, *, now: float, expires: float
    ) -> list[tuple[str, Waiter | None]]:
        """Append one payload to many queues, with each channel's capacity; those that are full go without.

        The payload is stored once. What a group is sent counts against each channel by itself, not against
        its prefix: one member that does not read must not silence the others in its process.
        Returns the channels that got it and who waits on each.
        """
        reached: list[tuple[str, Waiter | None]] = []
        with self._transaction as txn:
            self._require_room(txn, len(payload))
            cursor = txn.cursor()
            transaction = queues.NUMBER.pack(txn.id())
            entry = queues.ENTRY.pack(expires, txn.id(), True) + transaction
            for channel, capacity in capacities.items():
                number = queues.next_number(txn, cursor, channel, now, capacity)
                if number is not None and queues.unread(txn, channel) < capacity:
                    txn.put(queues.queue(channel) + queues.NUMBER.pack(number), entry)
                    reached.append((channel, queues.pop_waiter(cursor, channel)))
            if reached:
                queues.share(txn, payload, len(reached))
        return reached

    # Housekeeping

    def sweep(self, steps: int, *, now: float, alive: Callable[[str], bool]) -> bool:
        """Look at the next `steps` keys, round and round: remove what has lapsed and what the dead left.

        Returns whether these were all.

        Called with more steps than keys were added since the last call, it keeps what nobody reads from
        growing, at a cost that does not depend on how much there is.
        """
        with self._transaction as txn:
            cursor = txn.cursor()
            from_the_first = not self._swept_to
            key = queues.skip_to(cursor, self._swept_to)
            for _ in range(steps):
                if not key:
                    break
                queues.sweep_one(txn, cursor, key, now, alive)
                key = queues.skip_to(cursor, queues.after(key))
            self._swept_to = key
        return from_the_first and not key

    def forget_process(self, channel: str) -> None:
        """Remove all messages of the process that owned `channel`, which is dead."""
        name = non_local(channel)
        with self._transaction as txn:
            cursor = txn.cursor()
            while found := queues.head(cursor, name):
                queues.remove(txn, cursor, found[0])

    def flush(self) -> None:
        """Remove all messages and groups. Those who wait go on waiting."""
        with self._transaction as txn:
            cursor = txn.cursor()
            waiting = []
            key = queues.skip_to(cursor, b"c")
            while match := queues.KEY.match(key):
                if match[2] == b"\2":
                    waiting.append(key)
                key = queues.skip_to(cursor, queues.after(key))
            txn.drop(self._tree, delete=False)
            for key in waiting:
                txn.put(key, b"")

    def statistics(self) -> dict[str, int]:
        """How many keys there are, the bytes they take, and the bytes of the file."""
        with self._transaction as txn:
            tree = txn.stat(self._tree)
        file = (self._env.info()["last_pgno"] + 1) * tree["psize"]
        return {"entries": tree["entries"], "used": _used(tree), "file": file}

    def _require_room(self, txn: queues.Transaction, length: int) -> None:
        """Raise QueueFull unless `length` bytes more leave enough of the file free to take messages off it.

        Taking one writes pages too: without this, a store that is full to the brim could never be emptied.
        """
        tree = txn.stat(self._tree)
        used = _used(tree) + length
        spare = _SPARE_PAGES * tree["psize"]
        if used + spare <= self._allocated:
            return
        if used + spare <= _MAX_USED and (self._allocate(used + _GROWTH) or self._allocate(used + spare)):
            return
        raise QueueFull

    def _allocate(self, size: int) -> bool:
        """Have the file system set this much of the file aside, so that writing there cannot fail."""
        try:
            os.posix_fallocate(self._file, 0, size)
        except OSError as error:
            if error.errno not in NO_SPACE:
                raise
            return False
        self._allocated = size
        return True


def _used(tree: "lmdb._StatDict") -> int:
    """The bytes of the pages that hold something."""
    return (tree["leaf_pages"] + tree["branch_pages"] + tree["overflow_pages"]) * tree["psize"]
