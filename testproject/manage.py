#!/usr/bin/env python
"""Run Django's command line with the project's commands `runrelayworker` (channels_relay) and `prepare` (endpoints)."""

import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "testproject.settings.base")
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:  # for example an invalid DATABASE_URL
        sys.exit(f"error: {error}")
