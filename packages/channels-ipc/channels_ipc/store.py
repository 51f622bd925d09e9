"""Store the shared queues, waiters and groups of the processes in an LMDB file.

Each method is one write transaction, so it happens completely or not at all, even if the process is killed. The lock is
LMDB's robust mutex, which the kernel releases if its process dies. The store doesn't use read transactions, because a
killed process would leave its reader's slot behind. A transaction without changes takes half a microsecond, and a
transaction with changes takes about five microseconds.

Times are seconds of the monotonic clock. All processes share this clock until the next boot, and it can't be set.
"""

import math
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple, TypeAlias

import lmdb

from . import groups, queues
from .allocation import Space, create_files, means_no_space, used
from .counters import Counters
from .inbox import GroupMessage, Inbox
from .names import non_local
from .queues import Waiter

MAP_SIZE: Final = 1 << 30
MAX_MESSAGE: Final = MAP_SIZE // 8
_FLUSH_STEP_KEYS: Final = 16
_MAX_GROUPS: Final = 128  # the number of groups whose members a process remembers
_Capacity: TypeAlias = Callable[[str], int]


class QueueFull(Exception):
    """The channel or the store is full."""


class _Transaction:
    """Run a write transaction as a context manager, and raise QueueFull if the transaction needs more space."""

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
    """A message from a queue, and the process to wake for the next message, if any."""

    channel: str
    payload: bytes
    next_waiter: Waiter | None


class Store:
    """Access the shared file at `path`. A process may open the file once, and only one thread may use it at a time."""

    def __init__(self, path: str, inbox: Inbox) -> None:
        create_files(path, map_size=MAP_SIZE)
        self._env = lmdb.open(
            path, subdir=False, mode=0o600, map_size=MAP_SIZE, sync=False, metasync=False, max_spare_txns=0
        )
        self._tree = self._env.open_db(None)
        self._transaction = _Transaction(self._env)
        self._inbox = inbox
        self._counters = Counters(f"{path}-counters")
        self._latest_sent = b""
        # The latest prefix without messages, and the value that the counter "sent" had at that moment.
        self._nothing_sent_to = ("", b"")
        self._swept_to = b""
        self._groups: dict[tuple[str, _Capacity], groups.Members] = {}
        self._space = Space(path, most=MAP_SIZE // 2)  # the other half remains for gaps between messages

    def close(self) -> None:
        self._env.close()
        self._counters.close()
        self._space.close()

    # Messages

    def put(self, channel: str, payload: bytes, *, now: float, expires: float, capacity: int) -> Waiter | None:
        """Append `payload` to the channel's queue, and return the waiter to wake.

        Raises:
            QueueFull: If the channel has `capacity` unread messages, or the store is full.
        """
        with self._transaction as txn:
            self._require_room(txn, len(payload))
            cursor = txn.cursor()
            prefix = queues.queue(channel)
            number = queues.next_number(txn, cursor, prefix, now, capacity, channel)
            if number is not None and queues.count(txn, cursor, channel, now, expires, capacity):
                entry = queues.ENTRY.pack(expires, txn.id(), False)
                txn.put(prefix + queues.NUMBER.pack(number), entry + payload)
                self._counters.sent.increase()
                return queues.pop_waiter(cursor, channel)
        # raised outside the transaction, because an exception would undo the removal of expired messages
        raise QueueFull

    def take(self, channel: str, *, now: float, process: str, ticket: str) -> Taken | None:
        """Return the oldest message of a channel on which any process may receive.

        If the channel is empty, add this process to its waiters in the same transaction, so that it can't miss a
        message in between.
        """
        with self._transaction as txn:
            cursor = txn.cursor()
            while found := queues.head(cursor, channel):
                payload = queues.remove(txn, cursor, found.channel)
                if found.expires > now:
                    more = queues.head(cursor, channel)
                    return Taken(found.channel, payload, queues.pop_waiter(cursor, channel) if more else None)
            txn.put(queues.waiters(channel) + ticket.encode() + process.encode(), b"")
            return None

    def take_grouped(self, channel: str, *, now: float) -> bytes | None:
        """Return a channel's oldest message without a transaction, if the message is in this process's inbox."""
        if self._counters.sent.read() != self._latest_sent:
            return None
        return self._inbox.pop_next(channel, now)

    def take_own(self, channel: str, *, now: float) -> Taken | None:
        """Return the oldest message of a channel or prefix of this process, from the inbox or from the file."""
        sent = self._counters.sent.read()
        if sent != self._latest_sent:  # a flush also changes this count
            self._latest_sent = sent
            self._inbox.obey_flush(self._counters.flushes.read())
        grouped = self._inbox.find(channel, now)
        if not grouped and self._nothing_sent_to == (non_local(channel), sent):
            return None
        if not grouped or not grouped[1].is_next or channel.endswith("!"):
            with self._transaction as txn:
                cursor = txn.cursor()
                self._collect(txn, cursor, now)
                grouped = self._inbox.find(channel, now)
                while found := queues.head(cursor, channel):
                    if grouped and grouped[1].sent <= found.sent:
                        break
                    payload = queues.remove(txn, cursor, found.channel)
                    if found.expires > now:
                        return Taken(found.channel, payload, None)
                if not queues.unread(txn, channel):
                    self._nothing_sent_to = (non_local(channel), self._counters.sent.read())
        # A failed commit raises before this line, so the inbox loses no messages.
        return Taken(grouped[0], self._inbox.pop(grouped[0]), None) if grouped else None

    def ready(self, channels: Iterable[str], *, now: float) -> list[str]:
        """Return the channels that have a message."""
        with self._transaction as txn:
            cursor = txn.cursor()
            return [name for name in channels if self._inbox.find(name, now) or queues.head(cursor, name)]

    # Waiters

    def next_waiter(self, channel: str) -> Waiter | None:
        """Return the process that has waited longest on the channel, and remove it from the waiters."""
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
            self._counters.memberships.increase()

    def group_discard(self, group: str, channel: str) -> None:
        with self._transaction as txn:
            txn.delete(queues.group(group) + channel.encode())
            self._counters.memberships.increase()

    def group_send(
        self,
        group: str,
        payload: bytes,
        *,
        now: float,
        expires: float,
        capacity: _Capacity,
        known: Callable[[str], bool],
    ) -> groups.Reached:
        """Send one payload to all members of the group. Full members don't receive the message.

        The shared file contains the payload once. A group message counts towards the capacity of each channel, but not
        of its prefix, so that a slow member can't stop the messages to other members in its process.

        Raises:
            QueueFull: If the store is full. Members in this process still receive the message.
        """
        reached = groups.Reached([], [])
        with self._transaction as txn:
            cursor = txn.cursor()
            _, _, anyone, owned = self._members(cursor, group, now, capacity)
            by_process = {process: channels for process, channels in owned.items() if known(process)}
            own = by_process.pop(self._inbox.process, None)
            if own:
                self._collect(txn, cursor, now)
                message = GroupMessage(txn.id(), expires, payload, is_next=False)
                groups.distribute(txn, cursor, self._inbox, groups.Parcel(message, own), now)
            if anyone or by_process:
                self._require_room(txn, len(payload))
                reached = groups.put_all(txn, cursor, group, anyone, by_process, payload, now=now, expires=expires)
                self._counters.sent.increase()
        return reached

    def _members(self, cursor: queues.Cursor, group: str, now: float, capacity: _Capacity) -> groups.Members:
        """Return the members of the group, which are remembered until any group changes or a membership expires."""
        changes = self._counters.memberships.read()
        members = self._groups.get((group, capacity))
        if members is None or members.changes != changes or members.until <= now:
            members = groups.read_members(cursor, group, now, changes, capacity)
            if len(self._groups) >= _MAX_GROUPS:
                self._groups.clear()
            self._groups[group, capacity] = members
        return members

    def collect(self, *, now: float) -> None:
        """Distribute the parcels that other processes sent to this process's members of groups."""
        with self._transaction as txn:
            self._collect(txn, txn.cursor(), now)

    def _collect(self, txn: queues.Transaction, cursor: queues.Cursor, now: float) -> None:
        self._inbox.obey_flush(self._counters.flushes.read())
        groups.collect(txn, cursor, self._inbox, now)

    # Housekeeping

    def sweep(self, steps: int, *, now: float, alive: Callable[[str], bool]) -> bool:
        """Check the next `steps` keys in a cycle, and remove expired entries and the entries of dead processes.

        If each call checks more keys than were added since the last call, unread entries can't accumulate. The cost of
        a call doesn't depend on the size of the store.

        Returns:
            Whether the call has checked all keys.
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

    def forget_parcels(self, process: str) -> None:
        """Remove the parcels of a dead process."""
        prefix = queues.parcels(process)
        with self._transaction as txn:
            cursor = txn.cursor()
            while queues.skip_to(cursor, prefix).startswith(prefix):
                queues.remove(txn, cursor)

    def forget_process(self, channel: str) -> None:
        """Remove all messages for the dead process that owned `channel`."""
        name = non_local(channel)
        with self._transaction as txn:
            cursor = txn.cursor()
            while found := queues.head(cursor, name):
                queues.remove(txn, cursor, found.channel)

    def flush(self) -> None:
        """Remove all messages and groups. Waiting receivers continue to wait."""
        try:
            self._drop()
        except QueueFull:  # LMDB's list of all free pages needs more space than is left
            self._remove_in_steps()

    def _drop(self) -> None:
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
            self._count_flush()

    def _remove_in_steps(self) -> None:
        """Remove all entries in many small transactions, as if the entries had expired."""
        self._swept_to = b""
        while True:
            self.sweep(_FLUSH_STEP_KEYS, now=math.inf, alive=lambda process: True)
            with self._transaction:
                self._count_flush()
            if not self._swept_to:
                break

    def _count_flush(self) -> None:
        self._counters.flushes.increase()
        self._counters.sent.increase()
        self._counters.memberships.increase()

    def statistics(self) -> dict[str, int]:
        """Return the number of keys, their size and the size of the file in bytes."""
        with self._transaction as txn:
            tree = txn.stat(self._tree)
        file = (self._env.info()["last_pgno"] + 1) * tree["psize"]
        return {"entries": tree["entries"], "used": used(tree), "file": file}

    def _require_room(self, txn: queues.Transaction, length: int) -> None:
        if not self._space.reserve(txn.stat(self._tree), length):
            raise QueueFull
