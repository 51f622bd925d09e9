"""Define a model whose changes the tested packages record."""

from django.conf import settings
from django.db import models

from neighbours_app.current import CASE


class Note(models.Model):
    text = models.CharField(max_length=100)
    if CASE.records_history:
        from simple_history.models import HistoricalRecords

        history = HistoricalRecords()


if "auditlog" in settings.INSTALLED_APPS:
    from auditlog.registry import auditlog

    auditlog.register(Note)
