"""What a trial and its result are made of, as types: vocabulary that all may import. It imports nothing of the project.

The type of run.json is in ``loadtests.store``."""

from loadtests.records.advice import Advice, AdviceOutcome, Round
from loadtests.records.generator import Generator
from loadtests.records.machine_beside import MachineBeside
from loadtests.records.meanwhile import CpuSample, Meanwhile, OriginSeen, OriginStage
from loadtests.records.result import (
    Connections,
    Deliveries,
    Figures,
    Journeys,
    OfRequest,
    Rejoined,
    Result,
    Second,
)
from loadtests.records.trial import CapacityRecord, Evidence, Flag, ProbeRecord, Process, Trial

__all__ = [
    "Advice",
    "AdviceOutcome",
    "CapacityRecord",
    "Connections",
    "CpuSample",
    "Deliveries",
    "Evidence",
    "Figures",
    "Flag",
    "Generator",
    "Journeys",
    "MachineBeside",
    "Meanwhile",
    "OfRequest",
    "OriginSeen",
    "OriginStage",
    "ProbeRecord",
    "Process",
    "Rejoined",
    "Result",
    "Round",
    "Second",
    "Trial",
]  # fmt: skip
