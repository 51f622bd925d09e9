"""What made a load."""

from __future__ import annotations

import dataclasses

from loadtests.records.bounds import Amount, Count, Number


@dataclasses.dataclass(frozen=True)
class Generator:
    """What one process of the generator took: CPU seconds, the grace period's too, and how long it had to send.

    ``p50_ms`` and ``ok`` are of its own part of the load: the response time, and how many were answered well of how
    many were ``planned``. None: not kept, as of older runs.

    ``machine`` is the further client that it ran on, as that was named; empty where that was the harness's own machine,
    by whatever way. ``others_cpu``, ``swapped_pages`` and ``mhz`` are what happened on the core of a further client
    while the load was made (see MachineBeside).
    """

    cpu_s: Amount
    wall_s: Amount
    peak_rss_mb: Amount
    p50_ms: Number | None = None
    ok: Count | None = None
    planned: Count | None = None
    machine: str = ""
    others_cpu: Amount | None = None
    swapped_pages: Count | None = None
    mhz: Amount | None = None
