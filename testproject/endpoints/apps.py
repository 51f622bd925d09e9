"""The endpoints as a Django application."""

import os

from django.apps import AppConfig


class EndpointsConfig(AppConfig):
    """Has each process count its requests, and their waits for the database's pool, where there is a place for it
    (RUN_DIR, see supervisor/defaults.sh)."""

    name = "endpoints"

    def ready(self) -> None:
        """Django is set up."""
        if directory := os.environ.get("RUN_DIR"):
            from endpoints import counting, pool_waits

            counting.install(directory)
            pool_waits.install(directory)
