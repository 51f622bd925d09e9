"""Run Locust's master and workers as separate programs, which ``loadtests.engines.cluster`` starts."""
