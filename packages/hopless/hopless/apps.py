"""Register the check that reports the remaining hops of a project, if ``hopless`` is in INSTALLED_APPS."""

from __future__ import annotations

from django.apps import AppConfig
from django.core import checks


class HoplessConfig(AppConfig):  # type: ignore[misc]
    name = "hopless"

    def ready(self) -> None:
        from hopless.checks import hops

        checks.register(hops, "hopless")
