"""Represent a process in the exchange, with its store, its doorbell and its waiting receivers."""

import asyncio
import itertools
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from weakref import WeakSet

from .directory import data_file
from .doorbell import Doorbell, Doorbells
from .groups import Reached
from .housekeeping import Housekeeping
from .inbox import Inbox
from .names import is_local, new_process, non_local, owner_of
from .queues import Waiter
from .store import QueueFull, Store, Taken
from .waiting import Waiting, WaitingRoom

# A waiting process checks its channels at this interval, so a lost ring costs at most this time.
_BACKSTOP_SECONDS = 1.0
_PARCEL = b""  # the ring for parcels, while other rings contain a channel


class Node:
    """Connect all threads and event loops of this process to the exchange in `directory`.

    The lock is held for the microseconds of a transaction, and never during a wait.
    """

    def __init__(self, directory: str) -> None:
        self.process = new_process()
        self.closed = False
        self._directory = directory
        self._lock = threading.Lock()
        self._inbox = Inbox(self.process)
        self._store = Store(data_file(directory), self._inbox)
        try:
            self._bell = Doorbell(directory, self.process)
        except OSError:
            self._store.close()
            raise
        self._bells = Doorbells(directory)
        self._room = WaitingRoom()
        self._local_parts = itertools.count(1)
        self._loops: WeakSet[asyncio.AbstractEventLoop] = WeakSet()  # the loops that listen to the doorbell
        self._housekeeping = Housekeeping(self._inbox, self._bells)

    # Channels

    def send(self, channel: str, payload: bytes, *, expiry: float, capacity: int) -> None:
        """Put a message on the channel and wake a receiver.

        Raises:
            QueueFull: If the channel or the store is full.
        """
        now = time.monotonic()
        with self._lock:
            if not self._reachable(channel):
                return
            waiter = self._store.put(channel, payload, now=now, expires=now + expiry, capacity=capacity)
            self._announce(channel, waiter)
            self._housekeeping.keep(self._store, now, keys_added=1)

    def take_grouped(self, channel: str) -> bytes | None:
        """Return the next message of the channel if it is a group message in the memory of this process."""
        with self._lock:
            return None if self.closed else self._store.take_grouped(channel, now=time.monotonic())

    async def receive(self, channel: str) -> Taken:
        """Return the next message of the channel. A cancelled call doesn't remove a message.

        Raises:
            ValueError: If the name contains "!" and belongs to another process.
        """
        loop = asyncio.get_running_loop()
        local = is_local(channel)
        if local and owner_of(channel) != self.process:
            raise ValueError(
                f'Cannot receive on "{channel}": a name with "!" belongs to the process that created it. '
                f'The names of this process start with "<prefix>.{self.process}!".'
            )
        while True:
            with self._lock:
                ticket = "" if local else self._room.draw_ticket()
                taken = self._take(channel, ticket)
                if taken:  # no await follows until the caller has the message, so no taken message is lost
                    return taken
                waiting = self._wait(channel, ticket, loop)
            try:
                await waiting.future
            except BaseException:
                with self._lock:
                    self._leave(waiting)
                raise

    def new_channel(self, prefix: str) -> str:
        """Return a new channel name on which only this process receives."""
        return f"{prefix}.{self.process}!{next(self._local_parts):x}"

    def flush(self) -> None:
        with self._lock:
            self._store.flush()

    # Groups

    def group_add(self, group: str, channel: str, *, expiry: float) -> None:
        now = time.monotonic()
        with self._lock:
            self._store.group_add(group, channel, expires=now + expiry)
            self._housekeeping.keep(self._store, now, keys_added=1)

    def group_discard(self, group: str, channel: str) -> None:
        with self._lock:
            self._store.group_discard(group, channel)

    def group_send(self, group: str, payload: bytes, *, expiry: float, capacity: Callable[[str], int]) -> None:
        """Put a message on each channel of the group that has room."""
        now = time.monotonic()
        with self._lock:
            try:
                reached = self._store.group_send(
                    group, payload, now=now, expires=now + expiry, capacity=capacity, known=self._known
                )
            except QueueFull:
                reached = Reached([], [])
            self._wake_arrivals()
            for process in reached.processes:
                self._announce_parcel(process)
            for channel, waiter in reached.channels:
                self._announce(channel, waiter)
            self._housekeeping.keep(self._store, now, keys_added=len(reached.processes) + len(reached.channels))

    def statistics(self) -> dict[str, int]:
        with self._lock:
            return self._store.statistics()

    # Methods that wake receivers or wait. Their callers hold the lock.

    def _reachable(self, channel: str) -> bool:
        """Return whether a process can receive on the channel. A local channel needs a living owner."""
        return not is_local(channel) or self._known(owner_of(channel))

    def _known(self, process: str | None) -> bool:
        return process is not None and (process == self.process or self._bells.known(process))

    def _take(self, channel: str, ticket: str) -> Taken | None:
        if self.closed:
            raise RuntimeError("The channel layer was closed.")
        try:
            if ticket:
                taken = self._store.take(channel, now=time.monotonic(), process=self.process, ticket=ticket)
            else:
                taken = self._store.take_own(channel, now=time.monotonic())
                if self._inbox.arrivals:
                    self._wake_arrivals()
        # The store has no space for a change. Other processes will free space, and `_look` tries again.
        except QueueFull:
            return None
        if taken and taken.next_waiter:
            self._announce(taken.channel, taken.next_waiter)
        return taken

    def _collect(self) -> None:
        with suppress(QueueFull):
            self._store.collect(now=time.monotonic())
        self._wake_arrivals()

    def _wake_arrivals(self) -> None:
        for channel in self._inbox.pop_arrivals():
            self._room.wake_first(channel, non_local(channel))

    def _announce(self, channel: str, waiter: Waiter | None) -> None:
        """Wake the owner. If the channel has no owner, wake `waiter` or, if this fails, the next living waiter."""
        owner = owner_of(channel)
        if owner == self.process:
            self._room.wake_first(channel, non_local(channel))
        elif owner:
            if not self._bells.ring(owner, b" " + channel.encode()):
                with suppress(QueueFull):
                    self._store.forget_process(channel)
        elif waiter and not self._wake(waiter):
            self._pass_on(channel)

    def _announce_parcel(self, process: str) -> None:
        if not self._bells.ring(process, _PARCEL):
            with suppress(QueueFull):
                self._store.forget_parcels(process)

    def _pass_on(self, channel: str) -> None:
        """Wake the next living waiter of the channel."""
        with suppress(QueueFull):
            while (waiter := self._store.next_waiter(channel)) and not self._wake(waiter):
                pass

    def _wake(self, waiter: Waiter) -> bool:
        if waiter.process == self.process:
            return self._room.wake_ticket(waiter.ticket)
        return self._bells.ring(waiter.process, f"{waiter.ticket} {waiter.channel}".encode())

    def _wait(self, channel: str, ticket: str, loop: asyncio.AbstractEventLoop) -> Waiting:
        if loop not in self._loops:
            self._loops.add(loop)
            loop.add_reader(self._bell.fd, self._rung)
            loop.call_later(_BACKSTOP_SECONDS, self._look, loop)
        waiting = Waiting(channel, ticket, loop)
        self._room.add(waiting)
        return waiting

    def _leave(self, waiting: Waiting) -> None:
        """Stop waiting. If this receiver was already woken, wake another receiver instead."""
        self._room.discard(waiting)
        if self.closed:
            return
        if not waiting.rung:
            self._withdraw(waiting)
        elif waiting.ticket:
            self._pass_on(waiting.channel)
        else:
            self._room.wake_first(waiting.channel, non_local(waiting.channel))

    def _withdraw(self, waiting: Waiting) -> None:
        if waiting.ticket:
            with suppress(QueueFull):
                self._store.stop_waiting(Waiter(self.process, waiting.ticket, waiting.channel))

    def _wake_unasked(self, several: Iterable[Waiting]) -> None:
        for waiting in list(several):
            self._room.discard(waiting)
            self._withdraw(waiting)
            waiting.wake()

    # Methods that event loops call.

    def _rung(self) -> None:
        with self._lock:
            if self.closed:
                return
            lines, some_lost = self._bell.read()
            if _PARCEL in lines:
                self._collect()
            for line in lines:
                if line == _PARCEL:
                    continue
                ticket, _, channel = line.decode().partition(" ")
                if not ticket:
                    self._room.wake_first(channel, non_local(channel))
                elif not self._room.wake_ticket(ticket):
                    self._pass_on(channel)
            if some_lost:
                self._wake_unasked(self._room)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        """Wake the receivers of `loop` that missed a message. If no receiver waits, stop listening."""
        with self._lock:
            here = [waiting for waiting in self._room if waiting.loop is loop]
            if not here or self.closed:
                self._stop_hearing(loop)
                return
            loop.call_later(_BACKSTOP_SECONDS, self._look, loop)
            self._collect()
            ready = self._store.ready({waiting.channel for waiting in here}, now=time.monotonic())
            self._wake_unasked(waiting for waiting in here if waiting.channel in ready)
            self._housekeeping.keep(self._store, time.monotonic(), keys_added=0)

    def _stop_hearing(self, loop: asyncio.AbstractEventLoop) -> None:
        if loop in self._loops:
            self._loops.discard(loop)
            if not loop.is_closed():
                loop.remove_reader(self._bell.fd)
        if self.closed and not self._loops:
            self._bell.close()

    def close(self) -> None:
        """Leave the exchange.

        The waiting receivers of this process raise RuntimeError, and other processes can no longer wake this process.
        """
        with self._lock:
            if self.closed:
                return
            self._wake_unasked(self._room)
            self.closed = True
            self._bell.leave()
            self._bells.close()
            self._store.close()
            for loop in list(self._loops):
                if loop is asyncio._get_running_loop() or loop.is_closed():
                    self._stop_hearing(loop)
                else:
                    loop.call_soon_threadsafe(self._look, loop)

    # An LMDB environment can't be used after a fork, so it is closed before the fork and opened again in the parent.

    def before_fork(self) -> None:
        self._lock.acquire()
        self._store.close()

    def after_fork_in_parent(self) -> None:
        try:
            self._store = Store(data_file(self._directory), self._inbox)
        except BaseException:  # the next use of the layer joins again, and raises the error
            self.closed = True
            raise
        finally:
            self._lock.release()

    def after_fork_in_child(self) -> None:
        self.closed = True
        self._bell.close()
        self._bells.close()
        self._lock.release()
