"""Extend the settings of the sample project with django-bolt."""

from testproject.settings.base import *  # noqa: F403
from testproject.settings.base import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "django_bolt"]
BOLT_API = ["bolt_api:api"]
