"""Define the types of a trial and its result.

All packages may import this package, so it doesn't import other packages of the project. ``loadtests.records.run``
contains the type of run.json.
"""

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
