"""Write, read and check a run folder. The types of trials are in ``loadtests.records``."""
