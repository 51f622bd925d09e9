import os

from testproject.settings.channels_ipc import *  # noqa: F403

CHANNELS_RELAY = {"application": "relay_site.application", "timeout": float(os.environ["RELAY_TIMEOUT"])}
