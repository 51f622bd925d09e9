"""Create the channel layer that Daphne of 2016 serves. Django runs in a worker on the other side of the layer."""

from channels.asgi import get_channel_layer

channel_layer = get_channel_layer()
