"""Configure HTTP over asgi_ipc for Daphne and the worker of the setup `2016-daphne-ipc`."""

import os

from .base import *  # noqa: F403

INSTALLED_APPS += ["channels"]  # noqa: F405

# The shared memory outlives its processes, with all answers that it remembers. Its name contains the name of RUN_DIR,
# so each start uses new shared memory, and loadtests/cleanup deletes the memory together with that folder.
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "asgi_ipc.IPCChannelLayer",
        "ROUTING": "site2016.urls.channel_routing",
        "CONFIG": {"prefix": os.path.basename(os.environ["RUN_DIR"])},
    }
}
