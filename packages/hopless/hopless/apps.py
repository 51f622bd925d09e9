"""``hopless`` in INSTALLED_APPS: its check says what of a project still hops."""

from __future__ import annotations

from django.apps import AppConfig
from django.core import checks


class HoplessConfig(AppConfig):  # type: ignore[misc]
    name = "hopless"

    def ready(self) -> None:
        from hopless.checks import hops

        checks.register(hops, "hopless")
