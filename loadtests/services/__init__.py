"""Programs that run beside a setup, started by supervisor/services."""
