"""Run on the servers' machine for the time of one SSH connection: ``python -m loadtests.hosts.agent.main``."""
