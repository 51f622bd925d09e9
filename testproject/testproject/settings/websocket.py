"""Configure WebSockets on Channels, over the layer that CHANNEL_LAYER names."""

import os

from .base import *  # noqa: F403
from .layers import layer

CHANNEL_LAYERS = {"default": layer(os.environ)}
