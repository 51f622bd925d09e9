"""Run the front of channels_relay. Django runs in other processes (`manage.py runrelayworker`)."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "testproject.settings.channels_redis")
django.setup(set_prefix=False)

from channels_relay.front import RelayFront  # noqa: E402  (needs the settings)

application = RelayFront()
