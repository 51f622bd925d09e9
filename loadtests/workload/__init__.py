"""Describe the content of a load: requests, mixes, recordings and journeys. This package doesn't send any requests."""

from loadtests.workload.conversation import Conversation
from loadtests.workload.event_streams import EventStreams
from loadtests.workload.load import DEFAULT_ENGINE, Feature, Load
from loadtests.workload.request import Request, Workload
from loadtests.workload.sign_in import SignIn
from loadtests.workload.users import Users

__all__ = [
    "DEFAULT_ENGINE", "Conversation", "EventStreams", "Feature", "Load", "Request", "SignIn", "Users", "Workload",
]  # fmt: skip
