"""Configure HTTP over a channel layer between the processes of one machine, for the setup `daphne-ipc`."""

import os

from .base import *  # noqa: F403
from .layers import ipc

# See channels_redis.py for the capacity.
CHANNEL_LAYERS = {"default": ipc(os.environ, channel_capacity={"http.response*": 10_000})}
