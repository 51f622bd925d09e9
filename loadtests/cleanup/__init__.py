"""Processes and folders that go when their owner goes, SIGKILL included."""
