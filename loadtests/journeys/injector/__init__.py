"""A process that has users walk a journey: ``process`` leads them, ``recorder`` counts and times what they do."""
