"""Run Django's management commands, including `runworker` from Channels."""

import os
import sys

from django.core.management import execute_from_command_line

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "site2016.settings.base")
    execute_from_command_line(sys.argv)
