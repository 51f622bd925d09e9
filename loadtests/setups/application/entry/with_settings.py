"""Load the application that SERVED_WITH_SETTINGS names, and write its effective settings to a file.

Servers find this module through PYTHONPATH.
"""

import importlib
import json
import os
from pathlib import Path

module, _, name = os.environ["SERVED_WITH_SETTINGS"].partition(":")
application = getattr(importlib.import_module(module), name)

from django.conf import settings  # noqa: E402 - the application's module may choose the settings

COMPARED = ("DEBUG", "INSTALLED_APPS", "MIDDLEWARE", "DATABASES", "CACHES")
text = json.dumps({name: getattr(settings, name) for name in COMPARED}, default=str)
Path(os.environ["RUN_DIR"], "settings.json").write_text(text, encoding="utf-8")
