import os

from django.apps import AppConfig


class EndpointsConfig(AppConfig):
    """Count the requests of each process, and their waits for the database pool, if RUN_DIR is set.

    supervisor/defaults.sh sets RUN_DIR, the folder of the counts.
    """

    name = "endpoints"

    def ready(self) -> None:
        if directory := os.environ.get("RUN_DIR"):
            from endpoints import counting, pool_waits

            counting.install(directory)
            pool_waits.install(directory)
