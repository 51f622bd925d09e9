"""The questionnaire as a Django application."""

import time
from pathlib import Path

from django.apps import AppConfig
from django.conf import settings

PATIENCE_S = 10.0
LOOK_EVERY_S = 0.05


class QuestionnaireConfig(AppConfig):
    """Has a server wait for the service that its sessions are in, where that comes up after it."""

    name = "questionnaire"

    def ready(self) -> None:
        """Django is set up. A service that does not come is not waited for longer: requests will say so."""
        awaited: Path | None = settings.SESSION_SERVICE
        end = time.monotonic() + PATIENCE_S
        while awaited is not None and not awaited.exists() and time.monotonic() < end:
            time.sleep(LOOK_EVERY_S)
