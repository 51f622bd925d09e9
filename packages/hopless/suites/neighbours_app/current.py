"""Store the test case that this process runs, and the state that its requests see."""

import os

import agents
import state

CASE = (agents.CASES | state.CASES)[os.environ["HOPLESS_CASE"]]
RECORDS = []


def record(moment, number, state):
    """Record the state that the request with this number sees at a moment."""
    RECORDS.append([number, moment, state])
