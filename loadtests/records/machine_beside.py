"""What happened on machines beside that of the servers."""

from __future__ import annotations

import dataclasses

from loadtests.records.bounds import Amount, Count, Number


@dataclasses.dataclass(frozen=True)
class MachineBeside:
    """A machine that is not the servers', while a trial was measured: one that load came from, or a service's.

    ``machine`` is how it was named, empty for the harness's own; load came from it where it ``generates``.
    ``others_cpu`` is the share, 0 to 1, of its cores' time that went to other programs and to steal: of a service's
    machine all cores, else the generator's. ``frequency_change`` and ``spins_s`` are as of Evidence, on its own core.
    """

    machine: str
    generates: bool
    others_cpu: Amount
    swapped_pages: Count
    frequency_change: Number | None = None
    spins_s: tuple[Amount, ...] = ()

    @property
    def called(self) -> str:
        """It in words."""
        return self.machine or "the machine that the load came from"
