"""HTTP over asgi_redis: the settings of the setup `2016-daphne-redis`, Daphne and worker."""

import os

from .base import *  # noqa: F403

INSTALLED_APPS += ["channels"]  # noqa: F405

# Without REDIS_URL it is the one that supervisor/redis.sh starts. Those who share a Redis share no queue.
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
