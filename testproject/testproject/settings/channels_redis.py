"""HTTP over a channel layer in Redis: the settings of the setup `daphne-redis`, front and worker."""

import os

from django.core.exceptions import ImproperlyConfigured

from .base import *  # noqa: F403

if "REDIS_URL" in os.environ:
    address = os.environ["REDIS_URL"]
    prefix = f"asgi:{os.environ.get('PORT', '')}"  # setups that run at once may share a Redis, but no queue of requests
elif "RUN_DIR" in os.environ:
    address = f"unix://{os.environ['RUN_DIR']}/redis.sock"  # where supervisor/redis.sh listens
    prefix = "asgi"
else:
    raise ImproperlyConfigured("Set REDIS_URL, or source supervisor/defaults.sh, which sets RUN_DIR.")

CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_relay.redis.ExactlyOnceRedisChannelLayer",
        "CONFIG": {
            "hosts": [
                {
                    "address": address,
                    # The layer blocks for five seconds in BZPOPMIN, and redis-py 8 gives up after five.
                    "socket_timeout": None,
                    # redis-py 8 allows 100 and raises above; a front sends 100 requests at once and receives.
                    "max_connections": 200,
                }
            ],
            "prefix": prefix,
            # The queue of requests keeps the default capacity, as in 2016. The answers of one front share
            # one channel, and what limits them is how many requests were let in.
            "channel_capacity": {"http.response*": 10_000},
        },
    }
}
