"""Supporting services of setups, started by supervisor/services."""
