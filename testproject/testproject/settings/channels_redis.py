"""Configure HTTP over a channel layer in Redis, for the front and the workers of the setup `daphne-redis`."""

import os

from .base import *  # noqa: F403
from .layers import over_redis

CHANNEL_LAYERS = {
    "default": over_redis(
        os.environ,
        "channels_relay.redis.ExactlyOnceRedisChannelLayer",
        connections=200,  # A front sends 100 requests at the same time, and also receives answers.
        # The queue of requests keeps the default capacity, as in 2016. All answers to a front share a channel, and the
        # number of accepted requests limits the number of answers.
        channel_capacity={"http.response*": 10_000},
    )
}
