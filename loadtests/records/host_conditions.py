"""The conditions on hosts other than that of the servers."""

from __future__ import annotations

import dataclasses
from typing import Annotated

from loadtests.records.bounds import Amount, Count, Number, about


@dataclasses.dataclass(frozen=True)
class HostConditions:
    """A load generator's or a service's host while a trial was measured."""

    machine: Annotated[str, about("Its address as it was given; empty for the harness's own.")]
    generates: Annotated[bool, about("Load came from it; else it is a service's.")]
    other_load: Annotated[
        Amount, about("Share of its cores' time (of a generator: of its core) that went to other programs and steal.")
    ]
    swapped_pages: Annotated[Count, about("Pages that it swapped.")]
    frequency_change: Annotated[Number | None, about("Mean CPU frequency over the run's typical one, minus 1.")] = None
    calibration_s: Annotated[tuple[Amount, ...], about("Times of the calibration loop before each round.")] = ()

    @property
    def called(self) -> str:
        """Its name in messages."""
        return self.machine or "the machine that the load came from"
