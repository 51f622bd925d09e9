"""Good knobs for this machine, by a search instead of the whole grid: ``python -m loadtests advise SETUP``."""
