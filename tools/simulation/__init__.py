"""Test the statistics with simulated data whose true values are known. Count false verdicts and missed effects."""
