"""A project with a view for each thing that could go wrong."""
