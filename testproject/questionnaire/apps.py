import time
from pathlib import Path

from django.apps import AppConfig
from django.conf import settings

PATIENCE_S = 10.0
LOOK_EVERY_S = 0.05


class QuestionnaireConfig(AppConfig):
    """Wait for the service that stores the sessions, if it may start after the server."""

    name = "questionnaire"

    def ready(self) -> None:
        """Wait for the service for at most PATIENCE_S. After that, requests report its failure."""
        awaited: Path | None = settings.SESSION_SERVICE
        end = time.monotonic() + PATIENCE_S
        while awaited is not None and not awaited.exists() and time.monotonic() < end:
            time.sleep(LOOK_EVERY_S)
