"""What a server is asked: requests, how often each, where they were recorded, when; and a load made of them. Pure."""

from loadtests.workload.conversation import Conversation
from loadtests.workload.load import DEFAULT_ENGINE, Feature, Load
from loadtests.workload.request import Request, Workload
from loadtests.workload.sign_in import SignIn
from loadtests.workload.users import Users

__all__ = ["DEFAULT_ENGINE", "Conversation", "Feature", "Load", "Request", "SignIn", "Users", "Workload"]
