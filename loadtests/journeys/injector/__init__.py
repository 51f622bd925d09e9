"""Run users in a process. ``process`` controls them, and ``recorder`` counts and measures their requests."""
