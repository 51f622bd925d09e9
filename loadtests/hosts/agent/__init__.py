"""Runs on the machine of the servers, for as long as one SSH connection: ``python -m loadtests.hosts.agent.main``."""
