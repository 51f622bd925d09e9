"""The highest rate within an objective: the objective, the judge of one probe, and the search. Pure."""
