"""HTTP over asgi_ipc: the settings of the setup `2016-daphne-ipc`, Daphne and worker."""

import os

from .base import *  # noqa: F403

INSTALLED_APPS += ["channels"]  # noqa: F405

# Its shared memory outlives all who use it, with every answer that it remembers. Named after RUN_DIR it is another one
# for each start, and goes when that folder does (loadtests/cleanup).
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "asgi_ipc.IPCChannelLayer",
        "ROUTING": "site2016.urls.channel_routing",
        "CONFIG": {"prefix": os.path.basename(os.environ["RUN_DIR"])},
    }
}
