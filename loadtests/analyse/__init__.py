"""Compute intervals and verdicts from the observations of a run. This package doesn't measure anything."""
