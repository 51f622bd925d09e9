"""Remove expired entries and leftovers of killed processes, a few keys at a time."""

from contextlib import suppress
from functools import cache

from .doorbell import Doorbells
from .inbox import Inbox
from .store import QueueFull, Store

_SWEEP_AFTER_KEYS = 64
_SWEEP_SMALL_AFTER_KEYS = 512  # after a sweep of all keys, because few keys can have expired since that sweep
_SWEEP_SECONDS = 1.0
_BURY_SECONDS = 10.0


class Housekeeping:
    """Sweep the store regularly: after this process has added a number of keys, and after some time."""

    def __init__(self, inbox: Inbox, bells: Doorbells) -> None:
        self._inbox = inbox
        self._bells = bells
        self._keys_added = 0
        self._sweep_after = _SWEEP_AFTER_KEYS
        self._next_sweep = self._next_burial = 0.0

    def keep(self, store: Store, now: float, *, keys_added: int) -> None:
        self._keys_added += keys_added
        if self._keys_added >= self._sweep_after or now >= self._next_sweep:
            steps = _SWEEP_AFTER_KEYS + 2 * self._keys_added
            self._keys_added = 0
            self._next_sweep = now + _SWEEP_SECONDS
            with suppress(QueueFull):
                saw_all = store.sweep(steps, now=now, alive=cache(self._alive))
                self._sweep_after = _SWEEP_SMALL_AFTER_KEYS if saw_all else _SWEEP_AFTER_KEYS
        if now >= self._next_burial:
            self._next_burial = now + _BURY_SECONDS
            self._bells.bury()
            self._inbox.sweep(now)

    def _alive(self, process: str) -> bool:
        return process == self._inbox.process or self._bells.alive(process)
