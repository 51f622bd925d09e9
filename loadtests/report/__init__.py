"""Create the reports of a run from its folder."""
