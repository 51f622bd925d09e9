"""What made a load."""

from __future__ import annotations

import dataclasses
from typing import Annotated

from loadtests.records.bounds import Amount, Count, Number, about


@dataclasses.dataclass(frozen=True)
class Generator:
    """What one process of the load generator used. None: not known, as in older runs."""

    cpu_s: Annotated[Amount, about("CPU seconds, the grace period included.")]
    wall_s: Annotated[Amount, about("How long it had to send, in seconds.")]
    peak_rss_mb: Annotated[Amount, about("Peak memory, in MB.")]
    p50_ms: Annotated[Number | None, about("Median response time of its part of the load.")] = None
    ok: Annotated[Count | None, about("Successful requests of its part of the load.")] = None
    planned: Annotated[Count | None, about("Planned requests of its part of the load.")] = None
    machine: Annotated[str, about("The further client that it ran on; empty on the harness's own machine.")] = ""
    other_load: Annotated[Amount | None, about("Share of that client's core that went to other programs.")] = None
    swapped_pages: Annotated[Count | None, about("Pages that the client swapped.")] = None
    mhz: Annotated[Amount | None, about("Mean frequency of the client's core.")] = None
