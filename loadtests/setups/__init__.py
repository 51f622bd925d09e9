"""What supervisor/ holds: the ways of serving the project, and what they need. Read, never changed."""

from loadtests.setups.setup import CANNOT, KNOBS, Setup, find, host, known, missing, port

__all__ = ["CANNOT", "KNOBS", "Setup", "find", "host", "known", "missing", "port"]
