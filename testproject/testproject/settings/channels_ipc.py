"""HTTP over a channel layer between the processes of one machine: the settings of the setup `daphne-ipc`."""

import os

from .base import *  # noqa: F403
from .layers import ipc

# The capacity as in channels_redis.py.
CHANNEL_LAYERS = {"default": ipc(os.environ, channel_capacity={"http.response*": 10_000})}
