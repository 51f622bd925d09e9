"""A project with a view for each possible problem."""
