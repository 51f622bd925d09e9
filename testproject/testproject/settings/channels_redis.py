"""HTTP over a channel layer in Redis: the settings of the setup `daphne-redis`, front and worker."""

import os

from .base import *  # noqa: F403
from .layers import over_redis

CHANNEL_LAYERS = {
    "default": over_redis(
        os.environ,
        "channels_relay.redis.ExactlyOnceRedisChannelLayer",
        connections=200,  # a front sends 100 requests at once and receives
        # The queue of requests keeps the default capacity, as in 2016. The answers of one front share
        # one channel, and what limits them is how many requests were let in.
        channel_capacity={"http.response*": 10_000},
    )
}
