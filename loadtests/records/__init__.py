"""Define the types of a trial and its result.

All packages may import this package, so it doesn't import other packages of the project. ``loadtests.records.run``
contains the type of run.json.
"""

from loadtests.records.bounds import Figures as Figures
from loadtests.records.during_load import CpuSample as CpuSample
from loadtests.records.during_load import Deployment as Deployment
from loadtests.records.during_load import HostConditions as HostConditions
from loadtests.records.during_load import Meanwhile as Meanwhile
from loadtests.records.during_load import OriginObservation as OriginObservation
from loadtests.records.during_load import OriginStage as OriginStage
from loadtests.records.result import Generator as Generator
from loadtests.records.result import Handshakes as Handshakes
from loadtests.records.result import Journeys as Journeys
from loadtests.records.result import RequestResult as RequestResult
from loadtests.records.result import Result as Result
from loadtests.records.result import Second as Second
from loadtests.records.streams import LeftClients as LeftClients
from loadtests.records.streams import Streams as Streams
from loadtests.records.trial import CapacityRecord as CapacityRecord
from loadtests.records.trial import Evidence as Evidence
from loadtests.records.trial import Flag as Flag
from loadtests.records.trial import ProbeRecord as ProbeRecord
from loadtests.records.trial import Process as Process
from loadtests.records.trial import Trial as Trial
from loadtests.records.websockets import Connections as Connections
from loadtests.records.websockets import Deliveries as Deliveries
