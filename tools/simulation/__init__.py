"""Test the statistics on simulated data of known truth, and count false verdicts and missed effects."""
