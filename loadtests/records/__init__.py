"""What a trial and its result are made of, as types: vocabulary that all may import. It imports nothing of the project.

The type of run.json is in ``loadtests.records.run``."""

from loadtests.records.advice import Advice, AdviceOutcome, Round
from loadtests.records.bounds import Figures
from loadtests.records.during_load import (
    CpuSample,
    Deployment,
    HostConditions,
    Meanwhile,
    OriginObservation,
    OriginStage,
)
from loadtests.records.result import Generator, Handshakes, Journeys, RequestResult, Result, Second
from loadtests.records.streams import LeftClients, Streams
from loadtests.records.trial import CapacityRecord, Evidence, Flag, ProbeRecord, Process, Trial
from loadtests.records.websockets import Connections, Deliveries

__all__ = [
    "Advice",
    "AdviceOutcome",
    "CapacityRecord",
    "Connections",
    "CpuSample",
    "Deliveries",
    "Deployment",
    "Evidence",
    "Figures",
    "Flag",
    "Generator",
    "Handshakes",
    "HostConditions",
    "Journeys",
    "LeftClients",
    "Meanwhile",
    "OriginObservation",
    "OriginStage",
    "ProbeRecord",
    "Process",
    "RequestResult",
    "Result",
    "Round",
    "Second",
    "Streams",
    "Trial",
]  # fmt: skip
