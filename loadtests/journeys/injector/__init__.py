"""Run users in a process. ``process`` controls the users, and ``recorder`` counts and measures their requests."""
