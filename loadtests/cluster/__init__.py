"""Locust's master and workers, as programs of the harness (``loadtests.engines.cluster`` starts them)."""
