"""The case that this process runs, and the state that its requests have seen."""

import os

import agents
import state

CASE = (agents.CASES | state.CASES)[os.environ["HOPLESS_CASE"]]
RECORDS = []


def record(moment, number, state):
    """Record the state that a request sees at a given point."""
    RECORDS.append([number, moment, state])
