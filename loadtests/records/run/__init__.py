"""The run folder: written, read and checked as a whole. The types of trials are in ``loadtests.records``."""
