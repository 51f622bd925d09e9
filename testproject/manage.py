#!/usr/bin/env python
"""Django's command line, with `runrelayworker` (channels_relay) and `prepare` (endpoints) as commands of our own."""

import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "testproject.settings.base")
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:  # such as a DATABASE_URL that is none
        sys.exit(f"error: {error}")
