import os

from testproject.settings.channels_redis import *  # noqa: F403

CHANNELS_RELAY = {"application": "relay_site.application", "timeout": float(os.environ["RELAY_TIMEOUT"])}
