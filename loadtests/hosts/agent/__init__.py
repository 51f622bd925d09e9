"""The agent runs on the servers' machine during one SSH connection: ``python -m loadtests.hosts.agent.main``."""
