"""Sample the servers of a setup under load, and show the categories of their CPU time."""
