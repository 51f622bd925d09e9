"""HTTP over a channel layer between the processes of one machine: the settings of the setup `daphne-ipc`."""

import os

from django.core.exceptions import ImproperlyConfigured

from .base import *  # noqa: F403

if "IPC_DIR" not in os.environ:
    raise ImproperlyConfigured("Set IPC_DIR, or source supervisor/defaults.sh, which sets it.")

CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_ipc.core.IPCChannelLayer",
        "CONFIG": {
            "path": os.environ["IPC_DIR"],
            # As in channels_redis.py.
            "channel_capacity": {"http.response*": 10_000},
        },
    }
}
