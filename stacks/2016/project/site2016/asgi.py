"""Create the channel layer to which Daphne of 2016 sends requests. A worker runs Django at the other end."""

from channels.asgi import get_channel_layer

channel_layer = get_channel_layer()
