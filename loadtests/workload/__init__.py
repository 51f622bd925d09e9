"""What is sent to a server: requests, mixes, recordings, journeys; and a load of them. Pure."""

from loadtests.workload.conversation import Conversation
from loadtests.workload.event_streams import EventStreams
from loadtests.workload.load import DEFAULT_ENGINE, Feature, Load
from loadtests.workload.request import Request, Workload
from loadtests.workload.sign_in import SignIn
from loadtests.workload.users import Users

__all__ = [
    "DEFAULT_ENGINE", "Conversation", "EventStreams", "Feature", "Load", "Request", "SignIn", "Users", "Workload",
]  # fmt: skip
