"""Reports on a run, from its folder alone."""
