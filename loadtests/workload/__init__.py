"""What a server is asked: requests, how often each, and where they were recorded, when. Pure."""

from loadtests.workload.request import Request, Workload

__all__ = ["Request", "Workload"]
