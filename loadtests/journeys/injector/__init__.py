"""A process whose users run a journey: ``process`` leads them, ``recorder`` counts and times what they do."""
