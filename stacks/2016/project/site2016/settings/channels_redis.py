"""Configure HTTP over asgi_redis for Daphne and the worker of the setup `2016-daphne-redis`."""

import os

from .base import *  # noqa: F403

INSTALLED_APPS += ["channels"]  # noqa: F405

# Without REDIS_URL, supervisor/redis.sh starts the server. Setups that share a Redis server have separate queues.
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "site2016.layers.PatientRedisChannelLayer",
        "ROUTING": "site2016.urls.channel_routing",
        "CONFIG": {
            "hosts": [os.environ.get("REDIS_URL") or f"unix://{os.environ['RUN_DIR']}/redis.sock?db=0"],
            "prefix": f"asgi:{os.environ.get('BENCH_PORT', '')}:",
        },
    }
}
